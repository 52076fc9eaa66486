// A form for a new tournament.

import { h } from "./dom.js";
import { call, mayChange, page } from "./api.js";
import { notice } from "./components.js";
import { plural } from "./format.js";

const BANDITS = [
  ["CertifiedSparring", "CertifiedSparring: ends with a guarantee (recommended)"],
  ["MergeDTS", "MergeDTS: the literature's choice for many rankers"],
  ["MergeRUCB", "MergeRUCB: batches with confidence bounds"],
  ["Uniform", "Uniform: all pairs equally often"],
];
const PAGES = [
  ["team_draft", "Team draft"],
  ["balanced", "Balanced"],
  ["probabilistic", "Probabilistic"],
];

export function view(route) {
  if (!mayChange()) {
    return h(
      "section",
      { class: "nothing" },
      h("h1", null, "Your key may only look"),
      h("p", null, "A new tournament needs a key with the scope admin."),
      h("p", null, h("a", { href: "/" }, "All tournaments")),
    );
  }
  const { state } = route;
  const bandit = state.bandit ?? "CertifiedSparring";
  const field = (id, label, input, help) =>
    h(
      "div",
      { class: "field" },
      h("label", { for: id }, label),
      input,
      help ? h("p", { class: "quiet", id: `${id}-help` }, help) : null,
      state.wrong?.[id] ? h("p", { class: "wrong", id: `${id}-wrong` }, state.wrong[id]) : null,
    );
  const inputProps = (id, more = {}) => ({
    id,
    name: id,
    "aria-describedby": [state.wrong?.[id] && `${id}-wrong`, `${id}-help`].filter(Boolean).join(" "),
    "aria-invalid": state.wrong?.[id] ? "true" : null,
    ...more,
  });

  return h(
    "section",
    { class: "form" },
    h("h1", null, "New tournament"),
    notice(state.problem),
    h(
      "form",
      { onsubmit: (event) => submit(event, route), novalidate: true },
      field(
        "name",
        "Name",
        h("input", inputProps("name", { maxlength: 200, autocomplete: "off", required: true })),
        "What applications ask for, such as home-search.",
      ),
      field(
        "rankers",
        "Rankers",
        h(
          "textarea",
          inputProps("rankers", {
            rows: 8,
            spellcheck: "false",
            required: true,
            oninput: (event) => counted(event, route),
          }),
        ),
        `One name on each line. Applications know what they stand for; rankduel never opens them. ` +
          `${state.count ? `Now ${plural(state.count, "ranker")}.` : ""}`,
      ),
      field(
        "baseline",
        "Baseline",
        h("input", inputProps("baseline", { maxlength: 200, autocomplete: "off" })),
        "What users see where there is no duel: while it is paused, or outside the share. Empty: whoever leads.",
      ),
      field(
        "bandit",
        "Algorithm",
        h(
          "select",
          inputProps("bandit", {
            value: bandit,
            onchange: (event) => {
              state.bandit = event.target.value;
              route.redraw();
            },
          }),
          BANDITS.map(([value, text]) => h("option", { value }, text)),
        ),
        null,
      ),
      bandit === "CertifiedSparring"
        ? field(
            "certainty",
            "Certainty of the decision",
            h(
              "select",
              inputProps("certainty", { value: "0.05" }),
              [
                ["0.1", "90 %"],
                ["0.05", "95 %"],
                ["0.01", "99 %"],
                ["0.001", "99.9 %"],
              ].map(([value, text]) => h("option", { value }, text)),
            ),
            "The best ranker is dropped by mistake with at most the chance that is left.",
          )
        : null,
      bandit === "CertifiedSparring"
        ? field(
            "tolerance",
            "End with a tie within",
            h(
              "select",
              inputProps("tolerance", { value: "" }),
              [
                ["", "never: go on until one is left"],
                ["0.01", "1 % of even"],
                ["0.02", "2 % of even"],
                ["0.05", "5 % of even"],
              ].map(([value, text]) => h("option", { value }, text)),
            ),
            "Rankers that are nearly the same would meet for ever otherwise.",
          )
        : null,
      field(
        "share",
        "Share of the traffic, in %",
        h(
          "input",
          inputProps("share", {
            type: "number",
            min: 0,
            max: 100,
            step: "any",
            value: "100",
            inputmode: "decimal",
          }),
        ),
        "Other users see the baseline. It can be changed at any time.",
      ),
      field(
        "interleaving",
        "Pages are made by",
        h(
          "select",
          inputProps("interleaving", { value: "team_draft" }),
          PAGES.map(([value, text]) => h("option", { value }, text)),
        ),
        null,
      ),
      h(
        "div",
        { class: "buttons" },
        h("a", { class: "button", href: "/" }, "Cancel"),
        h("button", { class: "primary", type: "submit" }, "Create tournament"),
      ),
    ),
  );
}

const names = (text) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

function counted(event, route) {
  const n = names(event.target.value).length;
  if (n !== route.state.count) {
    route.state.count = n;
    route.redraw();
  }
}

async function submit(event, route) {
  event.preventDefault();
  const { state } = route;
  const form = event.target.elements;
  const rankers = names(form.rankers.value);
  const share = Number(form.share.value);
  const twice = rankers.find((name, at) => rankers.indexOf(name) !== at);
  state.wrong = {};
  state.problem = null;
  if (!form.name.value.trim()) state.wrong.name = "A tournament needs a name.";
  if (rankers.length < 2) state.wrong.rankers = "It takes two rankers at least.";
  else if (twice) state.wrong.rankers = `“${twice}” is there twice.`;
  if (form.share.value === "" || !(share >= 0 && share <= 100)) state.wrong.share = "A number from 0 to 100.";
  const [first] = Object.keys(state.wrong);
  if (first) {
    route.redraw();
    form[first].focus();
    return;
  }
  const body = {
    name: form.name.value.trim(),
    rankers,
    interleaving: form.interleaving.value,
    share: share / 100,
  };
  if (form.baseline.value.trim()) body.baseline = form.baseline.value.trim();
  if (form.certainty) {
    body.delta = Number(form.certainty.value);
    if (form.tolerance.value) body.tolerance = Number(form.tolerance.value);
  } else body.bandit = form.bandit.value;
  try {
    await call("POST", "/v1/tournaments", body);
    route.go(page(body.name));
  } catch (error) {
    state.problem =
      error.type === "tournament-exists"
        ? "There is a tournament of this name already, with other settings."
        : `${error.title}. ${error.message}`;
    route.redraw();
  }
}
