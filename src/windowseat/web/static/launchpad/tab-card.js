// <tab-card>: one tab as a live picture with its title, who works in it, and what can be done.

import { closeTab, restoreTab, showTab, sleepOrWake } from "./actions.js";
import { CardMenu } from "./card-menu.js";
import { ICONS, badge, icon, make, mark, write } from "./dom.js";
import { bytes, hue, initial, place, titleOf } from "./format.js";

/** @typedef {import("./state.js").Tab} Tab */

export class TabCard extends HTMLElement {
  constructor() {
    super();
    /** @type {Tab | null} */
    this.tab = null;
    this.canvas = make("canvas", { class: "picture", width: "1", height: "1", "aria-hidden": "true" });
    this.icon = make("span", { class: "icon", "aria-hidden": "true" });
    this.heading = make("span", { class: "title" });
    this.doing = make("span", { class: "doing" });
    this.memory = make("span", { class: "memory" });
    this.lookers = make("span", { class: "lookers" });
    this.agent = make("span", { class: "agent", "aria-hidden": "true" });
    this.main = make("button", { class: "main", type: "button", click: () => this.#act() },
      make("span", { class: "shown" }, this.canvas, this.agent, this.lookers),
      make("span", { class: "facts" },
        make("span", { class: "name" }, this.icon, this.heading), " ",
        make("span", { class: "more" }, this.doing, " ", this.memory)));
    this.sleeper = make("button", { class: "act", type: "button", click: () => this.#sleepOrWake() });
    this.closer = make("button", { class: "act close", type: "button", title: "Close for everyone", click: () => this.close() },
      icon(ICONS.close));
    // For fingers: what a pointer that hovers finds on the picture.
    this.asker = make("button", { class: "ask", type: "button", "aria-haspopup": "menu", click: () => this.#ask() }, icon(ICONS.more));
    this.acts = make("span", { class: "acts" }, this.sleeper, this.closer);
    this.ends = make("span", { class: "ends" });
    this.undo = make("button", { type: "button", click: () => this.#restore() }, "Undo");
    this.ending = make("span", { class: "ending" }, this.ends, this.undo);
  }

  connectedCallback() {
    if (this.firstChild) return;
    mark(this, "role", "listitem");
    this.append(this.main, this.acts, this.asker, this.ending);
  }

  /** Whether Tab reaches this card; in each list of cards one is reached, arrow keys go to the others. @param {boolean} on */
  set reachable(on) {
    for (const button of [this.main, this.sleeper, this.closer, this.asker, this.undo]) mark(button, "tabindex", on ? null : "-1");
  }

  close() {
    if (this.tab && this.tab.closes_at === null) void closeTab(this.tab.id, titleOf(this.tab));
  }

  /** @param {Tab} tab */
  show(tab) {
    const before = this.tab;
    if (before === tab) return;
    this.tab = tab;
    const closing = tab.closes_at !== null;
    mark(this, "data-asleep", tab.asleep && !closing);
    mark(this, "data-closing", closing);
    mark(this, "data-working", tab.line !== null && !closing);
    mark(this, "data-crashed", tab.crashed);
    const title = titleOf(tab);
    write(this.heading, title);
    mark(this.heading, "title", title);
    write(this.doing, doing(tab));
    write(this.memory, memory(tab));
    if (before?.icon !== tab.icon || place(before.url) !== place(tab.url)) this.#showIcon(tab);
    if (!before || before.viewers !== tab.viewers) {
      this.lookers.replaceChildren(...tab.viewers.slice(0, 4).map((one) => badge(one, initial(one.name))));
    }
    this.#showSleeper(tab);
    mark(this.closer, "aria-label", `Close ${title} for everyone`);
    mark(this.asker, "aria-label", `More for ${title}`);
    mark(this.undo, "aria-label", `Undo closing ${title}`);
    mark(this.main, "aria-label", label(tab, title));
    this.tick(performance.now());
  }

  /** Counts a closing tab's seconds down. @param {number} now milliseconds */
  tick(now) {
    if (!this.tab?.endsAt) return;
    const left = Math.max(0, Math.ceil((this.tab.endsAt - now) / 1000));
    write(this.ends, `Ends in ${left} s`);
  }

  #act() {
    if (!this.tab) return;
    if (this.tab.closes_at === null) void showTab(this.tab.id);
    else this.#restore();
  }

  #restore() {
    if (!this.tab) return;
    this.main.focus();
    void restoreTab(this.tab.id, titleOf(this.tab));
  }

  #ask() {
    const menu = document.querySelector("card-menu");
    if (this.tab && menu instanceof CardMenu) menu.ask(this.tab, this.asker);
  }

  #sleepOrWake() {
    if (this.tab) void sleepOrWake(this.tab.id, this.tab.asleep);
  }

  /** @param {Tab} tab */
  #showSleeper(tab) {
    const word = tab.asleep ? "Wake" : "Sleep";
    if (this.sleeper.title !== word) {
      this.sleeper.title = word;
      this.sleeper.replaceChildren(icon(tab.asleep ? ICONS.wake : ICONS.sleep));
    }
    mark(this.sleeper, "aria-label", `${word}: ${titleOf(tab)}`);
  }

  /** @param {Tab} tab */
  #showIcon(tab) {
    if (tab.icon.startsWith("data:image/")) {
      this.icon.replaceChildren(make("img", { src: tab.icon, alt: "", width: "14", height: "14" }));
      return;
    }
    this.icon.replaceChildren();
    this.icon.style.setProperty("--hue", String(hue(place(tab.url))));
  }
}

/** What happens in a tab, in a few words. @param {Tab} tab */
function doing(tab) {
  if (tab.closes_at !== null) return "closed for everyone";
  if (tab.crashed) return "crashed";
  if (tab.asleep) return "asleep";
  if (tab.line) return tab.line;
  if (tab.loading) return "loading…";
  return (tab.audible ? "plays sound · " : "") + (place(tab.url) || "empty");
}

/** @param {Tab} tab */
const memory = (tab) => (tab.memory === null || tab.closes_at !== null ? "" : bytes(tab.memory));

/** Begins with what is written on the card, for those who speak what they see. @param {Tab} tab @param {string} title */
function label(tab, title) {
  if (tab.closes_at !== null) return `${title}, ${doing(tab)}. Undo.`;
  const parts = [title, `${doing(tab)} ${memory(tab)}`.trim(), tab.session ? `session ${tab.session}` : "yours"];
  if (tab.agents.length) parts.push("an agent is at work");
  if (tab.viewers.length) parts.push(`looked at by ${tab.viewers.map((one) => one.name).join(", ")}`);
  return `Open ${parts.join(", ")}`;
}

customElements.define("tab-card", TabCard);
