// Dialogs, all of one design. The keyboard stays inside, Escape closes, and the focus returns to where it was.

import { h, patch } from "./dom.js";
import { Problem } from "./api.js";
import { notice, quoted } from "./components.js";

// An error that a dialog or a form shows: at a field if `field` is its name.
export class Wrong extends Error {
  constructor(message, field = null) {
    super(message);
    this.field = field;
  }
}

// Open a dialog. Resolves to true as soon as `run` has succeeded, and to false if the user cancels.
//
// `parts(draw)` returns the content, and calls `draw` to show it again. `run(reason)` does the work. If it fails, the
// dialog stays open and shows the error. `reason` is false for an action that the audit log cannot keep.
export function open({ title, parts, verb, danger = false, wide = false, reason = true, run }) {
  return new Promise((resolve) => {
    const opener = document.activeElement;
    const form = h("form", { method: "dialog", novalidate: true });
    const dialog = h("dialog", { "aria-labelledby": "dialog-title", class: wide ? "wide" : "" }, form);
    let problem = null,
      busy = false,
      done = false;
    const draw = () =>
      patch(
        form,
        h("h2", { id: "dialog-title" }, title),
        parts(draw),
        reason ? h("label", { for: "reason" }, "Reason for the audit log (optional)") : null,
        reason ? h("input", { id: "reason", name: "reason", maxlength: 1000, autocomplete: "off" }) : null,
        notice(problem),
        h(
          "div",
          { class: "buttons" },
          h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
          h("button", { type: "submit", class: danger ? "danger" : "primary", disabled: busy }, verb),
        ),
      );
    form.onsubmit = async (event) => {
      event.preventDefault();
      if (busy) return;
      busy = true;
      problem = null;
      draw();
      try {
        await run(form.elements.reason?.value.trim());
        done = true;
        dialog.close();
      } catch (error) {
        if (error instanceof Wrong) problem = error.field ? null : error.message;
        else if (error instanceof Problem) problem = `${error.title}. ${error.message}`;
        else throw error;
      } finally {
        busy = false;
        draw();
        if (!done) form.querySelector('[aria-invalid="true"]')?.focus();
      }
    };
    dialog.onclose = () => {
      dialog.remove();
      (opener?.isConnected ? opener : document.getElementById("main")).focus({ preventScroll: true });
      resolve(done);
    };
    document.body.append(dialog);
    draw();
    dialog.showModal();
  });
}

// The sentence about what users will see after an action.
export const effect = (sentence) =>
  h(
    "div",
    { class: "effect", role: "status" },
    h("strong", null, "What users will see next"),
    h("p", null, quoted(sentence)),
  );
