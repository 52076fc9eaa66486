// A form to create a tournament. It has every setting of the API. The defaults come from the service.

import { h } from "./dom.js";
import { call, getJson, mayChange, page, Problem } from "./api.js";
import { notice, quoted } from "./components.js";
import { Fields, numberOf } from "./fields.js";
import { plural } from "./format.js";
import { advancedFields, basicFields, changesOf, modelOf, settingsOf } from "./settings.js";

const HOUR = 3600;
const CONFIDENCES = [
  ["0.1", "90 %"],
  ["0.05", "95 %"],
  ["0.01", "99 %"],
  ["0.001", "99.9 %"],
];
const TOLERANCES = [
  ["", "none: continue until one ranker is left"],
  ["0.01", "1 %: rankers that win 49 to 51 % against each other are tied"],
  ["0.02", "2 %: rankers that win 48 to 52 % against each other are tied"],
  ["0.05", "5 %: rankers that win 45 to 55 % against each other are tied"],
];
const MAX_SHOWN_ERRORS = 500; // characters of an answer

export async function load(route) {
  if (route.data || !mayChange()) return route.data ?? {};
  const [defaults, algorithms] = await Promise.all([getJson("/v1/defaults"), getJson("/v1/algorithms")]);
  return { defaults, algorithms };
}

function newModel({ defaults, algorithms }) {
  return {
    ...modelOf(defaults, defaults),
    name: "",
    rankers: "",
    draft: defaults.draft,
    bandit: defaults.bandit,
    delta: String(defaults.delta),
    tolerance: String(defaults.tolerance ?? ""),
    interleaving: defaults.interleaving,
    expires_after: String(defaults.expires_after / HOUR),
    seed: "",
    ...Object.fromEntries(
      [...algorithms.bandits, ...algorithms.interleavings].flatMap(({ name, options }) =>
        options.map((option) => [`${name}.${option.name}`, ""]),
      ),
    ),
  };
}

export function view(route, data) {
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
  state.model ??= newModel(data);
  state.wrong ??= {};
  const { model } = state;
  const fields = new Fields(model, state.wrong, route.redraw);
  const rankers = names(model.rankers);
  const guaranteed = model.bandit === data.defaults.bandit; // the default bandit has its own fields
  return h(
    "section",
    { class: "form" },
    h("h1", null, "New tournament"),
    h(
      "form",
      { onsubmit: (event) => submit(event, route, data), novalidate: true },
      fields.text("name", "Name", "The name that your application uses, such as home-search.", {
        required: true,
      }),
      fields.area(
        "rankers",
        "Rankers",
        "One name per line. Your application runs the rankers, rankduel knows only their names. " +
          (rankers.length ? `Now ${plural(rankers.length, "ranker")}.` : ""),
        { rows: 6, required: true },
      ),
      guaranteed
        ? [
            fields.choice(
              "delta",
              "Confidence of the decision",
              CONFIDENCES,
              "At 95\u00a0%, the best ranker is eliminated by mistake with a probability of at most 5\u00a0%.",
            ),
            fields.choice(
              "tolerance",
              "Tolerance for ties",
              TOLERANCES,
              "Without a tolerance, rankers that are almost equal meet without end.",
            ),
          ]
        : null,
      basicFields(fields, rankers, rankers.length ? `${rankers[0]}: the first ranker` : "the first ranker"),
      fields.check(
        "draft",
        "Create a draft",
        "A draft issues no duels. All users see the baseline until you start it.",
      ),
      h(
        "details",
        { class: "advanced", "data-key": "advanced" },
        h("summary", null, "Advanced settings"),
        fields.choice(
          "bandit",
          "Algorithm",
          data.algorithms.bandits.map(({ name }) => [
            name,
            name === data.defaults.bandit ? `${name} (recommended)` : name,
          ]),
          summaryOf(data.algorithms.bandits, model.bandit),
        ),
        guaranteed ? null : optionFields(fields, data.algorithms.bandits, model.bandit),
        fields.choice(
          "interleaving",
          "Interleaving",
          data.algorithms.interleavings.map(({ name }) => [name, name]),
          summaryOf(data.algorithms.interleavings, model.interleaving),
        ),
        optionFields(fields, data.algorithms.interleavings, model.interleaving),
        fields.number("expires_after", "Duels expire after", "hours", "Later outcomes do not count.", {
          class: "short",
        }),
        advancedFields(fields, data.defaults),
        fields.number(
          "seed",
          "Seed of the random numbers",
          null,
          "Empty: a fresh one. Set it only for tests.",
        ),
      ),
      notice(state.problem),
      h(
        "div",
        { class: "buttons" },
        h("a", { class: "button", href: "/" }, "Cancel"),
        h("button", { class: "primary", type: "submit" }, "Create tournament"),
      ),
    ),
  );
}

const summaryOf = (algorithms, name) => quoted(algorithms.find((one) => one.name === name).summary);
const optionsOf = (algorithms, name) => algorithms.find((one) => one.name === name).options;

const optionFields = (fields, algorithms, name) =>
  optionsOf(algorithms, name).map((option) =>
    fields.text(
      `${name}.${option.name}`,
      `Option ${option.name}`,
      option.about ? quoted(option.about) : null,
      {
        placeholder: option.default === null ? "none" : String(option.default),
      },
    ),
  );

// The options of an algorithm that the user has set.
function givenOptions(model, algorithms, name) {
  const given = {};
  for (const option of optionsOf(algorithms, name)) {
    const text = model[`${name}.${option.name}`].trim();
    if (text) given[option.name] = Number.isFinite(Number(text)) ? Number(text) : text;
  }
  return given;
}

const names = (text) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

function bodyOf(model, wrong, { defaults, algorithms }) {
  const rankers = names(model.rankers);
  const twice = rankers.find((name, at) => rankers.indexOf(name) !== at);
  if (!model.name.trim()) wrong.name = "Enter a name.";
  if (rankers.length < 2) wrong.rankers = "Enter at least two rankers.";
  else if (twice) wrong.rankers = `“${twice}” is listed twice.`;
  const given = settingsOf(model, wrong, rankers);
  const usual = settingsOf(modelOf(defaults, defaults), {}, null);
  const body = { name: model.name.trim(), rankers, draft: model.draft, ...changesOf(usual, given) };
  if (model.bandit === defaults.bandit) {
    body.delta = Number(model.delta);
    if (model.tolerance) body.tolerance = Number(model.tolerance);
  } else {
    body.bandit = model.bandit;
    const options = givenOptions(model, algorithms.bandits, model.bandit);
    if (Object.keys(options).length) body.parameters = options;
  }
  const method = Object.entries(givenOptions(model, algorithms.interleavings, model.interleaving));
  const options = method.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(", ");
  body.interleaving = options ? `${model.interleaving}(${options})` : model.interleaving;
  body.expires_after = HOUR * numberOf(model.expires_after, "expires_after", wrong, { above: true });
  const seed = numberOf(model.seed, "seed", wrong, { whole: true, empty: null });
  if (seed !== null) body.seed = seed;
  return body;
}

async function submit(event, route, data) {
  event.preventDefault();
  const { state } = route;
  state.wrong = {};
  state.problem = null;
  const body = bodyOf(state.model, state.wrong, data);
  if (!Object.keys(state.wrong).length) {
    try {
      await call("POST", "/v1/tournaments", body);
      return route.go(page(body.name));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refused(error, state);
    }
  }
  route.redraw();
  const first = document.querySelector('.form [aria-invalid="true"]');
  const details = document.querySelector(".form details.advanced");
  if (first && details.contains(first)) details.open = true;
  first?.focus();
  return undefined;
}

// Show an error of the server at its field, or above the button.
function refused(error, state) {
  const text = `${error.title}. ${error.message}`.slice(0, MAX_SHOWN_ERRORS);
  const field = fieldOf(error, Object.keys(state.model));
  if (error.type === "tournament-exists")
    state.wrong.name = "A tournament with this name already exists, with other settings.";
  else if (field) state.wrong[field] = error.message;
  else state.problem = text;
}

// The field that an error of the server names, by its path or at the start of its text.
function fieldOf({ details, message }, fields) {
  const path = /^\$\.(\w+)/.exec(details.at ?? "")?.[1];
  const word = /^(?:the )?(\w+)/.exec(message)?.[1];
  const option = fields.find((name) => name.endsWith(`.${word}`));
  return [path, word].find((name) => fields.includes(name)) ?? option ?? null;
}
