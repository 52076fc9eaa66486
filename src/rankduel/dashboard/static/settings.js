// The settings that a new tournament and a running one share: as form fields, and from form fields.

import { keyed, numberOf, percentText } from "./fields.js";

const EXTERNAL = "\texternal"; // the choice of a baseline that is no ranker; no name has a tab
const MAX_CHOICES = 500; // with more rankers, the baseline is typed
const AFTER = [
  ["winner", "the winner"],
  ["baseline", "the baseline"],
  ["compare", "duels of the winner against the baseline, to check the decision"],
];
const RULES = [
  ["skip", "learn nothing"],
  ["half", "count a tie"],
  ["coin", "toss a coin"],
];
const MINUTE = 60;

// The texts and choices of a form for given settings.
export function modelOf(settings, defaults) {
  const rules = settings.attribution ?? defaults.attribution;
  return {
    share: percentText(settings.share),
    baseline: settings.external_baseline ? EXTERNAL : (settings.baseline ?? ""),
    external: settings.external_baseline ? settings.baseline : "",
    after_decision: settings.after_decision,
    shadow: settings.shadow,
    daily_cap: String(settings.daily_cap ?? ""),
    in_flight_cap: String(settings.in_flight_cap ?? ""),
    guardrails: settings.guardrails.map((rail) =>
      keyed({
        action: rail.action,
        bound: percentText(rail.bound),
        window: String(rail.window / MINUTE),
        minimum: String(rail.minimum),
      }),
    ),
    actions: Object.entries(rules.actions).map(([action, weight]) =>
      keyed({ action, weight: String(weight) }),
    ),
    window: String(rules.window / MINUTE),
    dwell: String(rules.dwell),
    tie: rules.tie,
    no_click: rules.no_click,
  };
}

// Read the settings from a form. Errors go to `wrong`.
export function settingsOf(model, wrong, rankers) {
  const share = numberOf(model.share, "share", wrong, { max: 100 });
  const external = model.baseline === EXTERNAL;
  const baseline = external ? model.external.trim() : model.baseline;
  if (external && !baseline) wrong.external = "Enter the name of the baseline.";
  else if (!external && baseline && rankers && !rankers.includes(baseline))
    wrong.baseline = `“${baseline}” is not one of the rankers.`;
  return {
    share: share / 100,
    baseline: baseline || null,
    external_baseline: external,
    after_decision: model.after_decision,
    shadow: model.shadow,
    daily_cap: numberOf(model.daily_cap, "daily_cap", wrong, { whole: true, empty: null }),
    in_flight_cap: numberOf(model.in_flight_cap, "in_flight_cap", wrong, { whole: true, empty: null }),
    guardrails: model.guardrails.map((row) => guardrailOf(row, wrong)),
    attribution: attributionOf(model, wrong),
  };
}

function guardrailOf(row, wrong) {
  const id = (column) => `guardrails-${row.key}-${column}`;
  if (!row.action.trim()) wrong[id("action")] = "Enter an action.";
  return {
    action: row.action.trim(),
    bound: numberOf(row.bound, id("bound"), wrong, { max: 99.9 }) / 100,
    window: MINUTE * numberOf(row.window, id("window"), wrong, { above: true, max: 43200 }),
    minimum: numberOf(row.minimum, id("minimum"), wrong, { min: 1, whole: true }),
  };
}

function attributionOf(model, wrong) {
  const actions = {};
  for (const row of model.actions) {
    const id = (column) => `actions-${row.key}-${column}`;
    const action = row.action.trim();
    if (!action) wrong[id("action")] = "Enter an action.";
    else if (action in actions) wrong[id("action")] = "This action is listed twice.";
    actions[action] = numberOf(row.weight, id("weight"), wrong, { max: 1e6 });
  }
  if (!Object.values(actions).some((weight) => weight > 0))
    wrong.actions = "Give at least one action a weight above 0.";
  return {
    actions,
    window: MINUTE * numberOf(model.window, "window", wrong, { above: true }),
    dwell: numberOf(model.dwell, "dwell", wrong),
    tie: model.tie,
    no_click: model.no_click,
  };
}

// The settings that differ between two results of `settingsOf`.
export function changesOf(before, after) {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  );
}

// The settings that every operator should know. `unset` is the text for no baseline; null if there must be one.
export function basicFields(fields, rankers, unset) {
  return [
    fields.number("share", "Traffic share", "%", "Requests outside of it always get the baseline.", {
      class: "short",
    }),
    baselineField(fields, rankers, unset),
    fields.choice(
      "after_decision",
      "After a decision, requests in the traffic share get",
      AFTER,
      "Requests outside of it still get the baseline, until you roll out the winner.",
    ),
  ];
}

function baselineField(fields, rankers, unset) {
  const { model } = fields;
  const help = "The ranker that users see without a duel, such as during a pause.";
  const other =
    model.baseline === EXTERNAL
      ? fields.text("external", "Name of the external baseline", "Your application shows this ranker itself.")
      : null;
  if (rankers.length > MAX_CHOICES) return [fields.text("baseline", "Baseline", help), other];
  const options = [
    ...(unset === null ? [] : [["", unset]]),
    ...rankers.map((name) => [name, name]),
    [EXTERNAL, "external: not one of the rankers"],
  ];
  return [fields.choice("baseline", "Baseline", options, help), other];
}

// The other settings.
export function advancedFields(fields, defaults) {
  return [
    fields.check(
      "shadow",
      "Dry run",
      "Duels are chosen and logged, but users see the baseline. Use it to test your integration.",
    ),
    fields.number("daily_cap", "Daily cap per client", "duels", "Empty: no cap.", { class: "short" }),
    fields.number("in_flight_cap", "Cap on duels in flight", "duels", "Empty: no cap.", { class: "short" }),
    fields.rows(
      "guardrails",
      "Guardrails",
      "A guardrail pauses the tournament when too large a share of the pages has an unwanted action, such as an error.",
      [
        ["action", "Action", null, { maxlength: 200 }],
        ["bound", "At most", "%", { inputmode: "decimal" }],
        ["window", "Window", "minutes", { inputmode: "decimal" }],
        ["minimum", "Not before", "pages", { inputmode: "numeric" }],
      ],
      {
        action: "",
        bound: "",
        window: String(defaults.guardrail_window / MINUTE),
        minimum: String(defaults.guardrail_minimum),
      },
      "Add a guardrail",
    ),
    fields.rows(
      "actions",
      "Attribution",
      "These user actions decide a duel: the ranker with the larger sum of weights wins. Applications that report " +
        "outcomes themselves do not need them.",
      [
        ["action", "Action", null, { maxlength: 200 }],
        ["weight", "Weight", null, { inputmode: "decimal" }],
      ],
      { action: "", weight: "1" },
      "Add an action",
    ),
    fields.number("window", "Actions count for", "minutes", "After the request.", { class: "short" }),
    fields.number("dwell", "Minimum time on a document", "seconds", "Shorter visits do not count.", {
      class: "short",
    }),
    fields.choice("tie", "If both sums are equal", RULES),
    fields.choice("no_click", "Without any action", RULES),
  ];
}
