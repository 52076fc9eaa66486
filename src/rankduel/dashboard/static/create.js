// A form to create a tournament.

import { h } from "./dom.js";
import { call, mayChange, page } from "./api.js";
import { notice } from "./components.js";
import { plural } from "./format.js";

const BANDITS = [
  ["CertifiedSparring", "CertifiedSparring: a decision with a guarantee (recommended)"],
  ["MergeDTS", "MergeDTS: the algorithm of the paper, for many rankers"],
  ["MergeRUCB", "MergeRUCB: batches and confidence bounds"],
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
      h("h1", null, "Your key is read-only"),
      h("p", null, "To create a tournament, sign in with a key that has the scope admin."),
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
        "The name that your application uses, such as home-search.",
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
        `One name per line. Your application runs the rankers, rankduel knows only their names. ` +
          `${state.count ? `Now ${plural(state.count, "ranker")}.` : ""}`,
      ),
      field(
        "baseline",
        "Baseline",
        h("input", inputProps("baseline", { maxlength: 200, autocomplete: "off" })),
        "The ranker that users see without a duel, such as during a pause. Default: the champion.",
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
            "confidence",
            "Confidence of the decision",
            h(
              "select",
              inputProps("confidence", { value: "0.05" }),
              [
                ["0.1", "90 %"],
                ["0.05", "95 %"],
                ["0.01", "99 %"],
                ["0.001", "99.9 %"],
              ].map(([value, text]) => h("option", { value }, text)),
            ),
            "At 95\u00a0%, the best ranker is eliminated by mistake with a probability of at most 5\u00a0%.",
          )
        : null,
      bandit === "CertifiedSparring"
        ? field(
            "tolerance",
            "Tolerance for ties",
            h(
              "select",
              inputProps("tolerance", { value: "" }),
              [
                ["", "none: continue until one ranker is left"],
                ["0.01", "1 %: rankers that win 49 to 51 % against each other are tied"],
                ["0.02", "2 %: rankers that win 48 to 52 % against each other are tied"],
                ["0.05", "5 %: rankers that win 45 to 55 % against each other are tied"],
              ].map(([value, text]) => h("option", { value }, text)),
            ),
            "Without a tolerance, rankers that are almost equal meet without end.",
          )
        : null,
      field(
        "share",
        "Traffic share, in %",
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
        "Other users see the baseline. You can change the share at any time.",
      ),
      field(
        "interleaving",
        "Interleaving",
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
  if (!form.name.value.trim()) state.wrong.name = "Enter a name.";
  if (rankers.length < 2) state.wrong.rankers = "Enter at least two rankers.";
  else if (twice) state.wrong.rankers = `“${twice}” is listed twice.`;
  if (form.share.value === "" || !(share >= 0 && share <= 100))
    state.wrong.share = "Enter a number from 0 to 100.";
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
  if (form.confidence) {
    body.delta = Number(form.confidence.value);
    if (form.tolerance.value) body.tolerance = Number(form.tolerance.value);
  } else body.bandit = form.bandit.value;
  try {
    await call("POST", "/v1/tournaments", body);
    route.go(page(body.name));
  } catch (error) {
    state.problem =
      error.type === "tournament-exists"
        ? "A tournament with this name already exists, with other settings."
        : `${error.title}. ${error.message}`;
    route.redraw();
  }
}
