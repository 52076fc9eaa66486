// The decision report: to print, or as a file.

import { h, table } from "./dom.js";
import { at, getJson } from "./api.js";
import {
  EFFECT_HELP,
  effectTexts,
  EVIDENCE_HELP,
  evidenceText,
  isDecided,
  rankerStateText,
} from "./components.js";
import { algorithm, confidencePercent, count, date, percent, prose } from "./format.js";

const SHOWN_RANKERS = 20;

export async function load(route) {
  const [overview, report] = await Promise.all([
    getJson(at(route.name, "/overview")),
    getJson(at(route.name, "/report")),
  ]);
  return { overview, report };
}

export function view(route, { report }) {
  const shown = route.state.all ? report.rankers : report.rankers.slice(0, SHOWN_RANKERS);
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
      h("h2", { class: "verdict" }, verdict(report)),
      h("p", { class: "sentence" }, prose(report.headline)),
      h("p", null, prose(report.meaning)),
      h(
        "dl",
        { class: "facts" },
        [
          ["Confidence", confidence(report)],
          ["Champion", report.champion],
          ["Baseline", report.baseline ?? "none"],
          ["Duels resolved", count(report.duels)],
          ["Duels issued", count(report.issued)],
          ["Duels expired", count(report.expired)],
          ["Effect on users so far", effectTexts(report.effect).filter(Boolean).join(" ")],
          ["Rankers", count(report.rankers.length)],
          ["Created", date(report.begun)],
          ["Algorithm", algorithm(report.bandit)],
        ].map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))),
      ),
      h("h3", null, "Rankers"),
      table(
        "Rankers in the order of the leaderboard",
        [
          ["Ranker", "name"],
          ["State", ""],
          ["Duels", "number"],
          ["Win rate", "number"],
          ["95 % interval", "number"],
          ["Evidence against", "number", EVIDENCE_HELP],
        ],
        shown.map((line) => [
          line.ranker,
          rankerStateText(line.state),
          count(line.wins + line.losses + line.ties),
          percent(line.rate, 1),
          `${percent(line.low, 1)} to ${percent(line.high, 1)}`,
          evidenceText(line, report.enough),
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
        report.enough === null ? null : `Evidence against: ${EVIDENCE_HELP.toLowerCase()} `,
        "Each interval contains the mean win probability over the duels played, with 95\u00a0% confidence, " +
          "whenever you look. ",
        report.effect ? `Effect on users: ${EFFECT_HELP.toLowerCase()}` : null,
      ),
    ),
  );
}

function verdict(report) {
  if (!isDecided(report)) return report.status === "stopped" ? "Stopped without a decision" : "Undecided";
  if (report.confidence !== null && !report.confidence_reached) return "No clear winner";
  return report.winner ?? report.tied.join(", ");
}

function confidence(report) {
  if (report.confidence === null) return "no guarantee";
  const size = confidencePercent(report.confidence);
  return report.confidence_reached ? `at least ${size}` : `not reached (at least ${size} required)`;
}
