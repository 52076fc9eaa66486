// HTTP calls to the service. Errors are thrown as `Problem`, also if the server does not answer.

export const session = { name: null, scopes: [], token: "", keys: true };
export const mayChange = () => session.scopes.includes("admin");

export class Problem extends Error {
  constructor(status, details) {
    super(details.detail || details.title);
    this.status = status;
    this.type = (details.type ?? "").replace("/problems/", "");
    this.title = details.title;
    this.details = details;
  }
}

const TIMEOUT_MS = 20_000; // the server answers within 10 seconds: after this time, the connection is dead

export async function call(method, path, body, headers = {}) {
  const sent = { ...headers };
  if (body !== undefined) sent["Content-Type"] = "application/json";
  if (method !== "GET") sent["X-Rankduel-Token"] = session.token;
  let answer, text;
  try {
    answer = await fetch(path, {
      method,
      headers: sent,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    text = await answer.text();
  } catch {
    throw new Problem(0, { type: "/problems/no-answer", title: "The server does not answer" });
  }
  let decoded;
  try {
    decoded = JSON.parse(text);
  } catch {
    decoded = answer.ok ? text : { title: `The server answered with status ${answer.status}` };
  }
  if (!answer.ok) throw new Problem(answer.status, decoded);
  return decoded;
}

export const getJson = (path) => call("GET", path);

export async function whoAmI() {
  Object.assign(session, await getJson("/v1/session"));
}

export async function signIn(key) {
  Object.assign(session, await call("POST", "/v1/session", undefined, { Authorization: `Bearer ${key}` }));
}

export async function signOut() {
  await call("DELETE", "/v1/session");
  forget();
}

export const forget = () => Object.assign(session, { name: null, scopes: [], token: "" });

// The audit log; null if the storage fails, so that the rest of the page can be shown.
export const changes = (name, limit) =>
  getJson(at(name, `/audit?limit=${limit}`)).catch((error) => {
    if (error.type !== "storage") throw error;
    return null;
  });

export const at = (name, rest = "") => `/v1/tournaments/${encodeURIComponent(name)}${rest}`;
export const page = (name, rest = "") => `/t/${encodeURIComponent(name)}${rest}`;
