// The health of a tournament: asks, tells, delays, sides, signals, guardrails and the audit log.

import { asTable, h, table } from "./dom.js";
import { at, changes, getJson } from "./api.js";
import { bars } from "./chart.js";
import { figure, light } from "./components.js";
import { count, date, percent, plural, share, span } from "./format.js";

const SERVED = {
  paused: "paused",
  draft: "draft",
  stopped: "stopped",
  archived: "archived",
  decided: "decided",
  share: "outside the traffic share",
  daily_cap: "daily cap reached",
  in_flight_cap: "too many duels in flight",
  shadow: "dry run",
  failed: "bandit failed",
  storage: "storage failed",
};
const KINDS = {
  created: "created",
  paused: "paused",
  started: "started",
  stopped: "stopped",
  rolled_out: "rolled out",
  rolled_back: "rolled back",
  archived: "archived",
  added: "added rankers",
  retired: "retired a ranker",
  ranker_paused: "paused a ranker",
  ranker_started: "started a ranker",
  configured: "changed settings",
  voided: "declared a duel void",
  erased: "erased the data of a client",
  quarantined: "quarantined an event that cannot be replayed",
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
        "Finished in time",
        duels.resolved + duels.no_signal + duels.expired ? share(health.joined) : "–",
        "the other duels expired",
      ),
      figure("In flight", count(duels.in_flight), "issued, without an outcome"),
      figure("Expired", count(duels.expired), `${count(duels.late)} outcomes came late`),
      figure("Repeated tells", count(health.told_again), `${plural(health.conflicts, "conflict")}`),
    ),
    h(
      "div",
      { class: "columns" },
      h(
        "section",
        { class: "panel" },
        h("h2", null, "Duels by state"),
        bars("Duels", [
          ["resolved", duels.resolved],
          ["no signal", duels.no_signal],
          ["in flight", duels.in_flight],
          ["expired", duels.expired],
          ["late", duels.late],
          ["void", duels.void],
          ["failed", duels.failed],
          ["unknown duel", health.unknown],
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
        h("h2", null, "Time from ask to outcome"),
        delays.length ? bars("Outcomes by delay", delays) : h("p", { class: "quiet" }, "No outcomes yet."),
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
        h("h2", null, "Side check (A/A test)"),
        first + second
          ? bars("Outcomes", [
              ["first won", first],
              ["second won", second],
              ["tie", tie],
            ])
          : h("p", { class: "quiet" }, "No outcomes yet."),
        h("p", null, sides(checks.sides, first, second)),
      ),
      h(
        "section",
        { class: "panel" },
        h("h2", null, "Signals"),
        Object.keys(health.signals).length
          ? bars("Signals by action", Object.entries(health.signals))
          : h("p", { class: "quiet" }, "No signals: the application reports outcomes or clicks with tell."),
        h(
          "p",
          { class: "quiet" },
          `${plural(health.orphans, "orphan")}, ${count(health.late_signals)} late, ` +
            `${plural(health.signals_again, "duplicate")}, ` +
            `${count(health.signals_dropped)} over the limit per duel.`,
        ),
      ),
    ),
    h(
      "section",
      { class: "panel" },
      h("h2", null, "Guardrails"),
      checks.guardrails.length
        ? table(
            "The tournament pauses when a page action is too frequent",
            [
              ["Action", ""],
              ["Limit", "number"],
              ["Window", "number"],
              ["So far", "number"],
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
            "No guardrails. A guardrail pauses the tournament when an action, such as an error, is too " +
              "frequent.",
          ),
    ),
    h(
      "section",
      { class: "panel" },
      h("h2", null, "Audit log"),
      audit === null
        ? h("p", { class: "quiet" }, "The audit log cannot be read: the storage does not answer.")
        : table(
            "Actions of operators and guardrails, newest first",
            [
              ["Time", ""],
              ["Action", ""],
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
            "Show more",
          )
        : null,
    ),
  );
}

function detail({ kind, body }) {
  if (kind === "rolled_out") return `: ${body.ranker}, to ${share(body.share)} of all traffic`;
  if (kind === "created") return `, ${plural(body.rankers, "ranker")}`;
  if (kind === "erased") return `: ${plural(body.duels, "duel")}`;
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
    "A coin flip decides which ranker of a duel is first. So both sides should win equally often, " +
    "whatever the rankers are.";
  if (first + second < 50) return `${coin} There are too few outcomes for this check.`;
  const part = `The first side won ${percent(first / (first + second), 1)} of the duels that were not ties.`;
  return p < 0.001
    ? `${coin} ${part} This is very unlikely by chance (p = ${p.toExponential(1)}). Check that users see ` +
        `pages as they were built, and that clicks are credited to the right ranker.`
    : `${coin} ${part} No sign of uneven sides (p = ${p.toFixed(3)}, valid whenever you look).`;
}
