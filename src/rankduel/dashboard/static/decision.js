// The decision report: to read, to print on two pages, or as a file.

import { h, table } from "./dom.js";
import { at, getJson, page } from "./api.js";
import {
  axisLabels,
  axisOf,
  EVIDENCE_HELP,
  evidenceText,
  interval,
  isDecided,
  quoted,
  rankerStateText,
} from "./components.js";
import { algorithm, confidencePercent, count, date, percent, plural, prose } from "./format.js";

const SHOWN_RANKERS = 15; // as many as fit on two printed pages
export const every = 5000; // the report reads all duels

export async function load(route) {
  const [overview, report] = await Promise.all([
    getJson(at(route.name, "/overview")),
    getJson(at(route.name, "/report")),
  ]);
  return { overview, report };
}

export function view(route, { report }) {
  return h(
    "article",
    { class: "decision" },
    h(
      "div",
      { class: "head no-print" },
      h("h1", null, "Decision"),
      h(
        "div",
        { class: "buttons" },
        h(
          "a",
          { class: "button", href: at(route.name, "/report.md"), download: `${route.name}.md` },
          "Markdown",
        ),
        h("a", { class: "button", href: at(route.name, "/report"), download: `${route.name}.json` }, "JSON"),
        h("button", { onclick: () => print() }, "Print"),
      ),
    ),
    h(
      "div",
      { class: "sheet" },
      h("p", { class: "quiet" }, `${report.tournament} · ${date(report.until)} · ${statusText(report)}`),
      h("h2", { class: "verdict" }, verdict(report)),
      h("p", { class: "sentence" }, prose(report.headline)),
      h("p", null, h("b", null, "Now: "), quoted(report.users_see)),
      h("h3", null, "What to do next"),
      h(
        "ol",
        { class: "steps" },
        report.next_steps.map((one) =>
          h("li", null, h("strong", null, `${one.action}.`), " ", prose(one.reason)),
        ),
      ),
      comparisons(report),
      h("h3", null, "What it cost or gained users"),
      h("p", null, prose(report.effect_text)),
      h("h3", null, "In numbers"),
      h(
        "dl",
        { class: "facts" },
        facts(report).map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))),
      ),
      h("h3", null, "Timeline"),
      table(
        "What happened, oldest first",
        [
          ["Time", ""],
          ["Duels", "number"],
          ["Event", ""],
        ],
        report.timeline.map((one) => [
          one.time === null ? "unknown" : date(one.time),
          one.resolved === null ? "unknown" : count(one.resolved),
          prose(one.text),
        ]),
        "timeline",
      ),
      h("h3", null, "Rankers"),
      rankers(route, report),
      h(
        "details",
        { class: "assumptions" },
        h("summary", null, "Assumptions, and how to read the numbers"),
        h(
          "ul",
          null,
          report.assumptions.map((text) => h("li", null, prose(text))),
        ),
      ),
    ),
  );
}

function comparisons({ comparisons: found }) {
  if (!found.length) return null;
  const met = found.filter((one) => one.win_share !== null);
  const axis = axisOf(met, 1, 1);
  return [
    h("h3", null, `${found[0].winner} against the baseline and its rivals`),
    h(
      "ul",
      { class: "comparisons" },
      found.map((one) =>
        h(
          "li",
          null,
          h(
            "p",
            { class: "against" },
            h("strong", null, one.rival),
            h("span", { class: "quiet" }, one.roles.join(", ")),
          ),
          one.win_share === null ? null : h("div", { class: "bar" }, interval(one, axis), axisLabels(axis)),
          h("p", null, prose(one.sentence)),
        ),
      ),
    ),
    h(
      "p",
      { class: "quiet" },
      "Intervals hold whenever you look. These pairs were selected because of their results, so leads may look " +
        "larger than they are. The confidence of a decision takes the selection into account.",
    ),
  ];
}

const facts = (report) => [
  ["Confidence", confidence(report)],
  ["Champion", report.champion],
  ["Baseline", report.baseline ?? "none"],
  ["Duels resolved", count(report.duels)],
  ["of them ties", report.duels ? percent(report.ties / report.duels, 1) : "–"],
  ["Clients", report.clients === null ? "unknown" : count(report.clients)],
  ["Duels issued", count(report.issued)],
  ["Duels expired", count(report.expired)],
  ["Rankers", count(report.rankers.length)],
  ["Created", date(report.begun)],
  ["Algorithm", algorithm(report.bandit)],
];

function rankers(route, report) {
  const more = report.rankers.length - SHOWN_RANKERS;
  return [
    table(
      "By rating: the estimated probability to win against an average ranker",
      [
        ["Ranker", "name"],
        ["State", ""],
        ["Rating", "number"],
        ["Duels", "number"],
        ["Decisive wins", "number"],
        ["95 % interval", "number"],
        ["Ties", "number"],
        ["Evidence against", "number", EVIDENCE_HELP],
      ],
      report.rankers
        .slice(0, SHOWN_RANKERS)
        .map((line) => [
          line.ranker,
          rankerStateText(line.state),
          percent(line.rating, 1),
          count(line.wins + line.losses + line.ties),
          percent(line.win_share, 1),
          `${percent(line.low, 1)} to ${percent(line.high, 1)}`,
          percent(line.tie_share),
          evidenceText(line),
        ]),
      "rankers",
    ),
    more > 0
      ? h(
          "p",
          { class: "quiet" },
          `${plural(more, "more ranker")} in the `,
          h("a", { href: page(route.name, "/leaderboard") }, "leaderboard"),
          ".",
        )
      : null,
  ];
}

// The assumptions are printed too: a printed fold cannot be opened.
export function after() {
  const fold = () => document.querySelector("details.assumptions");
  let opened = false;
  window.onbeforeprint = () => {
    opened = fold()?.open ?? false;
    if (fold()) fold().open = true;
  };
  window.onafterprint = () => {
    if (fold()) fold().open = opened;
  };
}

export function leave() {
  window.onbeforeprint = window.onafterprint = null;
}

const statusText = (report) => report.status.replaceAll("_", " ");

function verdict(report) {
  if (!isDecided(report))
    return ["stopped", "archived"].includes(report.status) ? "Stopped before a decision" : "Undecided";
  if (report.confidence !== null && !report.confidence_reached) return "No clear winner";
  return report.winner ?? report.tied.join(", ");
}

function confidence(report) {
  if (report.confidence === null) return "no guarantee";
  const size = confidencePercent(report.confidence);
  return report.confidence_reached ? `at least ${size}` : `not reached (at least ${size} required)`;
}
