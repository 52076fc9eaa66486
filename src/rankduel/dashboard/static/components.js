// Parts that several pages share.

import { h } from "./dom.js";
import { count, evidencePercent, percent, prose } from "./format.js";

const NONE = "–";
export const STATUS = {
  draft: "Draft",
  running: "Running",
  paused: "Paused",
  decided: "Decided",
  rolled_out: "Rolled out",
  stopped: "Stopped",
  archived: "Archived",
  failing: "Failing",
};
export const STATUS_HELP = {
  draft: "Not started: no duels are issued.",
  running: "Duels are issued. No decision is reached yet.",
  paused: "No duels are issued until an operator starts it again.",
  decided:
    "A decision is reached. For users outside of the traffic share, nothing changes until an operator rolls it out.",
  rolled_out: "An operator has rolled out a ranker. Guardrails stay on.",
  stopped: "Ended for good. Its results stay available.",
  archived: "Ended for good, and hidden in the list of tournaments. Its results stay available.",
};
const SHAPES = {
  draft: [h0("circle", { cx: 6, cy: 6, r: 4, fill: "none", stroke: "currentColor", "stroke-width": 1.5 })],
  running: [h0("circle", { cx: 6, cy: 6, r: 4 })],
  paused: [
    h0("rect", { x: 2.5, y: 2, width: 2.5, height: 8 }),
    h0("rect", { x: 7, y: 2, width: 2.5, height: 8 }),
  ],
  stopped: [h0("rect", { x: 2, y: 2, width: 8, height: 8 })],
  decided: [
    h0("path", { d: "M2 6.5 4.8 9.5 10 2.8", fill: "none", stroke: "currentColor", "stroke-width": 2 }),
  ],
  rolled_out: [h0("path", { d: "M6 1 11 6.5H8V11H4V6.5H1z" })],
  archived: [h0("path", { d: "M1 2h10v3H1zM2 6h8v5H2z" })],
  failing: [h0("path", { d: "M1 4 4 1h4l3 3v4l-3 3H4L1 8z" })],
  good: [h0("circle", { cx: 6, cy: 6, r: 5 })],
  warning: [h0("path", { d: "M6 1 11.5 11h-11z" })],
  bad: [h0("path", { d: "M1 4 4 1h4l3 3v4l-3 3H4L1 8z" })],
};

// Whether the device has no pointer that hovers, so that its user taps.
export const touch = () => matchMedia("(hover: none)").matches;

function h0(tag, properties) {
  return () => h(tag, properties);
}

const shape = (name) =>
  h(
    "svg",
    { viewBox: "0 0 12 12", class: `shape ${name}`, "aria-hidden": "true" },
    SHAPES[name].map((make) => make()),
  );

export const status = (word) => h("span", { class: `status ${word}` }, shape(word), STATUS[word]);

const LIGHT = { good: "Healthy", warning: "Warning", bad: "Failing" };
export const light = (state) => h("span", { class: `light ${state}` }, shape(state), LIGHT[state]);

export const stateOf = (overview) => (overview.light.state === "bad" ? "failing" : overview.status);
export const isDecided = (overview) => Boolean(overview.winner || overview.tied.length);

export const figure = (name, value, more, title = null) =>
  h(
    "div",
    { class: "figure", title },
    h("dt", null, name),
    h("dd", null, h("b", null, value), more ? h("small", null, more) : null),
  );

// The axis of a column of intervals: the distance from one half to both ends. The given parts of the intervals and of
// the shares fit. The others are cut.
const HALF_WIDTHS = [0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4];
export function axisOf(lines, intervals = 0.5, shares = 0.9) {
  const least = (part, sizes) => sizes.sort((a, b) => a - b)[Math.floor(part * (sizes.length - 1))] ?? 0.5;
  const interval = least(
    intervals,
    lines.map((line) => Math.max(0.5 - line.low, line.high - 0.5)),
  );
  const share = least(
    shares,
    lines.map((line) => Math.abs(line.win_share - 0.5)),
  );
  return HALF_WIDTHS.find((half) => half >= Math.max(interval, share)) ?? 0.5;
}

// The labels of an axis: its ends and its middle.
export const axisLabels = (half) =>
  h(
    "span",
    { class: "axis" },
    [0.5 - half, 0.5, 0.5 + half].map((share) => h("span", null, percent(share))),
  );

// A share of wins with its interval, on an axis around one half. An arrow shows that an interval continues beyond the
// axis. Screen readers get text.
export function interval(line, half = 0.5) {
  const x = (share) => Math.min(98, Math.max(2, 50 + (48 * (share - 0.5)) / half));
  const beyond = [
    line.low < 0.5 - half && h("path", { class: "beyond", d: "M6 3 2 8l4 5" }),
    line.high > 0.5 + half && h("path", { class: "beyond", d: "M94 3 98 8l-4 5" }),
  ];
  return [
    h("span", { class: "hide" }, `${percent(line.low, 1)} to ${percent(line.high, 1)}`),
    h(
      "svg",
      { class: "interval", viewBox: "0 0 100 16", preserveAspectRatio: "none", "aria-hidden": "true" },
      h("line", { class: "track", x1: 2, x2: 98, y1: 8, y2: 8 }),
      h("line", { class: "half", x1: 50, x2: 50, y1: 2, y2: 14 }),
      h("line", { class: "range", x1: x(line.low), x2: x(line.high), y1: 8, y2: 8 }),
      beyond,
      h("line", { class: "point", x1: x(line.win_share), x2: x(line.win_share), y1: 3, y2: 13 }),
    ),
  ];
}

// The progress towards the decision. It never shrinks, unless rankers are added.
export const progressBar = ({ progress, rankers, rankers_left: remaining }) =>
  progress === null
    ? null
    : h(
        "div",
        { class: "progress", title: PROGRESS_HELP },
        h(
          "div",
          {
            class: "meter",
            role: "img",
            "aria-label": `Progress to the decision: ${evidencePercent(progress)}`,
          },
          h("span", { style: { width: `${100 * progress}%` } }),
        ),
        h(
          "p",
          { class: "quiet" },
          `Progress ${evidencePercent(progress)}: ${count(rankers - remaining)} of ${count(rankers)} rankers are ` +
            "eliminated.",
        ),
      );
const PROGRESS_HELP =
  "Each halving of the remaining rankers counts the same. Between eliminations, the number of duels moves it on.";

export const EVIDENCE_HELP = "High is bad for the ranker. 100\u00a0% eliminates it.";

// A bar for the evidence against a ranker, a share of the evidence that eliminates.
export function evidence(line) {
  if (line.evidence === null) return h("span", { class: "quiet" }, NONE);
  const share = line.evidence;
  return h(
    "span",
    {
      class: "evidence",
      title: `Evidence against ${line.ranker}: ${evidencePercent(share)}. ${EVIDENCE_HELP}`,
    },
    h(
      "svg",
      { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
      h("rect", { class: "track", x: 0, y: 0, width: 100, height: 8 }),
      h("rect", { class: "fill", x: 0, y: 0, width: 100 * share, height: 8 }),
    ),
    h("span", null, evidencePercent(share)),
  );
}

export const evidenceText = (line) => (line.evidence === null ? NONE : evidencePercent(line.evidence));

// The effect on users, compared with one ranker that they could have seen all the time.
export const EFFECT_HELP =
  "Estimated probability that users prefer the rankers of a duel to the one named here, minus 50\u00a0%.";
export function effectTexts(effect) {
  if (!effect) return [NONE, null];
  const size = percent(Math.abs(effect.per_page), 1);
  if (Number.parseFloat(size) === 0) return ["no difference", `to ${effect.against}`];
  return [`${size} ${effect.per_page > 0 ? "better" : "worse"}`, `than ${effect.against}`];
}

const RANKER_STATES = { left: "remaining" }; // other states are shown by name
export const rankerStateText = (state) => RANKER_STATES[state] ?? state;
export const rankerState = (state) => h("span", { class: `ranker ${state}` }, rankerStateText(state));

// The name of the ranker that users see without a duel.
export const fallback = (settings) => (settings.baseline === null ? "the champion" : "the baseline");

// A text in which names are between backticks.
export const quoted = (text) =>
  text.split("`").map((part, index) => (index % 2 ? h("b", null, part) : prose(part)));

export const notice = (text, kind = "bad") =>
  text ? h("p", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : "status" }, text) : null;

export const left = (overview) => `${count(overview.rankers_left)} of ${count(overview.rankers)}`;
