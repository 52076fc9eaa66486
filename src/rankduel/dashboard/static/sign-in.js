// Sign in with an API key.

import { h } from "./dom.js";
import { signIn } from "./api.js";
import { notice } from "./components.js";

const WHY = {
  "session-over": "Your session has ended, or its key was revoked. Sign in again to continue.",
  "signed-out": "You are signed out.",
  "wrong-key": "Unknown or revoked key. Copy the whole key, starting with rd_.",
  "wrong-scope": "This key cannot view tournaments. Use a key with the scope read or admin.",
  "too-many-wrong-keys": "Too many wrong keys from your address. Wait a minute, then try again.",
  "no-answer": "The server does not answer. Check that it is running.",
  empty: "Enter a key.",
};

export function view(route) {
  const asked = new URLSearchParams(location.search);
  const why = route.state.why ?? asked.get("why");
  const wrong = route.state.why !== undefined;
  const then = asked.get("then");

  async function submit(event) {
    event.preventDefault();
    const field = event.target.elements.key;
    const key = field.value.trim();
    try {
      if (!key) throw { type: "empty" };
      await signIn(key);
      field.value = "";
      route.go(then?.startsWith("/") && !then.startsWith("//") ? then : "/", true);
    } catch (error) {
      route.state.why = error.type;
      route.state.text = error.message;
      route.redraw();
      field.focus();
      field.select();
    }
  }

  return h(
    "section",
    { class: "sign-in" },
    h("h1", null, "Sign in"),
    notice(why && why !== "no-key" ? (WHY[why] ?? route.state.text) : null, wrong ? "bad" : "info"),
    h(
      "form",
      { onsubmit: submit, novalidate: true },
      h("label", { for: "key" }, "API key"),
      h("input", {
        id: "key",
        name: "key",
        type: "password",
        autocomplete: "current-password",
        spellcheck: "false",
        "aria-describedby": "key-help",
        "aria-invalid": wrong ? "true" : null,
        autofocus: true,
      }),
      h(
        "p",
        { id: "key-help", class: "quiet" },
        "A key starts with rd_. Create one on the server with ",
        h("code", null, "rankduel keys create"),
        ". This browser does not store the key. You get a session of some hours instead.",
      ),
      h("button", { class: "primary", type: "submit" }, "Sign in"),
    ),
  );
}

export const after = (route, data, main) => {
  if (!route.state.focused) main.querySelector("#key")?.focus();
  route.state.focused = true;
};
