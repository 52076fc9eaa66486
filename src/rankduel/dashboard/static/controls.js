// The actions of operators: a button for each action that is possible now, and its dialog.

import { h } from "./dom.js";
import { at, call, getJson } from "./api.js";
import { effect, open, Wrong } from "./dialog.js";
import { Fields, numberOf } from "./fields.js";
import { advancedFields, basicFields, changesOf, modelOf, settingsOf } from "./settings.js";

const PREVIEW_MS = 200; // after the last change in a dialog
const MAX_CHOICES = 500; // with more rankers, the name is typed
const ROLLOUT_SHARES = [
  ["5", "5 % of all users"],
  ["50", "50 % of all users"],
  ["100", "All users"],
  ["own", "Another share"],
];
const SIMPLE = {
  start: ["Start", (name) => `Start “${name}”?`],
  pause: ["Pause", (name) => `Pause “${name}”?`],
  roll_back: ["Roll back", (name) => `Roll back “${name}”?`],
  stop: [
    "Stop",
    (name) => `Stop “${name}” for good?`,
    "You cannot start it again. Its results stay available.",
  ],
  archive: [
    "Archive",
    (name) => `Archive “${name}”?`,
    "You cannot start it again. The list of tournaments hides it, and its results stay available.",
  ],
};
const RANKER_ACTIONS = {
  add_rankers: "Add rankers",
  pause_ranker: "Pause a ranker",
  start_ranker: "Start a paused ranker",
  retire: "Retire a ranker for good",
};
const RANKER_VERBS = { pause_ranker: "pause", start_ranker: "start", retire: "retire" };

// The buttons for a tournament. `rankers` are the rows of its leaderboard.
export function controls(route, overview, rankers) {
  const { effects } = overview;
  const button = (action, text, kind, onclick) =>
    action in effects ? h("button", { "data-key": action, class: kind, onclick }, text) : null;
  const simple = (action, kind = "") =>
    button(action, SIMPLE[action][0], kind, () => ask(route, overview, action));
  const rankerActions = Object.keys(RANKER_ACTIONS).filter((action) => action in effects);
  const main = overview.status === "decided" ? "roll_out" : "start";
  return h(
    "section",
    { class: "controls", "aria-label": "Controls" },
    h(
      "div",
      { class: "buttons" },
      simple("start", main === "start" ? "primary" : ""),
      button(
        "roll_out",
        overview.rollout ? "Change the rollout" : "Roll out",
        main === "roll_out" ? "primary" : "",
        () => rollOut(route, overview),
      ),
      simple("roll_back"),
      simple("pause"),
      button("configure", "Settings", "", () => configure(route, overview, rankers)),
      rankerActions.length
        ? h(
            "button",
            { "data-key": "rankers", onclick: () => changeRankers(route, overview, rankers, rankerActions) },
            "Rankers",
          )
        : null,
    ),
    h(
      "div",
      { class: "buttons" },
      simple("stop", "danger"),
      simple("archive"),
      button("delete", "Delete", "danger", () => remove(route, overview)),
    ),
  );
}

const post = (route, path, body) => call("POST", at(route.name, path), body);

async function ask(route, overview, action) {
  const [verb, title, more] = SIMPLE[action];
  const done = await open({
    title: title(route.name),
    parts: () => [effect(overview.effects[action]), more ? h("p", null, more) : null],
    verb: action === "stop" ? "Stop for good" : verb,
    danger: action === "stop",
    run: (reason) => post(route, `:${action.replace("_", "-")}`, { reason }),
  });
  if (done) await route.refresh(true);
}

// The sentence about what users will see after a change, as the service says it. `draw` shows a new one.
function preview(route, first, draw) {
  let asked = "",
    sentence = first,
    timer = null;
  return (change) => {
    const text = JSON.stringify(change);
    if (text !== asked) {
      asked = text;
      clearTimeout(timer);
      timer = setTimeout(async () => {
        try {
          const found = await post(route, ":preview", change);
          if (text === asked) sentence = found.users_see;
        } catch {
          sentence = first; // a value is invalid: the fields say so when the user sends them
        }
        draw();
      }, PREVIEW_MS);
    }
    return effect(sentence);
  };
}

async function rollOut(route, overview) {
  const left = overview.tied.length ? overview.tied : [overview.winner ?? overview.champion];
  const now = overview.rollout && String(Number((100 * overview.rollout.share).toFixed(8)));
  const next = { 5: "50", 50: "100" }[now] ?? (now ? "own" : "5");
  const model = { share: next, own: now ?? "10", ranker: overview.rollout?.ranker ?? left[0] };
  let wrong = {},
    show = null;
  const shareOf = (errors) =>
    numberOf(model.share === "own" ? model.own : model.share, "own", errors, { above: true, max: 100 }) / 100;
  const done = await open({
    title: `Roll out in “${route.name}”`,
    parts: (draw) => {
      const fields = new Fields(model, wrong, draw);
      const share = shareOf({});
      show ??= preview(route, overview.effects.roll_out, draw);
      return [
        left.length > 1
          ? fields.choice(
              "ranker",
              "Ranker",
              left.map((name) => [name, name]),
              "These rankers are tied.",
            )
          : h("p", null, "Ranker: ", h("b", null, model.ranker)),
        h(
          "fieldset",
          { "data-key": "shares" },
          h("legend", null, "Share of all users"),
          ROLLOUT_SHARES.map(([value, text]) =>
            h(
              "label",
              { class: "check", "data-key": value },
              h("input", {
                type: "radio",
                name: "share",
                value,
                checked: model.share === value,
                onchange: () => {
                  model.share = value;
                  draw();
                },
              }),
              text.replace(" %", "\u00a0%"),
            ),
          ),
          model.share === "own" ? fields.number("own", "Share", "%", null, { class: "short" }) : null,
        ),
        h(
          "p",
          { class: "quiet" },
          "A user who sees it at one share also sees it at every larger share. Guardrails stay on.",
        ),
        show({ action: "roll_out", ranker: model.ranker, ...(share ? { share } : {}) }),
      ];
    },
    verb: "Roll out",
    run: (reason) => {
      wrong = {};
      const share = shareOf(wrong);
      if (wrong.own) throw new Wrong(wrong.own, "own");
      return post(route, ":roll-out", { share, ranker: model.ranker, reason });
    },
  });
  if (done) await route.refresh(true);
}

async function configure(route, overview, rankers) {
  const defaults = await getJson("/v1/defaults");
  const names = rankers.map((row) => row.ranker).sort();
  const model = modelOf(overview.settings, defaults);
  const before = settingsOf(modelOf(overview.settings, defaults), {}, null);
  let wrong = {},
    show = null;
  const done = await open({
    title: `Settings of “${route.name}”`,
    wide: true,
    parts: (draw) => {
      const fields = new Fields(model, wrong, draw);
      const changes = changesOf(before, settingsOf(model, {}, null));
      const seen = ["share", "baseline", "external_baseline", "shadow", "after_decision"];
      const visible = Object.fromEntries(Object.entries(changes).filter(([name]) => seen.includes(name)));
      show ??= preview(route, overview.users_see, draw);
      return [
        basicFields(fields, names, overview.settings.baseline === null ? "none: the current champion" : null),
        h(
          "details",
          { class: "advanced", "data-key": "advanced" },
          h("summary", null, "Advanced settings"),
          advancedFields(fields, defaults),
        ),
        show({ action: "configure", ...visible }),
      ];
    },
    verb: "Change settings",
    run: async (reason) => {
      wrong = {};
      const given = settingsOf(model, wrong, names);
      const [first] = Object.keys(wrong);
      if (first) throw new Wrong(wrong[first], first);
      const changes = changesOf(before, given);
      if (!Object.keys(changes).length) throw new Wrong("Nothing is changed yet.");
      await call("PATCH", at(route.name), { ...changes, reason });
    },
  });
  if (done) await route.refresh(true);
}

async function changeRankers(route, overview, rankers, actions) {
  const of = {
    pause_ranker: rankers.filter((row) => ["champion", "left"].includes(row.state)),
    start_ranker: rankers.filter((row) => row.state === "paused"),
    retire: rankers.filter((row) => ["champion", "left", "paused"].includes(row.state)),
  };
  const possible = actions.filter((action) => action === "add_rankers" || of[action].length);
  const model = { action: possible[0], names: "", ranker: "" };
  let wrong = {};
  const done = await open({
    title: `Rankers of “${route.name}”`,
    parts: (draw) => {
      const fields = new Fields(model, wrong, draw);
      const rows = of[model.action] ?? [];
      if (rows.length && !rows.some((row) => row.ranker === model.ranker)) model.ranker = rows[0].ranker;
      return [
        fields.choice(
          "action",
          "Action",
          possible.map((action) => [action, RANKER_ACTIONS[action]]),
        ),
        model.action === "add_rankers"
          ? fields.area("names", "New rankers", "One name per line.", { rows: 4 })
          : rows.length > MAX_CHOICES
            ? fields.text("ranker", "Ranker")
            : fields.choice("ranker", "Ranker", rows.map((row) => [row.ranker, row.ranker]).sort()),
        effect(overview.effects[model.action]),
      ];
    },
    verb: "Change rankers",
    run: async (reason) => {
      wrong = {};
      if (model.action !== "add_rankers") {
        const path = `/rankers/${encodeURIComponent(model.ranker)}:${RANKER_VERBS[model.action]}`;
        return post(route, path, { reason });
      }
      const names = model.names
        .split("\n")
        .map((name) => name.trim())
        .filter(Boolean);
      if (!names.length) {
        wrong.names = "Enter at least one ranker.";
        throw new Wrong(wrong.names, "names");
      }
      return post(route, "/rankers", { rankers: names, reason });
    },
  });
  if (done) await route.refresh(true);
}

async function remove(route, overview) {
  const model = { confirm: "" };
  let wrong = {};
  const done = await open({
    title: `Delete “${route.name}”?`,
    parts: (draw) => [
      effect(overview.effects.delete),
      new Fields(model, wrong, draw).text(
        "confirm",
        "To confirm, type the name of the tournament",
        route.name,
      ),
    ],
    verb: "Delete for good",
    danger: true,
    reason: false,
    run: async () => {
      wrong = {};
      if (model.confirm !== route.name) {
        wrong.confirm = `This is not the name “${route.name}”.`;
        throw new Wrong(wrong.confirm, "confirm");
      }
      await call("DELETE", `${at(route.name)}?${new URLSearchParams({ confirm: model.confirm })}`);
    },
  });
  if (done) route.go("/");
}
