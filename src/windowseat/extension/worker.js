// The bridge: what the hub asks of chrome.*, and what it is told. Only the hub, over DevTools,
// evaluates here; there are no listeners for pages, other extensions or the network.
"use strict";

// A page chooses its title, address and icon: none of them may become a burden for the hub.
const TITLE_LIMIT = 256;
const URL_LIMIT = 2048;
const ICON_LIMIT = 32 * 1024;
const REPLACED_LIMIT = 1000;
// A page can rewrite its title hundreds of times a second; the hub is told of the last one.
const GATHER_MS = 30;
// More news than this in so many milliseconds, and the worker does not listen for as long.
const RESTLESS_NEWS = 100;
const RESTLESS_MS = 1000;
// How long after a page has loaded its icon is looked at again: some have none, and tell nothing.
const SETTLED_MS = 1000;
const ICON_SIZE = 32;
// A page of no site: what the browser shows for it, it shows wherever it knows no icon.
const NOWHERE = "http://windowseat.invalid/";

/** Tab ids by the id that took their place, in the order they were replaced. */
const replaced = new Map();

/** Changes that were not told yet, by tab id. */
const changes = new Map();
let timer = null;

/** News of tabs in the last moment, and whether the worker rests from them. */
let news = 0;
let resting = false;

/** What is known of each tab's icon: a data: address, or "" for none. */
const icons = new Map();
/** Looks at an icon that have not told yet, by tab id. */
const looks = new Map();

/** Cut to `limit` UTF-16 units, and made fit for JSON whatever a page put there. */
function cut(text, limit) {
  return String(text ?? "").slice(0, limit).toWellFormed();
}

function shown(tab) {
  return {
    tab: tab.id,
    window: tab.windowId,
    opener: tab.openerTabId ?? null,
    discarded: tab.discarded,
    audible: Boolean(tab.audible),
    status: tab.status ?? "",
    title: cut(tab.title, TITLE_LIMIT),
    icon: icons.get(tab.id) ?? "",
    url: cut(tab.url || tab.pendingUrl, URL_LIMIT),
    replaces: replaced.get(tab.id) ?? null,
  };
}

function tell(all) {
  // The binding is there while a hub listens.
  globalThis.toHub?.(JSON.stringify(all));
}

function tellChanges() {
  clearTimeout(timer);
  timer = null;
  const all = [...changes].map(([tab, change]) => ({ tab, ...change }));
  changes.clear();
  if (all.length) tell(all);
}

function changed(tab, change) {
  if (!Object.keys(change).length) return;
  changes.set(tab, { ...changes.get(tab), ...change });
  timer ??= setTimeout(tellChanges, GATHER_MS);
}

function updated(tab, change) {
  news += 1;
  if (news === 1) setTimeout(() => { news = 0; }, RESTLESS_MS);
  if (news > RESTLESS_NEWS) rest();
  const known = {};
  if (change.title !== undefined) known.title = cut(change.title, TITLE_LIMIT);
  if (change.url !== undefined) known.url = cut(change.url, URL_LIMIT);
  for (const name of ["status", "audible", "discarded"]) {
    if (change[name] !== undefined) known[name] = change[name];
  }
  changed(tab, known);
  if (change.favIconUrl !== undefined) lookAtIcon(tab);
  if (change.status === "complete") setTimeout(lookAtIcon, SETTLED_MS, tab);
}

chrome.tabs.onUpdated.addListener(updated);

/** Stops to listen for a moment: each piece of news costs the browser's main thread, and pages that flood
 * it would slow every other tab. Then everything is told as it is. */
function rest() {
  if (resting) return;
  resting = true;
  chrome.tabs.onUpdated.removeListener(updated);
  setTimeout(async () => {
    resting = false;
    chrome.tabs.onUpdated.addListener(updated);
    for (const tab of await chrome.tabs.query({})) {
      const { title, url, status, audible, discarded } = shown(tab);
      changed(tab.id, { title, url, status, audible, discarded });
      lookAtIcon(tab.id);
    }
  }, RESTLESS_MS);
}

/** What the browser's own store of icons has for a page, as a data: address. */
async function stored(page) {
  const asked = new URLSearchParams({ pageUrl: page, size: ICON_SIZE });
  const answer = await fetch(`${chrome.runtime.getURL("_favicon/")}?${asked}`);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  if (!answer.ok || bytes.length > ICON_LIMIT / 2) return "";
  return `data:image/png;base64,${btoa(String.fromCharCode(...bytes))}`;
}

/** A tab's icon as a data: address, "" where it has none, null where that is not known. Its site is not asked. */
async function iconOf(tab) {
  const url = tab.favIconUrl ?? "";
  if (!url) return tab.status === "complete" && !tab.discarded ? "" : null;
  if (url.startsWith("data:image/") && url.length <= ICON_LIMIT) return url.toWellFormed();
  const [found, nothing] = await Promise.all([stored(tab.url), stored(NOWHERE)]);
  return found === nothing ? "" : found;
}

/** Looks at a tab's icon in a moment, once however often it is asked meanwhile, and tells it. */
function lookAtIcon(tab) {
  const look = looks.get(tab) ?? { again: false };
  look.again = looks.has(tab);
  if (look.again) return;
  looks.set(tab, look);
  setTimeout(async () => {
    look.again = false;
    const icon = await chrome.tabs.get(tab).then(iconOf).catch(() => null);
    if (looks.get(tab) !== look) return; // the tab ended, or has another id now
    looks.delete(tab);
    if (icon === null) return;
    icons.set(tab, icon);
    changed(tab, { icon });
    if (look.again) lookAtIcon(tab);
  }, GATHER_MS);
}

chrome.tabs.onReplaced.addListener((added, removed) => {
  tellChanges();
  if (icons.has(removed)) icons.set(added, icons.get(removed));
  forget(removed);
  replaced.set(added, removed);
  if (replaced.size > REPLACED_LIMIT) replaced.delete(replaced.keys().next().value);
  tell([{ tab: added, replaces: removed }]);
});

function forget(tab) {
  changes.delete(tab);
  icons.delete(tab);
  looks.delete(tab);
}

chrome.tabs.onRemoved.addListener((tab) => {
  forget(tab);
  replaced.delete(tab);
});

async function tabs() {
  const [targets, all] = await Promise.all([chrome.debugger.getTargets(), chrome.tabs.query({})]);
  const byId = new Map(all.map((tab) => [tab.id, tab]));
  const found = {};
  for (const target of targets) {
    if (target.type === "page" && byId.has(target.tabId)) found[target.id] = shown(byId.get(target.tabId));
  }
  return found;
}

async function describe(id) {
  const target = (await chrome.debugger.getTargets()).find((one) => one.id === id);
  if (target?.tabId === undefined) return null;
  return shown(await chrome.tabs.get(target.tabId));
}

async function discard(tab) {
  const asleep = await chrome.tabs.discard(tab);
  if (!asleep) throw new Error("The browser refuses to put this tab to sleep");
  return asleep.id;
}

async function recentlyClosed() {
  const entries = await chrome.sessions.getRecentlyClosed();
  return entries.map((entry) => {
    const one = entry.tab ?? entry.window;
    const page = entry.tab ?? entry.window.tabs?.at(-1);
    return {
      session: one.sessionId,
      url: cut(page?.url, URL_LIMIT),
      title: cut(page?.title, TITLE_LIMIT),
      at: entry.lastModified,
    };
  });
}

async function restore(session) {
  const entry = await chrome.sessions.restore(session);
  return (entry.tab ?? entry.window.tabs[0]).id;
}

/** Private bytes by tab id: a process that several tabs share is shared out evenly among them. */
async function memory() {
  const found = {};
  const processes = await chrome.processes.getProcessInfo([], true);
  for (const one of Object.values(processes)) {
    const owners = new Set(one.tasks.map((task) => task.tabId).filter((tab) => tab !== undefined));
    for (const tab of owners) {
      found[tab] = (found[tab] ?? 0) + Math.round((one.privateMemory ?? 0) / owners.size);
    }
  }
  return found;
}

/** All that the hub may call, by name. */
const calls = {
  tabs,
  describe,
  discard,
  reload: async (tab) => void (await chrome.tabs.reload(tab)),
  moveToWindow: async (tab) => (await chrome.windows.create({ tabId: tab, focused: false })).id,
  recentlyClosed,
  restore,
  memory,
  tellIcons: async () => (await chrome.tabs.query({})).forEach((tab) => lookAtIcon(tab.id)),
  ping: async () => void tell([]),
  offers: async () => ({
    map: typeof chrome.debugger?.getTargets === "function",
    sleep: typeof chrome.tabs?.discard === "function",
    reopening: typeof chrome.sessions?.restore === "function",
    memory: typeof chrome.processes?.getProcessInfo === "function",
  }),
};

/** The one entrance: never rejects, so that an answer always comes back as JSON. */
globalThis.bridge = async (name, ...args) => {
  try {
    return { value: (await calls[name](...args)) ?? null };
  } catch (error) {
    return { error: String(error?.message ?? error) };
  }
};
