// The decision, to print or to send.

import { h, table } from "./dom.js";
import { at, getJson } from "./api.js";
import { algorithm, count, date, percent, prose, share } from "./format.js";

const SHOWN = 20;

export async function load(route) {
  const [overview, report] = await Promise.all([
    getJson(at(route.name, "/overview")),
    getJson(at(route.name, "/report")),
  ]);
  return { overview, report };
}

export function view(route, { report }) {
  const decided = report.winner || report.tied.length;
  const shown = route.state.all ? report.rankers : report.rankers.slice(0, SHOWN);
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
        h(
          "button",
          {
            onclick: () => {
              route.state.all = true;
              route.redraw();
              print();
            },
          },
          "Print",
        ),
      ),
    ),
    h(
      "div",
      { class: "sheet" },
      h("p", { class: "quiet" }, report.tournament, " · ", date(report.until)),
      h(
        "h2",
        { class: "verdict" },
        report.winner ?? (report.tied.length ? report.tied.join(", ") : "Not decided"),
      ),
      h("p", { class: "sentence" }, prose(report.sentence)),
      h("p", null, report.promise),
      report.best_exists <= 0.1
        ? h(
            "p",
            { class: "notice warning" },
            `Perhaps no ranker is best: each one carries evidence against it (p = ` +
              `${report.best_exists.toPrecision(2)}).`,
          )
        : null,
      h(
        "dl",
        { class: "facts" },
        [
          [
            decided ? "Certainty" : "Certainty of a decision",
            report.certainty === null ? "none is promised" : share(report.certainty),
          ],
          ["Leader", report.champion],
          ["Baseline", report.baseline ?? "none"],
          ["Duels resolved", count(report.duels)],
          ["Duels asked for", count(report.issued)],
          ["Expired", count(report.expired)],
          ["Harm to users", harm(report.harm)],
          ["Rankers tried", count(report.rankers.length)],
          ["Begun", date(report.begun)],
          ["Algorithm", algorithm(report.bandit)],
        ].map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))),
      ),
      h("h3", null, "What was tried"),
      table(
        "Rankers in the order of the leaderboard",
        [
          ["Ranker", "name"],
          ["State", ""],
          ["Duels", "number"],
          ["Wins", "number"],
          ["95 % interval", "number"],
          ["Evidence against", "number"],
        ],
        shown.map((line) => [
          line.ranker,
          line.state,
          count(line.wins + line.losses + line.ties),
          percent(line.rate, 1),
          `${percent(line.low, 1)} to ${percent(line.high, 1)}`,
          line.evidence === null || line.evidence <= 0 ? "–" : line.evidence.toFixed(2),
        ]),
      ),
      shown.length < report.rankers.length
        ? h(
            "button",
            {
              class: "no-print",
              onclick: () => {
                route.state.all = true;
                route.redraw();
              },
            },
            `Show all ${count(report.rankers.length)}`,
          )
        : null,
      h(
        "p",
        { class: "quiet" },
        "Evidence is a natural logarithm and adds up over all opponents. Intervals hold the mean chance " +
          "to win at any time, with 95 % certainty. Harm is estimated from all duels by a Bradley-Terry model.",
      ),
    ),
  );
}

function harm(made) {
  if (!made) return "not known";
  return (
    `pages were ${percent(Math.abs(made.per_page), 2)} ${made.per_page > 0 ? "worse" : "better"} ` +
    `than those of ${made.against}`
  );
}
