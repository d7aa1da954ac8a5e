// Calls of the Launchpad's own API. The secret goes with each; the cookie comes along by itself.

export const SECRET = "windowseat-secret";

/** A call that the hub refused, or that did not reach it; `message` is for people. */
export class CallError extends Error {}

/** Goes to the page that says how to sign in. */
export function signIn() {
  location.replace("/enter");
}

/**
 * @param {string} method
 * @param {string} path under /api/v1
 * @param {object} [body]
 * @returns {Promise<any>}
 */
async function call(method, path, body) {
  /** @type {Response} */
  let answer;
  let found;
  try {
    answer = await fetch(`/api/v1${path}`, {
      method, redirect: "error", cache: "no-store", signal: AbortSignal.timeout(60_000),
      headers: { "X-Windowseat-Secret": localStorage.getItem(SECRET) ?? "", "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    found = await answer.json();
  } catch {
    throw new CallError("The hub did not answer. Is it running?");
  }
  if (answer.status === 401) signIn();
  if (!answer.ok) throw new CallError(found?.error?.message ?? "The hub could not do this.");
  return found;
}

/** @param {string} id */
const tab = (id) => `/tabs/${encodeURIComponent(id)}`;

export const api = {
  /** @param {string} text what was typed */
  open: (text) => call("POST", "/tabs", { text }),
  /** @param {string} id */
  close: (id) => call("DELETE", tab(id)),
  /** @param {string} id */
  restore: (id) => call("POST", `${tab(id)}/restore`),
  /** @param {string} id */
  sleep: (id) => call("POST", `${tab(id)}/sleep`),
  /** @param {string} id */
  wake: (id) => call("POST", `${tab(id)}/wake`),
  /** @param {string} id @returns {Promise<{view: string}>} */
  view: (id) => call("POST", `${tab(id)}/view`),
  /** @param {string} name */
  rename: (name) => call("POST", "/me", { name }),
};
