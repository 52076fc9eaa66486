// Who was dropped, when, by whom, on what evidence.

import { asTable, h } from "./dom.js";
import { at, changes, getJson } from "./api.js";
import { departed, describe, stepChart } from "./chart.js";
import { count, odds } from "./format.js";

const EVENTS = {
  paused: "paused",
  started: "started",
  stopped: "stopped",
  added: "rankers added",
  configured: "settings",
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
          ? `After ${count(overview.resolved)} duels nobody has been dropped: the evidence is not enough yet.`
          : "It begins with the first outcome.",
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
        "Move over the chart, or focus it and press the arrow keys.",
        overview.settings.bandit.startsWith("Merge")
          ? " Dotted lines are stages: half of the rankers are gone, and batches are merged."
          : " This algorithm has no stages: all that are left may meet.",
      ),
    ),
    asTable(
      "Rankers that were dropped, the last one first",
      [
        ["Ranker", ""],
        ["At duel", "number"],
        ["By", ""],
        ["Evidence", "number"],
        ["Left", "number"],
      ],
      [...departures]
        .reverse()
        .slice(0, 2000)
        .map((one) => [
          one.ranker,
          count(one.resolved),
          one.by ?? "–",
          one.evidence !== null ? odds(one.evidence) : one.by ? "confidence bound" : "–",
          count(one.left),
        ]),
    ),
  );
}

// A stage of a merging algorithm ends when half of its rankers are gone: then batches are merged.
function stages(departures, overview) {
  if (!overview.settings.bandit.startsWith("Merge")) return [];
  const found = [];
  for (let stage = 1; overview.rankers / 2 ** stage >= 1; stage += 1) {
    const end = departures.find((one) => one.left <= overview.rankers / 2 ** stage);
    if (end) found.push({ resolved: end.resolved, kind: "stage", label: `stage ${stage + 1}`, row: (stage - 1) % 3 });
  }
  return found;
}

// What operators did, by how many outcomes there were: the others of the journal are theirs.
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
