// All tournaments of the storage.

import { h } from "./dom.js";
import { getJson, mayChange, page } from "./api.js";
import { left, light, stateOf, status } from "./components.js";
import { count, prose } from "./format.js";

export const load = () => getJson("/v1/overviews");

export function view(route, { tournaments, broken }) {
  const more = mayChange() ? h("a", { class: "button primary", href: "/new" }, "New tournament") : null;
  if (!tournaments.length && !broken.length) {
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
    null,
    h("div", { class: "head" }, h("h1", null, "Tournaments"), more),
    broken.map((one) =>
      h(
        "p",
        { class: "notice bad", role: "alert", "data-key": one.name },
        h("strong", null, one.name),
        ` cannot be opened: ${one.reason}. Stop the service and run “rankduel storage verify --repair”.`,
      ),
    ),
    h("ul", { class: "cards" }, tournaments.map(card)),
  );
}

const card = (one) =>
  h(
    "li",
    { "data-key": one.name, class: "card" },
    h(
      "div",
      { class: "head" },
      h("h2", null, h("a", { href: page(one.name) }, one.name)),
      status(stateOf(one)),
    ),
    h("p", { class: "sentence" }, prose(one.sentence)),
    h(
      "div",
      { class: "meter", role: "img", "aria-label": `${left(one)} rankers remaining` },
      h("span", { style: { width: `${(100 * one.rankers_left) / one.rankers}%` } }),
    ),
    h(
      "dl",
      { class: "facts" },
      h(
        "div",
        null,
        h("dt", null, one.winner ? "Winner" : "Champion"),
        h("dd", { class: "name" }, one.winner ?? one.champion),
      ),
      h("div", null, h("dt", null, "Rankers remaining"), h("dd", null, left(one))),
      h(
        "div",
        null,
        h("dt", null, "Duels today"),
        h("dd", null, one.today === null ? "–" : count(one.today)),
      ),
      h("div", null, h("dt", null, "Duels"), h("dd", null, count(one.resolved))),
      h("div", null, h("dt", null, "Health"), h("dd", null, light(one.light.state))),
    ),
  );
