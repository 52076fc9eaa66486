// Whether a tournament is well.

import { asTable, h, table } from "./dom.js";
import { at, changes, getJson } from "./api.js";
import { bars } from "./chart.js";
import { figure, light } from "./components.js";
import { count, date, percent, plural, share, span } from "./format.js";

const SERVED = {
  paused: "paused",
  stopped: "stopped",
  decided: "decided: the winner",
  share: "not in the share",
  daily_cap: "daily cap of the client",
  in_flight_cap: "too many in flight",
  shadow: "shadow",
  failed: "failure",
  storage: "storage",
};
const KINDS = {
  created: "created",
  paused: "paused",
  started: "started",
  stopped: "stopped",
  added: "added rankers",
  retired: "retired a ranker",
  ranker_paused: "paused a ranker",
  ranker_started: "started a ranker",
  configured: "changed settings",
  voided: "declared a duel void",
  quarantined: "set an event aside that could not be replayed",
};

export async function load(route) {
  const [overview, health, checks, audit] = await Promise.all([
    ...["/overview", "/health", "/checks"].map((path) => getJson(at(route.name, path))),
    changes(route.name, route.state.limit ?? 20),
  ]);
  return { overview, health, checks, audit };
}

export function view(route, { overview, health, checks, audit }) {
  const { duels } = health;
  const refused = Object.values(health.served).reduce((sum, n) => sum + n, 0);
  const asks = duels.issued + refused;
  const bounds = Object.entries(health.delays).map(([bound, n]) => [Number(bound), n]);
  const delays = bounds.map(([bound, n]) => [bound === 1 ? "up to 1 s" : `up to ${span(bound)}`, n]);
  const { first = 0, second = 0, tie = 0 } = health.outcomes;
  return h(
    "section",
    { class: "health" },
    h("div", { class: "head" }, h("h1", null, "Health"), light(overview.light.state)),
    overview.light.reasons.length
      ? h(
          "ul",
          { class: `notice ${overview.light.state}` },
          overview.light.reasons.map((reason) => h("li", null, reason)),
        )
      : null,
    h(
      "dl",
      { class: "figures" },
      figure(
        "Asks with a duel",
        asks ? percent(duels.issued / asks) : "–",
        `${count(duels.issued)} of ${count(asks)}`,
      ),
      figure(
        "Resolved in time",
        duels.resolved + duels.no_signal + duels.expired ? share(health.joined) : "–",
        "of the duels that are over",
      ),
      figure("In flight", count(duels.in_flight), "asked for, not told"),
      figure("Expired", count(duels.expired), `${count(duels.late)} told too late`),
      figure("Told again", count(health.told_again), `${plural(health.conflicts, "conflict")}`),
    ),
    h(
      "div",
      { class: "columns" },
      h(
        "section",
        { class: "panel" },
        h("h2", null, "What became of duels"),
        bars("Duels", [
          ["resolved", duels.resolved],
          ["no signal", duels.no_signal],
          ["in flight", duels.in_flight],
          ["expired", duels.expired],
          ["told late", duels.late],
          ["void", duels.void],
          ["failed", duels.failed],
          ["unknown", health.unknown],
        ]),
        refused
          ? [
              h("h3", null, "Asks without a duel"),
              bars(
                "Asks without a duel",
                Object.entries(health.served).map(([why, n]) => [SERVED[why] ?? why, n]),
              ),
            ]
          : null,
      ),
      h(
        "section",
        { class: "panel" },
        h("h2", null, "From ask to tell"),
        delays.length ? bars("Outcomes by delay", delays) : h("p", { class: "quiet" }, "No outcome yet."),
        delays.length
          ? asTable(
              "Outcomes by delay",
              [
                ["Delay", ""],
                ["Outcomes", "number"],
              ],
              delays.map(([name, n]) => [name, count(n)]),
            )
          : null,
      ),
      h(
        "section",
        { class: "panel" },
        h("h2", null, "Sides, an A/A check"),
        first + second
          ? bars("Outcomes", [
              ["first won", first],
              ["second won", second],
              ["tie", tie],
            ])
          : h("p", { class: "quiet" }, "No outcome yet."),
        h("p", null, sides(checks.sides, first, second)),
      ),
      h(
        "section",
        { class: "panel" },
        h("h2", null, "Signals"),
        Object.keys(health.signals).length
          ? bars("Signals by action", Object.entries(health.signals))
          : h("p", { class: "quiet" }, "None were sent: outcomes are told by the application."),
        h(
          "p",
          { class: "quiet" },
          `${plural(health.orphans, "orphan")}, ${count(health.late_signals)} late, ` +
            `${count(health.signals_again)} sent again, ${count(health.signals_dropped)} dropped.`,
        ),
      ),
    ),
    h(
      "section",
      { class: "panel" },
      h("h2", null, "Guardrails"),
      checks.guardrails.length
        ? table(
            "A tournament pauses when an action happens too often",
            [
              ["Action", ""],
              ["Bound", "number"],
              ["Window", "number"],
              ["Up to now", "number"],
            ],
            checks.guardrails.map((rail) => [
              rail.action,
              percent(rail.bound, 1),
              span(rail.window),
              checks.pages
                ? `${percent(rail.events / checks.pages, 2)} of ${count(checks.pages)} pages`
                : "–",
            ]),
          )
        : h(
            "p",
            { class: "quiet" },
            "None. A guardrail pauses a tournament by itself when an action, such as an error, happens too often.",
          ),
    ),
    h(
      "section",
      { class: "panel" },
      h("h2", null, "Audit log"),
      audit === null
        ? h("p", { class: "quiet" }, "It cannot be read now: the storage does not answer.")
        : table(
            "What operators and guardrails did, newest first",
            [
              ["When", ""],
              ["What", ""],
              ["By", ""],
              ["Reason", ""],
            ],
            audit.events.map((event) => [
              date(event.time),
              `${KINDS[event.kind] ?? event.kind}${detail(event)}`,
              event.body.by || "–",
              event.body.reason || "–",
            ]),
          ),
      audit?.next
        ? h(
            "button",
            {
              onclick: () => {
                route.state.limit = (route.state.limit ?? 20) + 100;
                route.refresh(true);
              },
            },
            "More",
          )
        : null,
    ),
  );
}

function detail({ kind, body }) {
  if (kind === "created") return `, ${plural(body.rankers, "ranker")}`;
  if (kind === "added")
    return `: ${body.rankers.slice(0, 3).join(", ")}${body.rankers.length > 3 ? " …" : ""}`;
  if (kind === "configured")
    return `: ${Object.entries(body)
      .filter(([name]) => name !== "by" && name !== "reason")
      .map(([name, value]) => `${name} ${name === "share" ? percent(value, 1) : JSON.stringify(value)}`)
      .join(", ")}`;
  return body.ranker ? `: ${body.ranker}` : body.duel ? `: ${body.duel}` : "";
}

function sides(p, first, second) {
  const coin =
    "A coin decides for each duel who is first, so that both sides should win equally often, whatever the rankers are.";
  if (first + second < 50) return `${coin} There are too few outcomes to tell.`;
  const part = `The first side won ${percent(first / (first + second), 1)} of the duels that were no ties`;
  return p < 0.001
    ? `${coin} ${part}: by chance that hardly happens (p = ${p.toExponential(1)}). Are pages shown as ` +
        `they were made, and clicks credited to who earned them?`
    : `${coin} ${part}; nothing speaks against even sides (p = ${p.toFixed(2)}, good at any time).`;
}
