// What a person can do with tabs, and what happens when it fails.

import { CallError, api } from "./api.js";
import { make } from "./dom.js";
import { note, say } from "./say.js";

/**
 * Does it, and shows the reason where it fails.
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T | undefined>}
 */
async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    note(error.message);
    return undefined;
  }
}

/**
 * Opens a view beside the Launchpad. The window is opened within the click, because a browser lets
 * no page open one later; it waits empty for the address.
 * @param {() => Promise<string>} tabId
 */
async function show(tabId) {
  const opened = window.open("", "_blank");
  if (opened) {
    opened.opener = null;
    opened.document.title = "Opening…";
  }
  const address = await attempt(async () => (await api.view(await tabId())).view);
  if (address === undefined) opened?.close();
  else if (opened) opened.location.replace(address);
  else note("Your browser kept the view from opening. ", make("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, "Open it"));
}

/** @param {string} id */
export const showTab = (id) => show(async () => id);

/** @param {string} text */
export const openAndShow = (text) => show(async () => (await api.open(text)).id);

/** @param {string} id @param {string} title */
export async function closeTab(id, title) {
  if (await attempt(() => api.close(id))) say(`${title} closed for everyone. Undo is on its card for 8 seconds.`);
}

/** @param {string} id @param {string} title */
export async function restoreTab(id, title) {
  if (await attempt(() => api.restore(id))) say(`${title} is open again.`);
}

/** @param {string} id @param {boolean} asleep */
export const sleepOrWake = (id, asleep) => attempt(() => (asleep ? api.wake(id) : api.sleep(id)));

/** @param {string} name */
export const rename = (name) => attempt(() => api.rename(name));
