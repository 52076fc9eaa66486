// The batches in which rankers meet.

import { h } from "./dom.js";
import { at, getJson, page } from "./api.js";
import { count, plural } from "./format.js";

const MAX_NAMES = 60; // shown per batch

export async function load(route) {
  const [overview, made] = await Promise.all([
    getJson(at(route.name, "/overview")),
    getJson(at(route.name, "/batches")),
  ]);
  return { overview, made };
}

export function view(route, { made }) {
  const note = made.divided
    ? `In ${made.bandit}, rankers meet only within their batch. Each time the number of rankers has halved, ` +
      `small batches are merged with large ones.`
    : `${made.bandit} has no batches: all remaining rankers may meet.`;
  return h(
    "section",
    null,
    h("h1", null, "Batches"),
    h("p", { class: "lead-in" }, note),
    h(
      "ul",
      { class: made.divided ? "cards narrow" : "cards" },
      made.batches.map((batch, k) =>
        h(
          "li",
          { class: "card batch" },
          h(
            "div",
            { class: "head" },
            h("h2", null, made.divided ? `Batch ${k + 1}` : "Remaining rankers"),
            h("span", { class: "quiet" }, plural(batch.rankers.length, "ranker")),
          ),
          h(
            "p",
            { class: "champion" },
            h("span", { class: "quiet" }, "Champion "),
            h("b", { class: "name" }, batch.champion),
          ),
          h(
            "ul",
            { class: "names" },
            batch.rankers.slice(1, MAX_NAMES).map((name) => h("li", null, name)),
            batch.rankers.length > MAX_NAMES
              ? h(
                  "li",
                  { class: "quiet" },
                  h(
                    "a",
                    { href: page(route.name, "/leaderboard") },
                    `and ${count(batch.rankers.length - MAX_NAMES)} more`,
                  ),
                )
              : null,
          ),
        ),
      ),
    ),
  );
}
