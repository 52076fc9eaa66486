// Form fields: label, input, help and error. They write what the user types into a model.

import { h } from "./dom.js";

// Fields of a form. `model` has the texts and choices by name, `wrong` the errors by name, `draw` shows the form again.
export class Fields {
  constructor(model, wrong, draw) {
    Object.assign(this, { model, wrong, draw });
  }

  // The attributes that all inputs have.
  props(name, more = {}) {
    const wrong = this.wrong[name];
    return {
      id: name,
      name,
      "aria-describedby": [wrong && `${name}-wrong`, `${name}-help`].filter(Boolean).join(" "),
      "aria-invalid": wrong ? "true" : null,
      ...more,
    };
  }

  field(name, label, input, help = null) {
    return h(
      "div",
      { class: "field", "data-key": name },
      h("label", { for: name }, label),
      input,
      help ? h("p", { class: "quiet", id: `${name}-help` }, help) : null,
      this.error(name),
    );
  }

  error(name) {
    return this.wrong[name] ? h("p", { class: "wrong", id: `${name}-wrong` }, this.wrong[name]) : null;
  }

  typed(name, more) {
    const { model, draw } = this;
    return this.props(name, {
      value: model[name],
      autocomplete: "off",
      spellcheck: "false",
      oninput: (event) => {
        model[name] = event.target.value;
        draw();
      },
      ...more,
    });
  }

  text(name, label, help, more = {}) {
    return this.field(name, label, h("input", this.typed(name, { maxlength: 200, ...more })), help);
  }

  // A number with its unit, such as a percentage.
  number(name, label, unit, help, more = {}) {
    const input = h("input", this.typed(name, { inputmode: "decimal", ...more }));
    return this.field(
      name,
      label,
      h("span", { class: "unit" }, input, unit ? h("span", null, unit) : null),
      help,
    );
  }

  area(name, label, help, more = {}) {
    return this.field(name, label, h("textarea", this.typed(name, more)), help);
  }

  choice(name, label, options, help) {
    const { model, draw } = this;
    const onchange = (event) => {
      model[name] = event.target.value;
      draw();
    };
    const made = options.map(([value, text]) => h("option", { value, "data-key": value }, text));
    return this.field(
      name,
      label,
      h("select", this.props(name, { value: model[name], onchange }), made),
      help,
    );
  }

  check(name, label, help) {
    const { model, draw } = this;
    const onchange = (event) => {
      model[name] = event.target.checked;
      draw();
    };
    return h(
      "div",
      { class: "field", "data-key": name },
      h(
        "label",
        { class: "check" },
        h("input", this.props(name, { type: "checkbox", checked: model[name], onchange })),
        label,
      ),
      help ? h("p", { class: "quiet", id: `${name}-help` }, help) : null,
    );
  }

  // A list of rows, each with short fields, that the user can add and remove.
  rows(name, title, help, columns, blank, verb) {
    const { model, draw } = this;
    const rows = model[name];
    return h(
      "fieldset",
      { "data-key": name },
      h("legend", null, title),
      h("p", { class: "quiet" }, help),
      rows.map((row, index) => {
        const part = new Fields(row, this.wrong, draw);
        return h(
          "div",
          { class: "row", "data-key": row.key, role: "group", "aria-label": `${title} ${index + 1}` },
          columns.map(([column, label, unit, more]) => {
            const id = `${name}-${row.key}-${column}`;
            const input = h("input", { ...part.typed(column, more), ...this.props(id), name: id });
            return this.field(
              id,
              label,
              unit ? h("span", { class: "unit" }, input, h("span", null, unit)) : input,
            );
          }),
          h(
            "button",
            {
              type: "button",
              class: "plain",
              "aria-label": `Remove ${title} ${index + 1}`,
              onclick: () => {
                rows.splice(index, 1);
                draw();
              },
            },
            "Remove",
          ),
        );
      }),
      this.error(name),
      h(
        "button",
        {
          type: "button",
          onclick: () => {
            rows.push(keyed(blank));
            draw();
          },
        },
        verb,
      ),
    );
  }
}

let lastKey = 0;
// A row of a list with a key that stays when other rows are removed.
export const keyed = (row) => ({ ...row, key: (lastKey += 1) });

// Read a number that a user has typed. An error goes to `wrong[name]`. `empty` is the value of an empty text.
export function numberOf(
  text,
  name,
  wrong,
  { min = 0, max = Infinity, above = false, whole = false, empty } = {},
) {
  const trimmed = String(text).trim();
  if (!trimmed && empty !== undefined) return empty;
  const n = Number(trimmed.replace(",", "."));
  const fits = trimmed && Number.isFinite(n) && (above ? n > min : n >= min) && n <= max;
  if (fits && (!whole || Number.isInteger(n))) return n;
  const kind = whole ? "a whole number" : "a number";
  if (max === Infinity) wrong[name] = `Enter ${kind} ${above ? "above" : "of at least"} ${min}.`;
  else
    wrong[name] = `Enter ${kind} ${above ? "above" : "from"} ${min} ${above ? "and at most" : "to"} ${max}.`;
  return undefined;
}

// A share as a percentage that a user can edit.
export const percentText = (share) => String(Number((100 * share).toFixed(8)));
