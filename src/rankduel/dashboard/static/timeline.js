// The eliminations over time, with stages and operator actions.

import { asTable, h } from "./dom.js";
import { at, changes, getJson } from "./api.js";
import { departed, describe, reason, stepChart } from "./chart.js";
import { EVIDENCE_HELP, touch } from "./components.js";
import { count } from "./format.js";

const EVENTS = {
  paused: "paused",
  started: "started",
  stopped: "stopped",
  rolled_out: "rolled out",
  rolled_back: "rolled back",
  archived: "archived",
  added: "rankers added",
  configured: "settings changed",
};

export async function load(route) {
  const [overview, departures, audit] = await Promise.all([
    getJson(at(route.name, "/overview")),
    departed(route.name),
    changes(route.name, 200),
  ]);
  return { overview, departures, audit };
}

export function view(route, { overview, departures, audit }) {
  const head = h("h1", null, "Elimination timeline");
  if (!departures.length) {
    return h(
      "section",
      null,
      head,
      h(
        "p",
        { class: "empty" },
        overview.resolved
          ? `No ranker has been eliminated after ${count(overview.resolved)} duels.`
          : "The timeline starts with the first outcome.",
      ),
    );
  }
  const { state } = route;
  const picked =
    state.picked === undefined ? departures.length - 1 : Math.min(state.picked, departures.length - 1);
  const marks = [...stages(departures, overview), ...operated(audit?.events ?? [], overview)];
  return h(
    "section",
    null,
    head,
    h(
      "div",
      { class: "panel" },
      stepChart(departures, overview, {
        marks,
        picked,
        onpick: (k) => {
          if (k !== state.picked) {
            state.picked = k;
            route.redraw();
          }
        },
      }),
      h("p", { class: "picked", "aria-live": "polite" }, describe(departures[picked])),
      h(
        "p",
        { class: "quiet" },
        touch()
          ? "Tap the chart to see an elimination."
          : "Point at the chart, or focus it and press the arrow keys, to see an elimination.",
        overview.settings.bandit.startsWith("Merge")
          ? " Dotted lines mark stages: each time the number of rankers has halved, batches are merged."
          : " This algorithm has no stages: all remaining rankers may meet.",
      ),
    ),
    asTable(
      "Eliminated and retired rankers, latest first",
      [
        ["Ranker", ""],
        ["At duel", "number"],
        ["Eliminated by", ""],
        ["Evidence against", "number", EVIDENCE_HELP],
        ["Remaining", "number"],
      ],
      [...departures]
        .reverse()
        .slice(0, 2000)
        .map((one) => [
          one.ranker,
          count(one.resolved),
          one.state === "retired" ? "retired by an operator" : (one.by ?? "–"),
          reason(one),
          count(one.left),
        ]),
    ),
  );
}

// A stage of a merging algorithm ends when half of its rankers are eliminated.
function stages(departures, overview) {
  if (!overview.settings.bandit.startsWith("Merge")) return [];
  const found = [];
  for (let stage = 1; overview.rankers / 2 ** stage >= 1; stage += 1) {
    const end = departures.find((one) => one.left <= overview.rankers / 2 ** stage);
    if (end)
      found.push({
        resolved: end.resolved,
        kind: "stage",
        label: `stage ${stage + 1}`,
        row: (stage - 1) % 3,
      });
  }
  return found;
}

// Operator actions by the number of outcomes before them: the audit log has all other events of the journal.
function operated(events, overview) {
  const oldest = [...events].reverse();
  if (oldest[0]?.kind !== "created") return [];
  return oldest
    .map((event, index) => ({
      resolved: event.number - 1 - index,
      kind: "operated",
      label: EVENTS[event.kind],
      row: index % 4,
    }))
    .filter((mark) => mark.label && mark.resolved > 0 && mark.resolved <= overview.resolved);
}
