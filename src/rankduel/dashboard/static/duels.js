// The latest duels, and one of them in full.

import { h, table } from "./dom.js";
import { at, getJson, page } from "./api.js";
import { evidence, interval } from "./components.js";
import { ago, count, date, percent, plural } from "./format.js";

const LIMIT = 25;
const OPEN = ["issued", "shown"];
const STATE = {
  issued: "on its way",
  shown: "shown",
  resolved: "resolved",
  no_signal: "no signal",
  expired: "expired",
  late: "late",
  void: "void",
  failed: "failed",
};

export async function load(route) {
  const after = route.state.after ? `&after=${route.state.after}` : "";
  const [overview, list, one] = await Promise.all([
    getJson(at(route.name, "/overview")),
    getJson(at(route.name, `/duels?limit=${LIMIT}${after}`)),
    route.item ? getJson(at(route.name, `/duels/${encodeURIComponent(route.item)}`)) : null,
  ]);
  return { overview, list, one };
}

export function view(route, { list, one }) {
  if (!list.duels.length && !route.state.after)
    return h(
      "section",
      null,
      h("h1", null, "Duels"),
      h("p", { class: "empty" }, "No duel was asked for yet."),
    );
  const turn = (after) => {
    route.state.after = after;
    route.refresh(true);
  };
  return h(
    "section",
    { class: one ? "duels beside" : "duels" },
    h("h1", null, "Duels"),
    h(
      "div",
      { class: "columns" },
      h(
        "div",
        { class: "panel" },
        h(
          "div",
          { class: "scroll", tabindex: 0, role: "region", "aria-label": "Latest duels" },
          h(
            "table",
            { class: "list" },
            h("caption", { class: "hide" }, "Duels, newest first"),
            h(
              "thead",
              null,
              h(
                "tr",
                null,
                ["Duel", "First", "Second", "Outcome", one ? null : "When"]
                  .filter(Boolean)
                  .map((name) => h("th", { scope: "col" }, name)),
              ),
            ),
            h(
              "tbody",
              null,
              list.duels.map((duel) =>
                h(
                  "tr",
                  { "data-key": duel.duel, class: duel.duel === route.item ? "chosen" : "" },
                  h(
                    "th",
                    { scope: "row" },
                    h(
                      "a",
                      {
                        href: page(route.name, `/duels/${duel.duel}`),
                        "aria-current": duel.duel === route.item ? "true" : null,
                      },
                      duel.duel,
                    ),
                  ),
                  h(
                    "td",
                    { class: duel.outcome === "first" ? "won name" : "name", title: duel.first },
                    duel.first,
                  ),
                  h(
                    "td",
                    { class: duel.outcome === "second" ? "won name" : "name", title: duel.second },
                    duel.second,
                  ),
                  h("td", { class: "outcome" }, duel.state === "resolved" ? duel.outcome : STATE[duel.state]),
                  one ? null : h("td", { class: "quiet" }, ago(duel.issued)),
                ),
              ),
            ),
          ),
        ),
        h(
          "div",
          { class: "buttons" },
          route.state.after ? h("button", { onclick: () => turn(null) }, "Newest") : null,
          list.next ? h("button", { onclick: () => turn(list.next) }, "Older") : null,
        ),
      ),
      one
        ? inspector(one)
        : h(
            "p",
            { class: "quiet hint" },
            "Choose a duel to see both lists, the page, what users did on it, and why these two met.",
          ),
    ),
  );
}

// A duel that was chosen comes into sight, where it is not beside the list.
export function after(route, { one }, main) {
  if (!one || route.state.seen === one.duel) return;
  route.state.seen = one.duel;
  main.querySelector(".inspector").scrollIntoView({ block: "nearest" });
}

function inspector(duel) {
  const done = new Map((duel.clicks ?? []).map((name) => [String(name), new Set(["click"])])); // by document
  for (const signal of duel.signals)
    if (signal.object !== null)
      done.set(signal.object, (done.get(signal.object) ?? new Set()).add(signal.action));
  return h(
    "article",
    { class: "panel inspector", "data-key": duel.duel, "aria-label": `Duel ${duel.duel}` },
    h(
      "h2",
      null,
      h("span", { class: duel.outcome === "first" ? "first won" : "first" }, duel.first),
      h("span", { class: "quiet" }, " against "),
      h("span", { class: duel.outcome === "second" ? "second won" : "second" }, duel.second),
    ),
    h(
      "dl",
      { class: "facts" },
      [
        [
          "Outcome",
          duel.outcome ? (duel.outcome === "tie" ? "a tie" : `${duel[duel.outcome]} won`) : "none yet",
        ],
        ["State", STATE[duel.state]],
        duel.failure ? ["Could not be resolved", duel.failure] : null,
        ["Asked for", date(duel.issued)],
        ["Query", duel.query_id ?? "not named"],
        OPEN.includes(duel.state) ? ["Expires", date(duel.expires)] : null,
        duel.propensity ? ["Chances", duel.propensity.map((p) => percent(p, 1)).join(" and ")] : null,
      ]
        .filter(Boolean)
        .map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))),
    ),
    h("h3", null, "Both lists, and the page of them"),
    duel.page
      ? shown(duel, done)
      : h(
          "p",
          { class: "quiet" },
          "The application has told the outcome, not the page. Report pages with show, or tell clicks, " +
            "to see them here.",
        ),
    h("h3", null, "What the user did"),
    did(duel),
    h("h3", null, "Why these two met"),
    h("p", null, duel.why),
    duel.known ? known(duel) : null,
    h("p", { class: "quiet rule" }, "How the algorithm chooses: ", duel.rule),
  );
}

function did(duel) {
  if (duel.signals.length) {
    return table(
      "Signals, in the order of time",
      [
        ["After", "number"],
        ["Action", ""],
        ["Document", ""],
        ["Position", "number"],
      ],
      duel.signals.map((signal) => [
        `${Math.max(0, signal.time - duel.issued).toFixed(1)} s`,
        signal.action,
        signal.object ?? "–",
        signal.position ?? "–",
      ]),
    );
  }
  const told =
    duel.clicks === null
      ? null
      : duel.clicks.length
        ? `Clicked on ${duel.clicks.join(", ")}.`
        : "Clicked on nothing.";
  return h(
    "p",
    { class: told ? "" : "quiet" },
    told ??
      (duel.state === "resolved"
        ? "No signals were sent: the application has told the outcome itself."
        : "Nothing was heard yet."),
  );
}

// The two as they stood when the duel was asked for.
function known({ known: then, ...duel }) {
  const met = then.wins + then.losses + then.ties;
  return table(
    `The two after ${plural(then.resolved, "outcome")}, when this duel was asked for`,
    [
      ["Ranker", "name"],
      ["Place", "number"],
      ["Wins", "number"],
      ["95 % interval", "wide"],
      ["Evidence against", "bar"],
      ["Of each other", "number"],
    ],
    ["first", "second"].map((side) => [
      h("span", { class: side }, duel[side]),
      `${count(then[`${side}_place`])} of ${count(then.rankers_left)}`,
      percent(then[side].rate, 1),
      interval(then[side]),
      evidence(then[side], then.enough),
      `${count(side === "first" ? then.wins : then.losses)} of ${count(met)}`,
    ]),
    "then",
  );
}

// Who has put a document onto the page, as its method keeps it.
function team({ page }, k) {
  if (page.teams) return page.teams[k] ?? "both";
  if (page.probabilities)
    return page.probabilities[k] === 0.5 ? "both" : page.probabilities[k] > 0.5 ? "first" : "second";
  if (page.credits) return page.credits[k] === 0 ? "both" : page.credits[k] > 0 ? "first" : "second";
  if (page.places) {
    const [a, b] = page.places[k].map((at) => at ?? Infinity);
    return a === b ? "both" : a < b ? "first" : "second";
  }
  return "both";
}

// The page between the two lists; a document has the colour of who has put it onto the page.
function shown(duel, done) {
  const documents = duel.page.documents.map(String);
  const teams = documents.map((_, k) => team(duel, k));
  const marks = (name) =>
    done.has(name) ? h("span", { class: "clicked" }, [...done.get(name)].join(", ")) : null;
  const page = h(
    "div",
    { class: "shown" },
    h("h4", null, "The page"),
    documents.length
      ? h(
          "ol",
          { class: "page" },
          documents.map((name, k) =>
            h(
              "li",
              { class: teams[k] },
              h("span", { class: "document" }, name),
              h("span", { class: "team" }, teams[k] === "both" ? "both" : duel[teams[k]]),
              marks(name),
            ),
          ),
        )
      : h("p", { class: "quiet" }, "Nothing was found: an empty page."),
  );
  const list = (side, names) =>
    h(
      "div",
      { class: `of-${side}` },
      h("h4", { class: side, title: duel[side] }, duel[side]),
      h(
        "ol",
        { class: "page" },
        names.map((name) => {
          const k = documents.indexOf(name);
          return h(
            "li",
            { class: k < 0 ? "absent" : teams[k] },
            h("span", { class: "document" }, name),
            h("span", { class: "team" }, k < 0 ? "not shown" : `place ${k + 1}`),
            marks(name),
          );
        }),
      ),
    );
  if (!duel.page.lists) {
    return h(
      "div",
      null,
      page,
      h(
        "p",
        { class: "quiet" },
        `Made by ${duel.page.method}. The application has not sent the two lists: put them into the page ` +
          `as lists, as duel.interleave does.`,
      ),
    );
  }
  const [first, second] = duel.page.lists.map((names) => names.map(String));
  return h(
    "div",
    null,
    h("div", { class: "lists" }, list("first", first), page, list("second", second)),
    h(
      "p",
      { class: "quiet" },
      `The best ${count(Math.max(first.length, second.length))} of each list, and the page that ` +
        `${duel.page.method} made of them. The bar of a document has the colour of the ranker that put it ` +
        `there; grey is both, or not shown.`,
    ),
  );
}
