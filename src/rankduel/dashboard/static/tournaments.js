// All tournaments of the storage: search, filter, sort and pages. Their state is in the URL.

import { h } from "./dom.js";
import { getJson, mayChange, page } from "./api.js";
import { left, light, stateOf, status, STATUS } from "./components.js";
import { ago, count, plural, prose } from "./format.js";

const PER_PAGE = 25;
const MAX_PAGE = 40_000; // the service skips at most 1,000,000 tournaments
const TYPING_MS = 250; // after the last letter, the list is searched
const SORTS = {
  name: "Name (A to Z)",
  "-name": "Name (Z to A)",
  status: "Status",
  "-activity": "Latest activity",
  activity: "Oldest activity",
  "-duels": "Most duels",
  duels: "Fewest duels",
};
const CURRENT = "current"; // all tournaments except archived ones

// The state of the list in the URL. Unknown values count as the default.
function wanted({ query }) {
  const [status, sort, page] = ["status", "sort", "page"].map((name) => query.get(name));
  return {
    search: query.get("search") ?? "",
    status: status in STATUS && status !== "failing" ? status : CURRENT,
    sort: sort in SORTS ? sort : "name",
    page: Math.min(MAX_PAGE, Math.max(1, Math.floor(Number(page)) || 1)),
  };
}

function address({ search, status, sort, page }) {
  const query = new URLSearchParams();
  if (search) query.set("search", search);
  if (status !== CURRENT) query.set("status", status);
  if (sort !== "name") query.set("sort", sort);
  if (page > 1) query.set("page", page);
  return query.size ? `/?${query}` : "/";
}

export async function load(route) {
  const { page, ...list } = wanted(route);
  const fetched = (n) =>
    getJson(`/v1/overviews?${new URLSearchParams({ ...list, limit: PER_PAGE, offset: PER_PAGE * (n - 1) })}`);
  const found = await fetched(page);
  const pages = Math.max(1, Math.ceil(found.matching / PER_PAGE));
  return page <= pages ? { ...found, page, pages } : { ...(await fetched(pages)), page: pages, pages };
}

export function view(route, found) {
  const list = wanted(route);
  const known = Object.values(found.by_status).reduce((sum, n) => sum + n, 0);
  const more = mayChange() ? h("a", { class: "button primary", href: "/new" }, "New tournament") : null;
  if (!known && !found.n_broken && !list.search) {
    return h(
      "section",
      { class: "nothing" },
      h("h1", null, "No tournaments yet"),
      h(
        "p",
        null,
        "A tournament finds the best of your rankers from the clicks of your users, and shows them as few " +
          "bad results as possible.",
      ),
      h("p", null, more),
    );
  }
  return h(
    "section",
    { class: "tournaments" },
    h("div", { class: "head" }, h("h1", null, "Tournaments"), more),
    found.broken.map((one) =>
      h(
        "p",
        { class: "notice bad", role: "alert", "data-key": one.name },
        h("strong", null, one.name),
        ` cannot be opened: ${one.reason}. Stop the service and run “rankduel storage verify --repair”.`,
      ),
    ),
    found.n_broken > found.broken.length
      ? h("p", { class: "notice bad" }, `${count(found.n_broken)} tournaments cannot be opened.`)
      : null,
    filters(route, list, found),
    h("p", { class: "quiet", role: "status", id: "found" }, range(list, found)),
    found.tournaments.length ? table(found.tournaments) : null,
    list.status === CURRENT && found.by_status.archived
      ? h(
          "p",
          { class: "quiet" },
          h(
            "a",
            { href: address({ ...list, status: "archived", page: 1 }) },
            `Show ${plural(found.by_status.archived, "archived tournament")}`,
          ),
        )
      : null,
    found.pages > 1 ? pager(list, found) : null,
  );
}

function range(list, { matching, page, tournaments }) {
  if (!matching)
    return list.search ? `No tournament matches “${list.search}”.` : "No tournament has this status.";
  const first = PER_PAGE * (page - 1) + 1;
  if (matching <= PER_PAGE) return plural(matching, "tournament");
  return `Tournaments ${count(first)} to ${count(first + tournaments.length - 1)} of ${count(matching)}`;
}

function filters(route, list, { by_status }) {
  const { state } = route;
  const change = (changes, replace = false) =>
    route.go(address({ ...wanted(route), page: 1, ...changes }), replace);
  const type = (event) => {
    const search = event.target.value;
    clearTimeout(state.typing);
    state.typing = setTimeout(() => {
      state.typing = null;
      change({ search: search.trim() }, Boolean(state.typed)); // one entry of the history for a whole word
      state.typed = true;
    }, TYPING_MS);
  };
  const choice = (id, label, value, options, onchange) => [
    h("label", { for: id }, label),
    h(
      "select",
      { id, value, onchange: (event) => onchange(event.target.value) },
      options.map(([word, text]) => h("option", { value: word }, text)),
    ),
  ];
  const current = Object.entries(by_status).reduce(
    (sum, [word, n]) => sum + (word === "archived" ? 0 : n),
    0,
  );
  return h(
    "form",
    { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
    h("label", { for: "search" }, "Search"),
    h("input", {
      id: "search",
      type: "search",
      value: list.search,
      maxlength: 200,
      placeholder: "Part of a name",
      autocomplete: "off",
      spellcheck: "false",
      oninput: type,
      onblur: () => (state.typed = false),
    }),
    choice(
      "status",
      "Status",
      list.status,
      [
        [CURRENT, `All but archived (${count(current)})`],
        ...Object.entries(STATUS)
          .filter(([word]) => word !== "failing")
          .map(([word, text]) => [word, `${text} (${count(by_status[word] ?? 0)})`]),
      ],
      (status) => change({ status }),
    ),
    choice("sort", "Sort by", list.sort, Object.entries(SORTS), (sort) => change({ sort })),
  );
}

// The search follows the URL, which the back button changes. After another page of the list, begin at its top.
export function after(route, found, main) {
  const { state } = route;
  const { search } = wanted(route);
  const input = main.querySelector("#search");
  if (input && !state.typing && input.value.trim() !== search) input.value = search;
  if (state.page && state.page !== found.page) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
  state.page = found.page;
}

export const leave = (state) => clearTimeout(state.typing);

const table = (tournaments) =>
  h(
    "table",
    { class: "list" },
    h("caption", { class: "hide" }, "Tournaments"),
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        [
          ["Tournament", ""],
          ["Status", ""],
          ["Winner or leader", "wide"],
          ["Rankers left", "number wide"],
          ["Duels", "number"],
          ["Last activity", "wide"],
          ["Health", "wide"],
        ].map(([name, kind]) => h("th", { scope: "col", class: kind }, name)),
      ),
    ),
    h("tbody", null, tournaments.map(row)),
  );

const row = (one) =>
  h(
    "tr",
    { "data-key": one.name },
    h(
      "th",
      { scope: "row" },
      h("a", { href: page(one.name), class: "name" }, one.name),
      h("p", { class: "quiet sentence" }, prose(one.sentence)),
    ),
    h("td", null, status(stateOf(one))),
    h("td", { class: "wide name" }, one.winner ?? one.champion),
    h("td", { class: "number wide" }, left(one)),
    h(
      "td",
      { class: "number" },
      count(one.duels.resolved),
      one.today === null ? null : h("small", null, `${count(one.today)} today`),
    ),
    h("td", { class: "wide quiet" }, ago(one.active)),
    h("td", { class: "wide" }, light(one.light.state)),
  );

const pager = (list, { page, pages }) =>
  h(
    "nav",
    { class: "pager", "aria-label": "Pages of the list" },
    page > 1
      ? h("a", { class: "button", rel: "prev", href: address({ ...list, page: page - 1 }) }, "Previous")
      : null,
    h("span", null, `Page ${count(page)} of ${count(pages)}`),
    page < pages
      ? h("a", { class: "button", rel: "next", href: address({ ...list, page: page + 1 }) }, "Next")
      : null,
  );
