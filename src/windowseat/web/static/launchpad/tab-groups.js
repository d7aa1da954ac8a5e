// <tab-groups>: every tab as a card, grouped by session; arrow keys go from card to card.

import { ICONS, icon, keyed, make, mark, write } from "./dom.js";
import { bytes, counted, sessionLabel } from "./format.js";
import { note } from "./say.js";
import { groups } from "./state.js";
import { TabCard } from "./tab-card.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Group} Group */
/** @typedef {import("./thumbnails.js").Thumbnails} Thumbnails */

const COMMANDS = [
  ["Let an agent in", "claude mcp add windowseat -- windowseat mcp"],
  ["Or open a tab from a terminal", "windowseat open https://example.com"],
];

class TabGroups extends HTMLElement {
  constructor() {
    super();
    /** @type {Thumbnails | null} */
    this.thumbnails = null;
    /** @type {Map<string, HTMLElement>} */
    this.sections = new Map();
    /** @type {Map<string, Map<string, TabCard>>} */
    this.cards = new Map();
    /** @type {TabCard | null} */
    this.current = null;
    this.list = make("div");
    this.empty = empty();
    this.empty.hidden = true;
    this.addEventListener("keydown", (event) => this.#key(event));
    this.addEventListener("focusin", (event) => {
      const card = event.target instanceof Element ? event.target.closest("tab-card") : null;
      if (card instanceof TabCard) this.#reach(card);
    });
  }

  connectedCallback() {
    this.append(this.list, this.empty);
  }

  /**
   * @param {State} state
   * @param {string | null | undefined} only a session's name, null for tabs of none, undefined for all
   */
  show(state, only) {
    const shown = groups(state).filter((group) => only === undefined || group.session === only);
    const focused = this.current?.contains(document.activeElement) ? this.current : null;
    const before = focused ? this.#all().indexOf(focused) : -1;
    keyed(this.list, this.sections, shown, keyOf, (group) => this.#section(group), (section, group) => this.#update(section, group));
    for (const key of this.cards.keys()) {
      if (!this.sections.has(key)) this.#drop(key);
    }
    this.empty.hidden = state.you === null || shown.length > 0;
    mark(this.empty, "data-filtered", state.tabs.size > 0);
    const all = this.#all();
    if (!this.current?.isConnected) this.#reach(all[0] ?? null);
    // The card that had the focus ended: its neighbour takes it, so that the keyboard is not lost.
    if (focused && !focused.isConnected) all[Math.min(before, all.length - 1)]?.main.focus();
  }

  /** @param {number} now */
  tick(now) {
    for (const cards of this.cards.values()) for (const card of cards.values()) card.tick(now);
  }

  /** @returns {TabCard[]} */
  #all() {
    return [...this.list.querySelectorAll("tab-card")].filter((card) => card instanceof TabCard);
  }

  /** @param {Group} group */
  #section(group) {
    const id = `group-${keyOf(group)}`;
    this.cards.set(keyOf(group), new Map());
    return make("section", { class: "group", "aria-labelledby": id },
      make("h2", { id }, make("span", { class: "what" }), make("span", { class: "summary" })),
      make("div", { class: "cards", role: "list" }));
  }

  /** @param {HTMLElement} section @param {Group} group */
  #update(section, group) {
    const what = section.querySelector(".what");
    const summary = section.querySelector(".summary");
    const list = section.querySelector(".cards");
    const cards = this.cards.get(keyOf(group));
    if (!what || !summary || !(list instanceof HTMLElement) || !cards) return;
    write(what, group.session === null ? "Yours" : sessionLabel(group.session));
    mark(what, "title", group.session);
    write(summary, summarised(group));
    const gone = new Set(cards.keys());
    keyed(list, cards, group.tabs, (tab) => tab.id, (tab) => this.#card(tab.id), (card, tab) => {
      gone.delete(tab.id);
      card.show(tab);
    });
    for (const id of gone) this.thumbnails?.remove(id);
  }

  /** @param {string} id */
  #card(id) {
    const card = new TabCard();
    card.reachable = false;
    this.thumbnails?.add(id, card.canvas);
    return card;
  }

  /** @param {string} key */
  #drop(key) {
    for (const id of this.cards.get(key)?.keys() ?? []) this.thumbnails?.remove(id);
    this.cards.delete(key);
  }

  /** @param {TabCard | null} card */
  #reach(card) {
    if (this.current === card) return;
    if (this.current) this.current.reachable = false;
    this.current = card;
    if (card) card.reachable = true;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.current) return;
    if (event.key === "Delete" || (event.key === "Backspace" && event.target === this.current.main)) {
      event.preventDefault();
      this.current.close();
      return;
    }
    const next = neighbour(this.#all(), this.current, event.key);
    if (!next) return;
    event.preventDefault();
    next.main.focus();
    next.scrollIntoView({ block: "nearest" });
  }
}

/**
 * The card that an arrow key leads to: beside in reading order, above and below by place.
 * @param {TabCard[]} all
 * @param {TabCard} from
 * @param {string} key
 * @returns {TabCard | undefined}
 */
function neighbour(all, from, key) {
  const at = all.indexOf(from);
  if (key === "ArrowRight") return all[at + 1];
  if (key === "ArrowLeft") return all[at - 1];
  if (key === "Home") return all[0];
  if (key === "End") return all.at(-1);
  if (key !== "ArrowDown" && key !== "ArrowUp") return undefined;
  const here = from.getBoundingClientRect();
  const down = key === "ArrowDown";
  let best;
  let least = Infinity;
  for (const card of all) {
    const there = card.getBoundingClientRect();
    const rows = down ? there.top - here.bottom : here.top - there.bottom;
    if (rows < -4) continue;
    const distance = rows * 4 + Math.abs(there.left - here.left);
    if (distance < least) [best, least] = [card, distance];
  }
  return best;
}

/** @param {Group} group */
const keyOf = (group) => (group.session === null ? "." : group.session);

/** @param {Group} group */
function summarised(group) {
  const parts = [counted(group.tabs.length, "tab")];
  if (group.alive) parts.unshift("agent working");
  const asleep = group.tabs.filter((tab) => tab.asleep).length;
  if (asleep) parts.push(`${asleep} asleep`);
  const memory = group.tabs.reduce((sum, tab) => sum + (tab.memory ?? 0), 0);
  if (memory) parts.push(bytes(memory));
  return parts.join(" · ");
}

function empty() {
  const rows = COMMANDS.map(([label, command]) => make("div", { class: "command" },
    make("span", {}, label ?? ""),
    make("code", {}, command ?? ""),
    make("button", {
      class: "act", type: "button", title: "Copy", "aria-label": `Copy: ${command}`,
      click: () => void navigator.clipboard.writeText(command ?? "").then(() => note("Copied.")),
    }, icon(ICONS.copy))));
  return make("div", { class: "empty" },
    make("h2", {}, "No tabs yet"),
    make("p", { class: "none" }, "Type an address above: it opens in the shared browser."),
    make("p", { class: "filtered" }, "Nothing is open here now."),
    ...rows);
}

customElements.define("tab-groups", TabGroups);

export { TabGroups };
