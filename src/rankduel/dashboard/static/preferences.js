// Win rates of all pairs, as a heat map: blue where the row wins, orange where the column wins.

import { asTable, h } from "./dom.js";
import { at, getJson } from "./api.js";
import { touch } from "./components.js";
import { count, percent, plural } from "./format.js";

const MAX_ROWS = 240;
export const every = 3000;

export async function load(route) {
  const { first = 0, last = 0 } = route.state;
  const [overview, matrix] = await Promise.all([
    getJson(at(route.name, "/overview")),
    getJson(at(route.name, `/matrix?cells=${MAX_ROWS}&first=${first}&last=${last}`)),
  ]);
  const rows = Math.ceil(matrix.rankers.length / matrix.group);
  const cells = new Map(matrix.cells.map((cell) => [cell[0] * rows + cell[1], cell]));
  return { overview, matrix, rows, cells };
}

export function view(route, data) {
  const { matrix, rows } = data;
  const { state } = route;
  const head = h(
    "div",
    { class: "head" },
    h("h1", null, "Win rates of all pairs"),
    state.last
      ? h(
          "button",
          {
            onclick: () => {
              Object.assign(state, { first: 0, last: 0, picked: null });
              route.refresh(true);
            },
          },
          `Show all ${count(matrix.total)}`,
        )
      : null,
  );
  if (!matrix.cells.length && !state.last)
    return h("section", null, head, h("p", { class: "empty" }, "No duels yet."));
  const pick = (cell) => {
    if (String(cell) !== String(state.picked)) {
      state.picked = cell;
      route.redraw();
    }
  };
  return h(
    "section",
    { class: "preferences" },
    head,
    h(
      "p",
      { class: "quiet" },
      matrix.group > 1
        ? `Rankers in the order of the leaderboard, ${matrix.group} per row. Click a cell, or press Enter, ` +
            `to see its rankers one by one.`
        : "Rankers in the order of the leaderboard, the best at the top and on the left.",
    ),
    h(
      "div",
      { class: "heat" },
      h("canvas", {
        id: "heat",
        "data-keep": "heat",
        tabindex: 0,
        role: "img",
        "aria-label": `Heat map: win rates of all pairs of ${matrix.rankers.length} rankers`,
        "aria-describedby": "heat-cell",
        onpointermove: (event) => pick(under(event, rows)),
        onclick: (event) => zoom(route, under(event, rows)),
        onkeydown: (event) => key(event, route, pick),
      }),
      h(
        "div",
        null,
        h(
          "p",
          { id: "heat-cell", class: "picked", "aria-live": "polite" },
          state.picked
            ? describe(state.picked, data)
            : touch()
              ? "Tap the heat map to see a pair."
              : "Point at the heat map, or focus it and press the arrow keys.",
        ),
        h(
          "div",
          { class: "legend" },
          h("span", { class: "hide" }, "Colours: "),
          h("span", null, "column wins"),
          h("canvas", { id: "legend", "data-keep": "legend", width: 160, height: 12, "aria-hidden": "true" }),
          h("span", null, "row wins"),
        ),
        h(
          "p",
          { class: "quiet" },
          "A stronger colour means a clearer lead. Pairs without duels are empty: a good algorithm leaves " +
            "most pairs empty.",
        ),
      ),
    ),
    asTable(
      "Pairs with the most duels",
      [
        [matrix.group > 1 ? "Rankers" : "Ranker", ""],
        ["Against", ""],
        ["Wins", "number"],
        ["Losses", "number"],
        ["Ties", "number"],
      ],
      [...matrix.cells]
        .sort((a, b) => met(b) - met(a))
        .slice(0, 200)
        .map((cell) => [
          named(cell[0], matrix),
          named(cell[1], matrix),
          count(cell[2]),
          count(cell[3]),
          count(cell[4]),
        ]),
    ),
  );
}

const met = (cell) => cell[2] + cell[3] + cell[4];

function named(row, { rankers, group, first }) {
  const names = rankers.slice(row * group, (row + 1) * group);
  return names.length > 1
    ? `positions ${first + row * group + 1} to ${first + row * group + names.length} (${names[0]} …)`
    : names[0];
}

function found([row, column], { cells, rows }) {
  const cell = cells.get(Math.min(row, column) * rows + Math.max(row, column));
  return cell && (row < column ? cell.slice(2) : [cell[3], cell[2], cell[4]]);
}

function describe(picked, data) {
  const [row, column] = picked;
  if (row >= data.rows || column >= data.rows) return "";
  const [a, b] = [named(row, data.matrix), named(column, data.matrix)];
  if (row === column) return a;
  const record = found(picked, data);
  if (!record) return `${a} and ${b} have not met.`;
  const [won, lost, ties] = record;
  const n = won + lost + ties;
  return (
    `${a} against ${b}: ${plural(won, "win")}, ${plural(lost, "loss", "losses")}, ${plural(ties, "tie")}. ` +
    `Win rate ${percent((won + ties / 2) / n, 1)}.`
  );
}

function under(event, rows) {
  const box = event.currentTarget.getBoundingClientRect();
  const cell = (at, from, size) => Math.min(rows - 1, Math.max(0, Math.floor(((at - from) / size) * rows)));
  return [cell(event.clientY, box.top, box.height), cell(event.clientX, box.left, box.width)];
}

function key(event, route, pick) {
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  const { rows } = route.data;
  const [row, column] = route.state.picked ?? [0, 0];
  if (event.key === "Enter") zoom(route, [row, column]);
  if (!step) return;
  event.preventDefault();
  pick([Math.min(rows - 1, Math.max(0, row + step[0])), Math.min(rows - 1, Math.max(0, column + step[1]))]);
}

// Zoom in on the rankers around a cell.
function zoom(route, [row, column]) {
  const { matrix } = route.data;
  if (matrix.group === 1) return;
  const middle = matrix.first + Math.round(((row + column + 1) / 2) * matrix.group);
  const half = Math.max(MAX_ROWS / 2, Math.ceil(((Math.abs(row - column) + 1) * matrix.group) / 2));
  const first = Math.max(0, Math.min(middle - half, matrix.total - 2 * half));
  Object.assign(route.state, { first, last: Math.min(matrix.total, first + 2 * half), picked: null });
  route.refresh(true);
}

// Colours

const COLD = [30, 90, 200],
  WARM = [214, 104, 10]; // row wins, column wins: safe for colour-blind readers
const DARK_COLD = [110, 165, 255],
  DARK_WARM = [255, 160, 70];

function colours() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  return {
    dark,
    cold: dark ? DARK_COLD : COLD,
    warm: dark ? DARK_WARM : WARM,
    paper: dark ? [27, 29, 32] : [255, 255, 255],
    line: dark ? [62, 66, 72] : [214, 216, 219],
  };
}

function shade(share, { cold, warm, paper }) {
  const strength = Math.min(1, 0.18 + 2.2 * Math.abs(share - 0.5));
  const ink = share >= 0.5 ? cold : warm;
  return ink.map((value, k) => Math.round(paper[k] + (value - paper[k]) * strength));
}

export function after(route, data, main) {
  const canvas = main.querySelector("#heat");
  if (!canvas) return;
  const { matrix, rows, cells } = data;
  const theme = colours();
  const drawn = `${theme.dark} ${rows} ${matrix.first} ${JSON.stringify(route.state.picked)} ${data.overview.number}`;
  if (canvas.drawn === drawn) return;
  canvas.drawn = drawn;
  const scale = Math.max(1, Math.floor(720 / rows));
  canvas.width = canvas.height = rows * scale;
  const context = canvas.getContext("2d");
  context.fillStyle = `rgb(${theme.paper})`;
  context.fillRect(0, 0, canvas.width, canvas.height);
  const paint = (row, column, share) => {
    context.fillStyle = `rgb(${shade(share, theme)})`;
    context.fillRect(column * scale, row * scale, scale - (scale > 4), scale - (scale > 4));
  };
  for (const cell of cells.values()) {
    const share = (cell[2] + cell[4] / 2 + 2) / (met(cell) + 4); // four even duels added, for weak colours at first
    paint(cell[0], cell[1], share);
    paint(cell[1], cell[0], 1 - share);
  }
  context.fillStyle = `rgb(${theme.line})`;
  for (let k = 0; k < rows; k += 1) context.fillRect(k * scale, k * scale, scale, scale);
  if (route.state.picked) {
    const [row, column] = route.state.picked;
    context.strokeStyle = theme.dark ? "#fff" : "#000";
    context.lineWidth = Math.max(1, Math.min(2, scale / 3));
    context.strokeRect(column * scale - 0.5, row * scale - 0.5, scale + 1, scale + 1);
  }
  legend(main.querySelector("#legend"), theme);
}

function legend(canvas, theme) {
  const context = canvas.getContext("2d");
  for (let x = 0; x < canvas.width; x += 1) {
    context.fillStyle = `rgb(${shade(x / (canvas.width - 1), theme)})`;
    context.fillRect(x, 0, 1, canvas.height);
  }
}
