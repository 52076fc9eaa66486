// Charts as SVG: remaining rankers over duels, and bars.
//
// To add a chart, return h("svg", ...) here and call it from the view of a page (overview.js, timeline.js, health.js;
// components.js has the small bars in tables). A new page is an entry of TABS in app.js. New data needs a route in
// service/routes/dashboard.py.

import { h } from "./dom.js";
import { at, getJson } from "./api.js";
import { compact, count, evidencePercent, plural } from "./format.js";

// All eliminations and retirements, oldest first. Only new ones are fetched.
const known = new Map();
export async function departed(name) {
  let found = known.get(name) ?? [];
  for (let next = found.length; next !== null;) {
    const page = await getJson(at(name, `/timeline?limit=1000&after=${next}`));
    found = found.concat(page.departures);
    next = page.next;
  }
  known.set(name, found);
  return found;
}

const nice = (most) => {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, most)));
  const step =
    [0.2, 0.25, 0.5, 1, 2, 5].map((f) => f * unit).find((size) => most / size <= 6 && size >= 1) ?? unit;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, k) => k * step);
};

// A step chart: remaining rankers over duels, on a logarithmic axis.
export function stepChart(
  departures,
  overview,
  { small = false, marks = [], picked = null, onpick = null } = {},
) {
  const room = document.getElementById("main").clientWidth - 2 * 20;
  const width = Math.max(260, small && room > 840 ? room / 2 - 52 : room - 42),
    height = small ? 300 : 400,
    left = 44,
    right = 14,
    top = 14,
    bottom = 42;
  const first = Math.max(1, Math.min(...departures.map((one) => one.resolved)));
  const low = 10 ** Math.floor(Math.log10(first)),
    high = Math.max(overview.resolved, low * 10);
  const x = (resolved) =>
    left +
    ((Math.log10(Math.max(resolved, low)) - Math.log10(low)) / (Math.log10(high) - Math.log10(low))) *
      (width - left - right);
  const y = (n) => top + (1 - n / overview.rankers) * (height - top - bottom);
  let n = overview.rankers,
    path = `M${left} ${y(n).toFixed(1)}`;
  for (const one of departures) {
    path += `H${x(one.resolved).toFixed(1)}V${y(one.left).toFixed(1)}`;
    n = one.left;
  }
  path += `H${x(high).toFixed(1)}`;
  const area = `${path}V${y(0)}H${left}Z`;
  const decades = []; // powers of ten; with few of them, also twice and five times each
  for (let power = Math.round(Math.log10(low)); 10 ** power <= high; power += 1) {
    decades.push(
      ...(high / low < 300 && width > 400 ? [1, 2, 5] : [1])
        .map((step) => step * 10 ** power)
        .filter((tick) => tick <= high),
    );
  }
  const atEdge = (tick) => x(tick) > width - 32;
  const chosen = picked === null ? null : departures[picked];
  const nearest = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const px = ((event.clientX - box.left) / box.width) * width;
    let best = 0;
    departures.forEach((one, k) => {
      if (Math.abs(x(one.resolved) - px) <= Math.abs(x(departures[best].resolved) - px)) best = k;
    });
    return best;
  };
  const keys = { ArrowLeft: -1, ArrowRight: 1, PageUp: 10, PageDown: -10, Home: -1e9, End: 1e9 };
  const label =
    `Rankers remaining over duels: ${overview.rankers} at the start, ` +
    `${overview.rankers_left} after ${count(overview.resolved)} duels`;
  return h(
    "svg",
    {
      class: "chart",
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": label,
      tabindex: onpick ? 0 : null,
      onpointermove: onpick && ((event) => onpick(nearest(event))),
      onkeydown:
        onpick &&
        ((event) => {
          if (!(event.key in keys)) return;
          event.preventDefault();
          onpick(
            Math.min(departures.length - 1, Math.max(0, (picked ?? departures.length) + keys[event.key])),
          );
        }),
    },
    h("path", { class: "area", d: area }),
    nice(overview.rankers).map((tick) => [
      h("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
      h("text", { x: left - 8, y: y(tick) + 4, class: "end" }, count(tick)),
    ]),
    decades.map((tick) => [
      h("line", { class: "grid", x1: x(tick), x2: x(tick), y1: top, y2: height - bottom }),
      h(
        "text",
        {
          x: atEdge(tick) ? width : x(tick),
          y: height - bottom + 17,
          class: atEdge(tick) ? "end" : "middle",
        },
        compact(tick),
      ),
    ]),
    h("text", { x: width - right, y: height - 4, class: "end" }, "duels (logarithmic scale)"),
    marks.map((mark) => [
      h("line", {
        class: `mark ${mark.kind}`,
        x1: x(mark.resolved),
        x2: x(mark.resolved),
        y1: top,
        y2: height - bottom,
      }),
      mark.label
        ? h(
            "text",
            {
              class: x(mark.resolved) > width - 110 ? "mark end" : "mark",
              x: x(mark.resolved) + (x(mark.resolved) > width - 110 ? -5 : 5),
              y: mark.kind === "stage" ? top + 10 + 14 * mark.row : height - bottom - 8 - 14 * mark.row,
            },
            mark.label,
          )
        : null,
    ]),
    h("path", { class: "steps", d: path }),
    small
      ? null
      : departures.length <= 60
        ? departures.map((one) => h("circle", { class: "dot", cx: x(one.resolved), cy: y(one.left), r: 2.2 }))
        : null,
    chosen
      ? [
          h("line", {
            class: "cursor",
            x1: x(chosen.resolved),
            x2: x(chosen.resolved),
            y1: top,
            y2: height - bottom,
          }),
          h("circle", { class: "picked", cx: x(chosen.resolved), cy: y(chosen.left), r: 5 }),
        ]
      : null,
  );
}

// Why a ranker was eliminated: the evidence against it, or a confidence bound. The evidence is in percent of
// the evidence that was enough at that time. If that is unknown, it is 100 %.
export const reason = (one) =>
  one.evidence !== null
    ? evidencePercent(one.enough ? one.evidence / one.enough : 1)
    : one.by
      ? "confidence bound"
      : "–";

export function describe(one) {
  if (one.state === "retired")
    return (
      `${one.ranker} was retired by an operator after ${plural(one.resolved, "duel")}. ` +
      `${plural(one.left, "ranker")} remained.`
    );
  const by = one.by ? ` by ${one.by}` : "";
  const why = `${one.evidence === null ? "" : "evidence against it: "}${reason(one)}`;
  return (
    `${one.ranker} was eliminated${by} at duel ${count(one.resolved)} (${why}). ` +
    `${plural(one.left, "ranker")} remained.`
  );
}

// Horizontal bars with names and numbers.
export function bars(label, rows) {
  const most = Math.max(1, ...rows.map(([, n]) => n));
  return h(
    "div",
    {
      class: "bars",
      role: "img",
      "aria-label": `${label}: ${rows.map(([name, n]) => `${name} ${count(n)}`).join(", ")}`,
    },
    rows.map(([name, n, className]) =>
      h(
        "div",
        { class: `row ${className ?? ""}` },
        h("span", { class: "label" }, name),
        h("span", { class: "track" }, h("span", { class: "fill", style: { width: `${(100 * n) / most}%` } })),
        h("span", { class: "number" }, count(n)),
      ),
    ),
  );
}
