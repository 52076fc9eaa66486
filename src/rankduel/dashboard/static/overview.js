// The state of a tournament, and its controls.

import { asTable, h } from "./dom.js";
import { at, getJson, mayChange, page } from "./api.js";
import {
  EFFECT_HELP,
  effectTexts,
  axisLabels,
  axisOf,
  evidence,
  EVIDENCE_HELP,
  fallback,
  figure,
  interval,
  isDecided,
  light,
  progressBar,
  quoted,
  STATUS_HELP,
  status,
} from "./components.js";
import { controls } from "./controls.js";
import { stepChart, departed } from "./chart.js";
import {
  about,
  algorithm,
  compact,
  confidencePercent,
  count,
  date,
  percent,
  plural,
  prose,
  share,
  span,
} from "./format.js";

const SHOWN_RANKERS = 8;
const AFTER_DECISION = {
  winner: "the traffic share gets the winner",
  baseline: "all users get the baseline",
  compare: "the traffic share compares the winner with the baseline",
};
const DAY = 86400; // seconds

export async function load(route) {
  const [overview, standings, departures] = await Promise.all([
    getJson(at(route.name, "/overview")),
    getJson(at(route.name, "/standings")),
    departed(route.name),
  ]);
  return { overview, standings, departures };
}

export function view(route, { overview, standings, departures }) {
  const begun = overview.resolved > 0;
  const best = standings.rankers.slice(0, SHOWN_RANKERS);
  const axis = axisOf(best);
  return h(
    "div",
    { class: "overview" },
    h("h1", { class: "sentence", id: "sentence" }, prose(overview.sentence)),
    h("p", { class: "quiet meaning" }, prose(overview.meaning)),
    h(
      "section",
      { class: "now", "aria-label": "Status" },
      status(overview.status),
      h("p", null, STATUS_HELP[overview.status]),
      h("p", null, h("b", null, "Now: "), quoted(overview.users_see)),
      overview.rollout
        ? h(
            "p",
            null,
            `Rolled out: ${overview.rollout.ranker}, to ${share(overview.rollout.share)} of all users.`,
          )
        : null,
    ),
    overview.light.state === "good"
      ? null
      : h(
          "div",
          { class: `notice ${overview.light.state}` },
          light(overview.light.state),
          h(
            "ul",
            null,
            overview.light.reasons.map((reason) => h("li", null, reason)),
          ),
        ),
    begun ? progressBar(overview) : null,
    h(
      "dl",
      { class: "figures" },
      figure("Rankers remaining", count(overview.rankers_left), `of ${count(overview.rankers)}`),
      figure(
        "Duels",
        compact(overview.duels.resolved),
        overview.today === null ? null : `${count(overview.today)} today`,
      ),
      figure("Duels to a decision", forecast(overview), range(overview)),
      figure("Effect on users so far", ...effect(overview), EFFECT_HELP),
      figure("Confidence", ...confidence(overview)),
    ),
    mayChange() ? controls(route, overview, standings.rankers) : null,
    begun ? null : beginning(route),
    begun &&
      h(
        "div",
        { class: "columns" },
        h(
          "section",
          { class: "panel" },
          h(
            "div",
            { class: "head" },
            h("h2", null, "Rankers remaining"),
            h("a", { href: page(route.name, "/timeline") }, "Timeline"),
          ),
          departures.length
            ? stepChart(departures, overview, { small: true })
            : h("p", { class: "quiet" }, "No ranker has been eliminated yet."),
          departures.length
            ? asTable(
                "Latest eliminations",
                [
                  ["Ranker", ""],
                  ["At duel", "number"],
                  ["Remaining", "number"],
                ],
                departures
                  .slice(-20)
                  .reverse()
                  .map((one) => [one.ranker, count(one.resolved), count(one.left)]),
              )
            : null,
        ),
        h(
          "section",
          { class: "panel" },
          h(
            "div",
            { class: "head" },
            h("h2", null, "Leading rankers"),
            h("a", { href: page(route.name, "/leaderboard") }, "Leaderboard"),
          ),
          h(
            "table",
            { class: "lead" },
            h("caption", { class: "hide" }, "Leading rankers"),
            h(
              "thead",
              null,
              h(
                "tr",
                null,
                [
                  ["Ranker", ""],
                  ["Decisive wins", "number"],
                  [[h("span", { class: "hide" }, "95 % interval"), axisLabels(axis)], "wide"],
                  ["Evidence against", "bar", EVIDENCE_HELP],
                ].map(([name, kind, title]) => h("th", { scope: "col", class: kind, title }, name)),
              ),
            ),
            h(
              "tbody",
              null,
              best.map((line) =>
                h(
                  "tr",
                  { class: line.state },
                  h("th", { scope: "row", class: "name", title: line.ranker }, line.ranker),
                  h("td", { class: "number" }, percent(line.win_share, 1)),
                  h("td", { class: "wide" }, interval(line, axis)),
                  h("td", { class: "bar" }, evidence(line)),
                ),
              ),
            ),
          ),
        ),
      ),
    h(
      "details",
      { class: "settings" },
      h("summary", null, "Settings"),
      h(
        "dl",
        { class: "facts" },
        facts(overview).map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))),
      ),
    ),
  );
}

// Shown before the first outcome.
const beginning = (route) =>
  h(
    "section",
    { class: "panel", "data-key": "beginning" },
    h("h2", null, "Get started"),
    h(
      "p",
      null,
      "Your application asks for a duel, shows one page built from the results of both rankers, and tells the " +
        "outcome:",
    ),
    h(
      "pre",
      { tabindex: 0, "aria-label": "Example" },
      h(
        "code",
        null,
        [
          `POST ${at(route.name, "/ask")}`,
          '{"query_id": "q-81"}',
          "",
          `POST ${at(route.name, "/tell")}`,
          '{"ticket": "…", "outcome": "first"}',
        ].join("\n"),
      ),
    ),
    h("p", { class: "quiet" }, "This page updates with the first outcome."),
  );

function forecast({ forecast: made, resolved, status, ...overview }) {
  if (isDecided(overview)) return "decided";
  if (status === "stopped") return "stopped";
  if (overview.light.state === "bad") return "–";
  if (!overview.ends) return "none";
  if (!made) return resolved ? "…" : "–";
  if (made.too_early) return "too early";
  if (made.most === 0) return "soon";
  if (made.most === null) return `> ${about(made.least ?? made.horizon)}`;
  return made.least ? `${about(made.least)} – ${about(made.most)}` : `≤ ${about(made.most)}`;
}

function range({ forecast: made, forecast_days: days, ends, light: { state }, ...overview }) {
  if (!ends && !isDecided(overview) && overview.status !== "stopped")
    return "this algorithm makes no decision";
  if (state === "bad" || !made || made.too_early || made.most === 0) return null;
  if (made.most !== null) return days ? `${times(days)} (80\u00a0% interval)` : "80\u00a0% interval";
  return `${percent(made.chance)} end within ${about(made.horizon)}`;
}

// The interval of a forecast as a time at today's traffic.
function times({ least, most }) {
  const [low, high] = [span(least * DAY), span(most * DAY)];
  if (low === high) return high;
  return low.split(" ")[1].slice(0, 3) === high.split(" ")[1].slice(0, 3)
    ? `${low.split(" ")[0]} to ${high}`
    : `${low} to ${high}`;
}

function effect(overview) {
  const [size, than] = effectTexts(overview.effect);
  return [size, than && `${than}, ${fallback(overview.settings)}`];
}

// The confidence as a figure: only a decision reaches it.
function confidence(overview) {
  if (overview.confidence === null) return ["none", "this algorithm gives no guarantee"];
  const size = confidencePercent(overview.confidence);
  if (overview.confidence_reached) return [`≥ ${size}`, "whenever you look"];
  if (isDecided(overview)) return ["none", "no ranker beats all others"];
  return ["not yet", `at least ${size} required`];
}

const created = ({ begun, begun_by }) =>
  begun === null ? "–" : begun_by ? `${date(begun)} by ${begun_by}` : date(begun);

function facts(overview) {
  const { settings } = overview;
  return [
    ["Created", created(overview)],
    ["Algorithm", algorithm(settings.bandit)],
    ["Baseline", settings.baseline ?? "none (users see the champion)"],
    ["After a decision", AFTER_DECISION[settings.after_decision]],
    ["Interleaving", settings.interleaving],
    ["Traffic share", share(settings.share)],
    ["Duels expire after", span(settings.expires_after)],
    ["Daily cap per client", settings.daily_cap ?? "none"],
    [
      "Duels in flight",
      settings.in_flight_cap === null
        ? `${count(overview.duels.in_flight)}, no limit`
        : `${count(overview.duels.in_flight)} of ${count(settings.in_flight_cap)}`,
    ],
    ["Dry run", settings.shadow ? `yes: users see ${fallback(settings)}` : "no"],
    ["Guardrails", settings.guardrails.length ? plural(settings.guardrails.length, "guardrail") : "none"],
  ];
}
