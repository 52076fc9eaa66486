// The application: routing, the header and the session.

import { h, patch } from "./dom.js";
import { forget, page as at, mayChange, Problem, session, signOut, whoAmI } from "./api.js";
import * as tournaments from "./tournaments.js";
import * as create from "./create.js";
import * as signing from "./sign-in.js";
import * as overview from "./overview.js";
import * as timeline from "./timeline.js";
import * as leaderboard from "./leaderboard.js";
import * as preferences from "./preferences.js";
import * as batches from "./batches.js";
import * as duels from "./duels.js";
import * as health from "./health.js";
import * as decision from "./decision.js";
import { stateOf, status } from "./components.js";
import { isLive, watch } from "./live.js";

const TABS = [
  ["", "Overview", overview],
  ["timeline", "Timeline", timeline],
  ["leaderboard", "Leaderboard", leaderboard],
  ["preferences", "Preferences", preferences],
  ["batches", "Batches", batches],
  ["duels", "Duels", duels],
  ["health", "Health", health],
  ["decision", "Decision", decision],
];
const MIN_REFRESH_MS = 1000; // between two refreshes
const AWAY = [0, 502, 503, 504]; // the server, or a proxy in front of it, does not answer
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

const bar = document.getElementById("bar");
const banner = document.getElementById("banner");
const main = document.getElementById("main");
let here = null; // the current page: { module, title, tab, name, item, query, state, data, ... }
let timer = null;
let lastRefresh = 0;
let updated = null; // when the data of a page was last loaded
let trouble = null; // why it cannot be loaded
let waiting = null;
let resized = 0;

// Routing

function find(path) {
  const parts = path.split("/").slice(1).map(decodeURIComponent);
  if (path === "/") return { module: tournaments, title: "Tournaments" };
  if (path === "/new") return { module: create, title: "New tournament" };
  if (path === "/sign-in") return { module: signing, title: "Sign in" };
  const tab = parts[0] === "t" && TABS.find(([word]) => word === (parts[2] ?? ""));
  return tab
    ? { module: tab[2], title: `${tab[1]} · ${parts[1]}`, tab: tab[0], name: parts[1], item: parts[3] }
    : null;
}

export function go(path, replace = false) {
  history[replace ? "replaceState" : "pushState"](null, "", path);
  show();
}

async function show() {
  const found = find(location.pathname);
  const samePage = here && found && here.module === found.module && here.name === found.name;
  const before = here;
  if (here && !samePage) here.module.leave?.(here.state);
  here = found && {
    ...found,
    query: new URLSearchParams(location.search),
    state: samePage ? before.state : {},
    data: samePage ? before.data : null,
    go,
    refresh,
    redraw,
  };
  if (!samePage) {
    document.title = found ? `${found.title} · rankduel` : "Not found · rankduel";
    lastRefresh = 0;
    drawHeader();
  }
  watch(streamOf(here), refresh, drawBanner);
  if (!found) return showMessage("Page not found", "The address is outdated or mistyped.");
  if (!samePage && main.firstChild && before) main.classList.add("waiting");
  await refresh(true);
  main.classList.remove("waiting");
  main.querySelector(".tabs [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
  if (!samePage && before) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
}

// Load the data of the page again and redraw it. Only one refresh runs at a time.
export async function refresh(now = false) {
  if (waiting) {
    waiting.again = true;
    return waiting.promise;
  }
  clearTimeout(timer);
  const wait = Math.max(0, lastRefresh + (here?.module.every ?? MIN_REFRESH_MS) - Date.now());
  if (!now && wait) {
    timer = setTimeout(() => refresh(true), wait);
    return undefined;
  }
  lastRefresh = Date.now();
  const route = here;
  waiting = { again: false };
  waiting.promise = run(route);
  await waiting.promise;
  const { again } = waiting;
  waiting = null;
  if (route !== here) return refresh(true);
  if (again) return refresh();
  return undefined;
}

async function run(route) {
  try {
    const data = route.module.load ? await route.module.load(route) : {};
    if (route !== here) return;
    route.data = data;
    if (route.name) {
      route.status = stateOf(data.overview);
      drawHeader();
    }
    redraw();
    updated = new Date();
    setTrouble(null);
  } catch (error) {
    if (route === here) failed(error, route);
  }
}

// Draw the page again from its last data.
function redraw() {
  if (!here?.data) return;
  patch(main, here.name ? tabs(here) : null, here.module.view(here, here.data));
  here.module.after?.(here, here.data, main);
}

function failed(error, route) {
  if (!(error instanceof Problem)) {
    console.error(error);
    return showMessage("Error on this page", String(error));
  }
  if (error.status === 401) {
    // The cookie has expired, or its key was revoked.
    const why = session.name === null ? error.type : "session-over";
    forget();
    return go(`/sign-in?then=${encodeURIComponent(location.pathname + location.search)}&why=${why}`, true);
  }
  if (error.type === "broken-tournament")
    return showMessage(`“${route.name}” cannot be opened`, error.message);
  if (AWAY.includes(error.status)) {
    const who = error.type === "storage" ? "The storage" : "The server";
    setTrouble(`${who} does not answer.${route.data ? " This page may be outdated." : ""}`);
    if (!route.data)
      showMessage(`${who} does not answer`, "This page appears as soon as it answers.", { route });
    timer = setTimeout(() => refresh(true), 2000);
    return undefined;
  }
  if (error.type === "unknown-tournament") {
    watch(null, refresh, drawBanner); // there are no changes to wait for
    return showMessage(
      `Unknown tournament “${route.name}”`,
      "Check the name. The tournament may also be in another storage.",
    );
  }
  if (error.type === "unknown-duel")
    return showMessage("Unknown duel", "It may belong to another tournament.", {
      route,
      link: h("a", { href: at(route.name, "/duels") }, "Latest duels"),
    });
  if (error.type === "wrong-scope")
    return showMessage("Your key has no access", "Sign in with a key that has the scope read or admin.");
  return showMessage(error.title, error.message);
}

// Show a message instead of a page, below the tabs if `route` is a page of a tournament.
function showMessage(title, text, { route = null, link = h("a", { href: "/" }, "All tournaments") } = {}) {
  document.title = `${title} · rankduel`;
  patch(
    main,
    route?.name ? tabs(route) : null,
    h("section", { class: "nothing" }, h("h1", null, title), h("p", null, text), h("p", null, link)),
  );
}

// The header

function drawHeader() {
  const signedIn = session.name !== null;
  patch(
    bar,
    h(
      "a",
      { class: "mark", href: "/", "aria-label": "rankduel: all tournaments" },
      h("span", { "aria-hidden": "true" }, "rankduel"),
    ),
    here?.name
      ? h(
          "span",
          { class: "crumb" },
          h("a", { href: at(here.name) }, here.name),
          here.status ? status(here.status) : null,
        )
      : null,
    h("span", { class: "space" }),
    signedIn && session.keys
      ? h(
          "span",
          { class: "who" },
          session.name,
          mayChange() ? null : h("span", { class: "tag" }, "read-only"),
          h("button", { class: "plain", onclick: leave }, "Sign out"),
        )
      : null,
  );
}

async function leave() {
  await signOut();
  go("/sign-in?why=signed-out");
}

const tabs = (route) =>
  h(
    "nav",
    { class: "tabs", "aria-label": "Pages of this tournament" },
    TABS.filter(([word]) => word !== "batches" || route.data?.overview?.batched).map(([word, title]) =>
      h(
        "a",
        { href: at(route.name, word && `/${word}`), "aria-current": word === route.tab ? "page" : null },
        title,
      ),
    ),
  );

function setTrouble(text) {
  trouble = text;
  drawBanner();
}

function drawBanner() {
  const stale = trouble || !isLive();
  const since = updated ? `Last update ${clock.format(updated)}.` : null;
  const text = stale ? ["Not live: retrying.", trouble, since].filter(Boolean).join(" ") : "";
  banner.hidden = !text;
  if (banner.textContent !== text) banner.textContent = text;
}

// The stream of changes for a page; null if the page needs none.
function streamOf(route) {
  if (!route || route.module === signing || route.module === create) return null;
  return route.name ? `/v1/watch?tournament=${encodeURIComponent(route.name)}` : "/v1/watch";
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && here) refresh();
});
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href^='/']");
  if (
    !link ||
    event.ctrlKey ||
    event.metaKey ||
    event.shiftKey ||
    event.button ||
    link.hasAttribute("download") ||
    link.target
  )
    return;
  event.preventDefault();
  go(link.getAttribute("href"));
});
addEventListener("popstate", show);
addEventListener("resize", () => {
  cancelAnimationFrame(resized);
  resized = requestAnimationFrame(redraw);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

async function start() {
  try {
    await whoAmI();
  } catch (error) {
    if (error.status === 401 && location.pathname !== "/sign-in") {
      history.replaceState(
        null,
        "",
        `/sign-in?then=${encodeURIComponent(location.pathname + location.search)}`,
      );
    } else if (error.status !== 401) {
      drawHeader();
      failed(error, {});
      setTimeout(start, 2000);
      return;
    }
  }
  show();
}

start();
