// The latest duels, and one of them in full.

import { h, table } from "./dom.js";
import { at, look, page } from "./api.js";
import { ago, count, date, percent } from "./words.js";

const LIMIT = 25;
const OUTCOME = { first: "first", second: "second", tie: "tie" };
const STATE = { issued: "on its way", shown: "shown", told: "learnt", no_signal: "no signal", expired: "expired", late: "late", void: "void" };

export async function load(place) {
  const after = place.state.after ? `&after=${place.state.after}` : "";
  const [overview, list, one] = await Promise.all([look(at(place.name, "/overview")), look(at(place.name, `/duels?limit=${LIMIT}${after}`)),
    place.item ? look(at(place.name, `/duels/${encodeURIComponent(place.item)}`)) : null]);
  return { overview, list, one };
}

export function view(place, { list, one }) {
  if (!list.duels.length && !place.state.after) return h("section", null, h("h1", null, "Duels"), h("p", { class: "empty" }, "No duel was asked for yet."));
  const turn = (after) => { place.state.after = after; place.refresh(true); };
  return h("section", { class: "duels" }, h("h1", null, "Duels"),
    h("div", { class: "columns uneven" },
      h("div", { class: "panel" },
        h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Latest duels" }, h("table", { class: "list" }, h("caption", { class: "hide" }, "Duels, newest first"),
          h("thead", null, h("tr", null, ["Duel", "First", "Second", "Outcome", "When"].map((name) => h("th", { scope: "col" }, name)))),
          h("tbody", null, list.duels.map((duel) => h("tr", { "data-key": duel.duel, class: duel.duel === place.item ? "chosen" : "" },
            h("th", { scope: "row" }, h("a", { href: page(place.name, `/duels/${duel.duel}`), "aria-current": duel.duel === place.item ? "true" : null }, duel.duel)),
            h("td", { class: duel.outcome === "first" ? "won name" : "name", title: duel.first }, duel.first), h("td", { class: duel.outcome === "second" ? "won name" : "name", title: duel.second }, duel.second),
            h("td", null, duel.state === "told" ? OUTCOME[duel.outcome] : STATE[duel.state]), h("td", { class: "quiet" }, ago(duel.issued))))))),
        h("div", { class: "buttons" }, place.state.after ? h("button", { onclick: () => turn(null) }, "Newest") : null, list.next ? h("button", { onclick: () => turn(list.next) }, "Older") : null)),
      one ? inspector(one) : h("div", { class: "panel quiet" }, "Choose a duel to see its page, what users did on it, and why these two met.")));
}

function inspector(duel) {
  const clicked = new Map();
  for (const signal of duel.signals) if (signal.object !== null) clicked.set(signal.object, [...(clicked.get(signal.object) ?? []), signal.action]);
  return h("article", { class: "panel inspector", "data-key": duel.duel, "aria-label": `Duel ${duel.duel}` },
    h("h2", null, h("span", { class: duel.outcome === "first" ? "first won" : "first" }, duel.first), h("span", { class: "quiet" }, " against "), h("span", { class: duel.outcome === "second" ? "second won" : "second" }, duel.second)),
    h("dl", { class: "facts" }, [["Outcome", duel.outcome ? (duel.outcome === "tie" ? "a tie" : `${duel[duel.outcome]} won`) : "none yet"], ["State", STATE[duel.state]], ["Asked for", date(duel.issued)],
      ["Query", duel.query_id ?? "not named"], ["Expires", date(duel.expires)], duel.propensity ? ["Chances", duel.propensity.map((p) => percent(p, 1)).join(" and ")] : null]
      .filter(Boolean).map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)))),
    h("h3", null, "Why these two met"), h("p", null, duel.why),
    h("h3", null, "The page"), duel.page ? shown(duel, clicked) : h("p", { class: "quiet" }, "The application has told the outcome, not the page. Report pages with show, or tell clicks, to see them here."),
    h("h3", null, "What the user did"),
    duel.signals.length ? table("Signals, in the order of time", [["After", "number"], ["Action", ""], ["Document", ""], ["Position", "number"]],
      duel.signals.map((signal) => [`${Math.max(0, signal.time - duel.issued).toFixed(1)} s`, signal.action, signal.object ?? "–", signal.position ?? "–"]))
      : h("p", { class: "quiet" }, duel.state === "told" ? "No signals were sent: the application has told the outcome itself." : "Nothing was heard yet."));
}

// Who has put a document onto the page, as its method keeps it.
function team({ page }, k) {
  if (page.teams) return page.teams[k] ?? "both";
  if (page.probabilities) return page.probabilities[k] === 0.5 ? "both" : page.probabilities[k] > 0.5 ? "first" : "second";
  if (page.credits) return page.credits[k] === 0 ? "both" : page.credits[k] > 0 ? "first" : "second";
  if (page.places) {
    const [a, b] = page.places[k].map((at) => at ?? Infinity);
    return a === b ? "both" : a < b ? "first" : "second";
  }
  return "both";
}

function shown(duel, clicked) {
  const teams = duel.page.documents.map((_, k) => team(duel, k));
  const list = (side) => h("div", null, h("h4", { class: side }, duel[side]),
    h("ol", { class: "list" }, duel.page.documents.map((name, k) => (teams[k] === side || teams[k] === "both" ? h("li", { value: k + 1, class: teams[k] }, String(name)) : null))));
  return h("div", null,
    h("ol", { class: "page" }, duel.page.documents.map((name, k) => h("li", { class: teams[k] }, h("span", { class: "document" }, String(name)),
      h("span", { class: "team" }, teams[k] === "both" ? "both" : duel[teams[k]]),
      clicked.has(String(name)) ? h("span", { class: "clicked" }, [...new Set(clicked.get(String(name)))].join(", ")) : null))),
    h("details", { class: "as-table" }, h("summary", null, "What each of the two has put there"), h("div", { class: "columns" }, list("first"), list("second")),
      h("p", { class: "quiet" }, `Positions are those on the page, made by ${duel.page.method}. The rest of both lists is not kept.`)));
}
