// Live updates: the server sends an event when something has changed, and a heartbeat every 5 seconds.
//
// A proxy may hold the stream back, and a server may hang: then nothing arrives, and there is no error. So the page
// listens for heartbeats. Without them it is not live: it asks for news itself, and connects again until they come.

const SILENT_MS = 12_000; // without an event or a heartbeat for so long, the page is not live
const POLL_MS = 5000; // between two refreshes while the page is not live
const RETRY_MS = 2500; // after an error of the stream

let stream = null; // { path, refresh, changed, events, live, heard, tried, polled, later }

// Whether this page gets events, or needs none.
export const isLive = () => !stream || stream.live;

// Follow the stream at a path instead of the current one; null ends it. `refresh` loads the data of the page again,
// `changed` is called when the page becomes live or ceases to be.
export function watch(path, refresh, changed) {
  if (stream?.path === path || (!stream && !path)) return;
  stream?.events.close();
  clearTimeout(stream?.later);
  stream = path && { path, refresh, changed, live: true, heard: Date.now() };
  if (stream) connect(stream);
  changed();
}

function connect(mine) {
  mine.events?.close();
  mine.tried = Date.now();
  mine.events = new EventSource(mine.path);
  mine.events.addEventListener("heartbeat", () => hear(mine));
  mine.events.addEventListener("change", () => {
    hear(mine);
    if (!document.hidden && mine === stream) mine.refresh();
  });
  mine.events.onopen = () => clearTimeout(mine.later);
  mine.events.onerror = () => {
    clearTimeout(mine.later);
    mine.later = setTimeout(() => {
      if (mine !== stream) return;
      mine.refresh(true); // a failure is shown in the banner
      if (mine.events.readyState === EventSource.CLOSED) connect(mine);
    }, RETRY_MS);
  };
}

function hear(mine) {
  mine.heard = Date.now();
  becomes(mine, true);
}

function becomes(mine, live) {
  if (mine !== stream || mine.live === live) return;
  mine.live = live;
  mine.changed();
}

setInterval(() => {
  const now = Date.now();
  if (!stream || now - stream.heard < SILENT_MS) return;
  becomes(stream, false);
  if (now - stream.tried >= SILENT_MS) connect(stream);
  if (!document.hidden && now - (stream.polled ?? 0) >= POLL_MS) {
    stream.polled = now;
    stream.refresh(true);
  }
}, 1000);
