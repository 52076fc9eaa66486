// Where a tournament stands, and its controls.

import { asTable, h } from "./dom.js";
import { at, call, getJson, mayChange, page } from "./api.js";
import { confirm, evidence, figure, interval, isDecided, light, notice } from "./components.js";
import { stepChart, departed } from "./chart.js";
import { about, algorithm, compact, count, date, percent, plural, prose, share, span } from "./format.js";

const SHOWN = 8;

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
  const best = standings.rankers.slice(0, SHOWN);
  return h(
    "div",
    { class: "overview" },
    h("h1", { class: "sentence", id: "sentence" }, prose(overview.sentence)),
    notice(route.state.problem),
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
    h(
      "dl",
      { class: "figures" },
      figure("Rankers left", count(overview.rankers_left), `of ${count(overview.rankers)}`),
      figure(
        "Duels",
        compact(overview.resolved),
        overview.today === null ? null : `${count(overview.today)} today`,
      ),
      figure("To a decision", forecast(overview), range(overview)),
      figure("Harm so far", harm(overview.harm), overview.harm ? `against ${overview.harm.against}` : null),
      figure(
        "Certainty",
        overview.certainty === null ? "none" : share(overview.certainty),
        overview.certainty === null ? "is promised" : "at any time you look",
      ),
    ),
    mayChange() ? controls(route, overview) : null,
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
            : h("p", { class: "quiet" }, "Nobody has been dropped yet."),
          departures.length
            ? asTable(
                "Last rankers that were dropped",
                [
                  ["Ranker", ""],
                  ["At duel", "number"],
                  ["Left", "number"],
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
            h("h2", null, "In the lead"),
            h("a", { href: page(route.name, "/leaderboard") }, "Leaderboard"),
          ),
          h(
            "table",
            { class: "lead" },
            h("caption", { class: "hide" }, "The best rankers now"),
            h(
              "thead",
              null,
              h(
                "tr",
                null,
                ["Ranker", "Wins", h("span", { class: "hide" }, "95 % interval"), "Evidence"].map(
                  (name, column) =>
                    h("th", { scope: "col", class: ["", "number", "wide", "bar"][column] }, name),
                ),
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
                  h("td", { class: "number" }, percent(line.rate, 1)),
                  h("td", { class: "wide" }, interval(line)),
                  h("td", { class: "bar" }, evidence(line, standings.enough)),
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

// What an application does, where none has done it yet.
const beginning = (route) =>
  h(
    "section",
    { class: "panel", "data-key": "beginning" },
    h("h2", null, "How to begin"),
    h(
      "p",
      null,
      "Your application asks which two rankers should meet, shows one page made of both lists, and tells who won:",
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
    h("p", { class: "quiet" }, "This page changes by itself with the first outcome."),
  );

function forecast({ forecast: made, resolved, status, ...overview }) {
  if (isDecided(overview)) return "decided";
  if (status === "stopped") return "stopped";
  if (overview.light.state === "bad") return "–";
  if (!overview.ends) return "no end";
  if (!made) return resolved ? "…" : "–";
  return made.duels === null ? "not in sight" : `≈ ${about(made.duels)}`;
}

function range({ forecast: made, ends, light: { state }, ...overview }) {
  if (!ends && !isDecided(overview) && overview.status !== "stopped") return "this algorithm plays on";
  if (state === "bad" || !made || made.duels === null || !made.duels) return null;
  return made.runs > 1 ? `duels; ${about(made.least)} to ${about(made.most)}` : "duels";
}

function harm(made) {
  if (!made) return "–";
  const size = percent(Math.abs(made.per_page), 1);
  return made.per_page > 0.0005 ? `${size} worse` : made.per_page < -0.0005 ? `${size} better` : "none";
}

function facts(overview) {
  const { settings } = overview;
  return [
    ["Begun", overview.begun === null ? "–" : date(overview.begun)],
    ["Algorithm", algorithm(settings.bandit)],
    ["Baseline", settings.baseline ?? "none: the champion"],
    ["Pages", settings.interleaving],
    ["Traffic share", share(settings.share)],
    ["A duel expires after", span(settings.expires_after)],
    ["Duels of a client a day", settings.daily_cap ?? "no bound"],
    [
      "Duels in flight",
      settings.in_flight_cap === null
        ? `${count(overview.duels.in_flight)}, no bound`
        : `${count(overview.duels.in_flight)} of ${count(settings.in_flight_cap)}`,
    ],
    ["Shadow", settings.shadow ? "yes: no duel is shown" : "no"],
    ["Guardrails", settings.guardrails.length ? plural(settings.guardrails.length, "guardrail") : "none"],
  ];
}

function controls(route, overview) {
  if (overview.status === "stopped") return null;
  const now = String(Number((100 * overview.settings.share).toFixed(2)));
  return h(
    "section",
    { class: "controls", "aria-label": "Controls" },
    isDecided(overview)
      ? h("p", { class: "quiet" }, "It is decided: users see the winner, whatever the share.")
      : h(
          "form",
          { class: "share", onsubmit: (event) => setShare(event, route) },
          h("label", { for: "share" }, "Traffic share"),
          h(
            "span",
            { class: "unit" },
            h("input", {
              id: "share",
              name: "share",
              type: "number",
              min: 0,
              max: 100,
              step: "any",
              "data-key": now,
              value: now,
              inputmode: "decimal",
              required: true,
            }),
            h("span", null, "%"),
          ),
          h("button", { type: "submit" }, "Set share"),
        ),
    h(
      "div",
      { class: "buttons" },
      isDecided(overview)
        ? null
        : overview.status === "paused"
          ? h(
              "button",
              {
                "data-key": "start",
                class: "primary",
                onclick: () =>
                  act(
                    route,
                    "start",
                    "Start again?",
                    "Duels are handed out again, to the same share of the traffic.",
                    "Start",
                  ),
              },
              "Start",
            )
          : h(
              "button",
              {
                "data-key": "pause",
                onclick: () =>
                  act(
                    route,
                    "pause",
                    "Pause this tournament?",
                    "No more duels until it is started again: users see the baseline. What is in flight " +
                      "can still be told.",
                    "Pause",
                  ),
              },
              "Pause",
            ),
      h(
        "button",
        {
          class: "danger",
          onclick: () =>
            act(
              route,
              "stop",
              `Stop “${route.name}” for good?`,
              "It cannot be started again. What was learnt stays, and can be looked at.",
              "Stop for good",
              true,
            ),
        },
        "Stop",
      ),
    ),
  );
}

async function act(route, verb, title, text, button, danger = false) {
  const reason = await confirm(title, text, button, danger);
  if (reason !== null) await change(route, () => call("POST", at(route.name, `:${verb}`), { reason }));
}

async function setShare(event, route) {
  event.preventDefault();
  const percentage = Number(event.target.elements.share.value);
  const reason = await confirm(
    `Let ${percentage} % of the traffic take part?`,
    "Others see the baseline. A user who takes part at a share takes part at every larger one.",
    "Set share",
  );
  if (reason !== null)
    await change(route, () => call("PATCH", at(route.name), { share: percentage / 100, reason }));
}

async function change(route, run) {
  route.state.problem = null;
  try {
    await run();
  } catch (error) {
    route.state.problem = `${error.title}. ${error.message}`;
  }
  await route.refresh(true);
}
