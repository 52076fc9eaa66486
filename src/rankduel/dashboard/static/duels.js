// The latest duels, and an inspector for one of them.

import { h, table } from "./dom.js";
import { at, getJson, page } from "./api.js";
import { evidence, EVIDENCE_HELP, interval, rankerStateText } from "./components.js";
import { ago, count, date, percent, plural } from "./format.js";

const LIMIT = 25;
const DUEL_ID = /^[0-9]+-[0-9]+$/;
const OPEN = ["issued", "shown"];
const STATE = {
  issued: "in flight",
  shown: "shown",
  resolved: "resolved",
  no_signal: "no signal",
  expired: "expired",
  late: "late",
  void: "void",
  failed: "failed",
};
const NO_PAGE =
  "The application reported the outcome, but not the page. To see pages here, report them with show, " +
  "or tell clicks instead of outcomes.";
const REMOVED =
  "The page was removed by retention, or because its client was erased. The outcome still counts.";

const detail = (name, id) => getJson(at(name, `/duels/${encodeURIComponent(id)}`));

export async function load(route) {
  const after = route.state.after ? `&after=${route.state.after}` : "";
  const wanted = route.query.get("find")?.trim();
  const [overview, list, one] = await Promise.all([
    getJson(at(route.name, "/overview")),
    getJson(at(route.name, `/duels?limit=${LIMIT}${after}`)),
    route.item ? detail(route.name, route.item) : wanted ? find(route.name, wanted) : null,
  ]);
  return { overview, list, one, missed: wanted && !route.item && !one ? wanted : null };
}

// Find a duel by its own id or by the id of its query. Null if there is none.
async function find(name, text) {
  if (DUEL_ID.test(text)) {
    try {
      return await detail(name, text);
    } catch (error) {
      if (error.type !== "unknown-duel") throw error;
    }
  }
  const { duels } = await getJson(at(name, `/duels?${new URLSearchParams({ query_id: text })}`));
  return duels.length ? detail(name, duels[0].duel) : null;
}

// A form to find a duel. The text is in the URL, so that you can send a link.
const finder = (route, missed) =>
  h(
    "form",
    {
      class: "finder",
      role: "search",
      onsubmit: (event) => {
        event.preventDefault();
        const text = event.target.elements.find.value.trim();
        const query = text ? `?${new URLSearchParams({ find: text })}` : "";
        route.go(page(route.name, `/duels${query}`));
      },
    },
    h("label", { for: "find" }, "Find a duel by query id or duel id"),
    h("input", {
      id: "find",
      name: "find",
      type: "search",
      value: route.query.get("find") ?? "",
      maxlength: 200,
      autocomplete: "off",
      spellcheck: "false",
    }),
    h("button", { type: "submit" }, "Find"),
    h(
      "p",
      { class: missed ? "notice warning" : "hide", role: "status" },
      missed
        ? `No duel for “${missed}”. The query may have been served without a duel (outside the traffic share, ` +
            "over a cap, or during a pause), or retention has removed its id."
        : null,
    ),
  );

export function view(route, { list, one, missed }) {
  if (!list.duels.length && !route.state.after)
    return h("section", null, h("h1", null, "Duels"), h("p", { class: "empty" }, "No duels yet."));
  const turn = (after) => {
    route.state.after = after;
    route.refresh(true);
  };
  return h(
    "section",
    { class: one ? "duels split" : "duels" },
    h("h1", null, "Duels"),
    finder(route, missed),
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
                ["Duel", "First", "Second", "Outcome", one ? null : "Issued"]
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
                  { "data-key": duel.duel, class: duel.duel === one?.duel ? "chosen" : "" },
                  h(
                    "th",
                    { scope: "row" },
                    h(
                      "a",
                      {
                        href: page(route.name, `/duels/${duel.duel}`),
                        "aria-current": duel.duel === one?.duel ? "true" : null,
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
            "Select a duel to see both result lists, the page, the clicks, and why these two rankers met.",
          ),
    ),
  );
}

// Scroll to the inspector of a selected duel, if it is below the list.
export function after(route, { one }, main) {
  const text = main.querySelector("#find");
  if (text && route.state.find !== location.search) text.value = route.query.get("find") ?? "";
  route.state.find = location.search;
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
          duel.outcome
            ? duel.outcome === "tie"
              ? "tie"
              : `${duel[duel.outcome]} won`
            : OPEN.includes(duel.state)
              ? "none yet"
              : "none",
        ],
        ["State", STATE[duel.state]],
        duel.failure ? ["Could not be resolved", duel.failure] : null,
        ["Issued", date(duel.issued)],
        ["Query", duel.query_id ?? "without an id"],
        OPEN.includes(duel.state) ? ["Expires", date(duel.expires)] : null,
        duel.propensity
          ? ["Selection probabilities", duel.propensity.map((p) => percent(p, 1)).join(" and ")]
          : null,
      ]
        .filter(Boolean)
        .map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))),
    ),
    h("h3", null, "Result lists and page"),
    duel.page ? shown(duel, done) : h("p", { class: "quiet" }, duel.removed ? REMOVED : NO_PAGE),
    h("h3", null, "User actions"),
    did(duel),
    h("h3", null, "Why these two rankers met"),
    h("p", null, duel.why),
    duel.known ? known(duel) : null,
    h("p", { class: "quiet rule" }, "How the algorithm chooses: ", duel.rule),
  );
}

function did(duel) {
  if (duel.signals.length) {
    return table(
      "Signals in order of time",
      [
        ["Time after ask", "number"],
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
    duel.clicks === null ? null : duel.clicks.length ? `Clicked on ${duel.clicks.join(", ")}.` : "No clicks.";
  return h("p", { class: told ? "" : "quiet" }, told ?? withoutActions(duel));
}

function withoutActions(duel) {
  if (duel.removed) return "User actions were removed with the page.";
  if (duel.state === "resolved") return "No signals: the application reported the outcome itself.";
  return OPEN.includes(duel.state) ? "No signals yet." : "No signals.";
}

// The records of both rankers when the duel was issued.
function known({ known: then, ...duel }) {
  const met = then.wins + then.losses + then.ties;
  return table(
    `Both rankers when this duel was issued, after ${plural(then.resolved, "outcome")}`,
    [
      ["Ranker", "name"],
      ["Position", "number"],
      ["Decisive wins", "number"],
      ["95 % interval", "wide"],
      ["Evidence against", "bar", EVIDENCE_HELP],
      ["Head to head", "number"],
    ],
    ["first", "second"].map((side) => [
      h("span", { class: side }, duel[side]),
      then[`${side}_place`] <= then.rankers_left
        ? `${count(then[`${side}_place`])} of ${count(then.rankers_left)}`
        : rankerStateText(then[side].state),
      percent(then[side].win_share, 1),
      interval(then[side]),
      evidence(then[side]),
      `${count(side === "first" ? then.wins : then.losses)} of ${count(met)}`,
    ]),
    "then",
  );
}

// The side that placed a document on the page, from the data of the interleaving method.
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

// The page between the two lists. The colour of a document shows which ranker placed it on the page.
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
      : h("p", { class: "quiet" }, "An empty page: there were no results."),
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
            h("span", { class: "team" }, k < 0 ? "not shown" : `position ${k + 1}`),
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
        `Built by ${duel.page.method}. The application did not send the two result lists. To see them here, ` +
          `add them to the page as lists, as duel.interleave does.`,
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
      `The top ${count(Math.max(first.length, second.length))} of each list, and the page that ` +
        `${duel.page.method} built from them. The bar of a document has the colour of the ranker that placed ` +
        `it on the page. Grey: both rankers.`,
    ),
  );
}
