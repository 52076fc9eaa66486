// All rankers: sort, filter, search. The page contains only the visible rows.

import { h, patch } from "./dom.js";
import { at, getJson } from "./api.js";
import {
  axisLabels,
  axisOf,
  evidence,
  EVIDENCE_HELP,
  interval,
  rankerState,
  rankerStateText,
} from "./components.js";
import { count, percent, plural } from "./format.js";

const ROW_HEIGHT = 38; // px
const MARGIN_ROWS = 12; // rendered above and below the visible rows
const STATES = ["champion", "left", "paused", "eliminated", "retired"];
export const every = 2000;

const RATING_HELP =
  "Estimated probability to win against an average ranker, with a tie as half a win. It takes into account which " +
  "opponents a ranker met.";
const WINS_HELP = "Wins among the duels that were no ties.";
const TIES_HELP =
  "Share of its duels that were ties: both rankers got the same credit. Ties are no evidence, so they make the " +
  "decision later.";

const COLUMNS = [
  { id: "rank", name: "#", kind: "number", by: (line) => line.rank },
  { id: "ranker", name: "Ranker", kind: "name", by: (line) => line.ranker },
  { id: "state", name: "State", kind: "", by: (line) => STATES.indexOf(line.state) },
  { id: "duels", name: "Duels", kind: "number", by: (line) => -line.duels },
  { id: "rating", name: "Rating", kind: "number rating", title: RATING_HELP, by: (line) => -line.rating },
  { id: "wins", name: "Decisive wins", kind: "number wins", title: WINS_HELP, by: (line) => -line.win_share },
  { id: "range", name: "95 % interval", kind: "wide", title: WINS_HELP, by: (line) => line.high - line.low },
  { id: "ties", name: "Ties", kind: "number ties", title: TIES_HELP, by: (line) => -line.tie_share },
  {
    id: "evidence",
    name: "Evidence against",
    kind: "bar",
    title: EVIDENCE_HELP,
    by: (line) => -(line.evidence ?? 0),
  },
  { id: "batch", name: "Batch", kind: "number batch", by: (line) => line.batch ?? 1e9 },
];

export async function load(route) {
  const [overview, standings] = await Promise.all([
    getJson(at(route.name, "/overview")),
    getJson(at(route.name, "/standings")),
  ]);
  standings.rankers.forEach((line, k) => {
    line.rank = k + 1;
    line.duels = line.wins + line.losses + line.ties;
  });
  standings.axis = axisOf(standings.rankers);
  return { overview, standings };
}

export function view(route, { standings }) {
  const { state } = route;
  state.sort ??= "rank";
  const shown = (state.shown = chosen(standings.rankers, state));
  const batched = standings.rankers.some((line) => line.batch !== null);
  state.columns = COLUMNS.filter((column) => column.id !== "batch" || batched);
  const redraw = () => {
    scroller(route)?.scrollTo(0, 0);
    route.redraw();
  };
  const counts = STATES.map((word) => [
    word,
    standings.rankers.filter((line) => line.state === word).length,
  ]).filter(([, n]) => n);
  return h(
    "section",
    { class: "leaderboard" },
    h(
      "div",
      { class: "head" },
      h("h1", null, "Leaderboard"),
      h(
        "p",
        { class: "quiet", role: "status" },
        shown.length === standings.rankers.length
          ? plural(shown.length, "ranker")
          : `${count(shown.length)} of ${plural(standings.rankers.length, "ranker")}`,
      ),
    ),
    h(
      "div",
      { class: "filters" },
      h("label", { for: "search" }, "Search"),
      h("input", {
        id: "search",
        type: "search",
        placeholder: "Ranker name",
        oninput: (event) => {
          state.search = event.target.value;
          redraw();
        },
      }),
      h("label", { for: "state" }, "Show"),
      h(
        "select",
        {
          id: "state",
          onchange: (event) => {
            state.only = event.target.value;
            redraw();
          },
        },
        h("option", { value: "" }, "all"),
        h("option", { value: "in" }, "still in the race"),
        counts.map(([word, n]) => h("option", { value: word }, `${rankerStateText(word)} (${count(n)})`)),
      ),
    ),
    h(
      "div",
      {
        class: "scroll tall",
        id: "board",
        tabindex: 0,
        role: "region",
        "aria-label": "Leaderboard, scrollable",
        onscroll: () => rows(route),
      },
      h(
        "table",
        { class: "board", "aria-rowcount": shown.length + 1 },
        h(
          "caption",
          { class: "hide" },
          "All rankers with their rating, their wins with the interval, their ties, and the evidence against them",
        ),
        h(
          "thead",
          null,
          h(
            "tr",
            { "aria-rowindex": 1 },
            state.columns.map((column) =>
              h(
                "th",
                {
                  scope: "col",
                  class: column.kind,
                  title: column.title,
                  "aria-sort": state.sort === column.id ? (state.down ? "descending" : "ascending") : null,
                },
                h(
                  "button",
                  {
                    class: "sort",
                    onclick: () => {
                      state.down = state.sort === column.id && !state.down;
                      state.sort = column.id;
                      redraw();
                    },
                  },
                  column.name,
                  h(
                    "span",
                    { "aria-hidden": "true" },
                    state.sort === column.id ? (state.down ? " ↑" : " ↓") : "",
                  ),
                ),
                column.id === "range" ? axisLabels(standings.axis) : null,
              ),
            ),
          ),
        ),
        h("tbody", { "data-keep": "rows", id: "rows" }),
      ),
    ),
    shown.length ? null : h("p", { class: "empty" }, "No ranker matches."),
    h(
      "p",
      { class: "quiet" },
      "The order is by rating, within each group of states. The interval contains the mean probability to win over " +
        "the decisive duels played, with 95\u00a0% confidence, whenever you look.",
      standings.rankers.every((line) => line.evidence === null)
        ? null
        : ` Evidence against: ${EVIDENCE_HELP.toLowerCase()}`,
    ),
  );
}

function chosen(lines, { search = "", only = "", sort, down }) {
  const wanted = search.trim().toLowerCase();
  const found = lines.filter(
    (line) =>
      (!wanted || line.ranker.toLowerCase().includes(wanted)) &&
      (!only ||
        line.state === only ||
        (only === "in" && line.state !== "eliminated" && line.state !== "retired")),
  );
  const { by } = COLUMNS.find((column) => column.id === sort);
  const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  return found.sort((a, b) => (down ? -1 : 1) * order(by(a), by(b)) || a.rank - b.rank);
}

const scroller = () => document.getElementById("board");

export function after(route) {
  rows(route);
}

// The visible rows, between two blank rows with the height of all other rows.
function rows(route) {
  const box = scroller();
  const body = document.getElementById("rows");
  if (!box || !body) return;
  const { shown, columns } = route.state;
  const { axis } = route.data.standings;
  const first = Math.max(0, Math.min(shown.length, Math.floor(box.scrollTop / ROW_HEIGHT)) - MARGIN_ROWS);
  const last = Math.min(shown.length, first + Math.ceil(box.clientHeight / ROW_HEIGHT) + 2 * MARGIN_ROWS);
  const blank = (n) =>
    h("tr", { "aria-hidden": "true", class: "blank" }, h("td", { style: { height: `${n * ROW_HEIGHT}px` } }));
  const cells = {
    rank: (line) => count(line.rank),
    ranker: (line) => h("span", null, line.ranker),
    state: (line) => rankerState(line.state),
    duels: (line) => count(line.duels),
    rating: (line) => percent(line.rating, 1),
    wins: (line) => percent(line.win_share, 1),
    range: (line) => interval(line, axis),
    ties: (line) => percent(line.tie_share, 0),
    evidence,
    batch: (line) => line.batch ?? "–",
  };
  patch(
    body,
    blank(first),
    shown.slice(first, last).map((line, k) =>
      h(
        "tr",
        { class: line.state, "aria-rowindex": first + k + 2 },
        columns.map((column) =>
          h(
            column.id === "ranker" ? "th" : "td",
            {
              scope: column.id === "ranker" ? "row" : null,
              class: column.kind,
              title:
                column.id === "ranker"
                  ? line.ranker
                  : column.id === "range"
                    ? `${percent(line.low, 1)} to ${percent(line.high, 1)}`
                    : null,
            },
            cells[column.id](line),
          ),
        ),
      ),
    ),
    blank(shown.length - last),
  );
}
