// <card-menu>: what can be done with one card, for fingers. One for the whole page, beside the button
// that opened it; a touch elsewhere or Escape closes it.

import { closeTab, showTab, sleepOrWake } from "./actions.js";
import { ICONS, icon, make } from "./dom.js";
import { titleOf } from "./format.js";

/** @typedef {import("./state.js").Tab} Tab */

const GAP = 6;

class CardMenu extends HTMLElement {
  connectedCallback() {
    this.setAttribute("popover", "auto");
    this.setAttribute("role", "menu");
    this.addEventListener("keydown", (event) => this.#key(event));
  }

  /** @param {Tab} tab @param {HTMLElement} button where it was asked for */
  ask(tab, button) {
    const title = titleOf(tab);
    this.setAttribute("aria-label", title);
    this.replaceChildren(
      this.#item("Open", ICONS.open, () => showTab(tab.id)),
      this.#item(tab.asleep ? "Wake" : "Sleep", tab.asleep ? ICONS.wake : ICONS.sleep, () => sleepOrWake(tab.id, tab.asleep)),
      this.#item("Close for everyone", ICONS.close, () => closeTab(tab.id, title)),
    );
    this.showPopover();
    this.#place(button.getBoundingClientRect());
    this.#items()[0]?.focus();
  }

  /** @param {string} words @param {string} sign @param {() => unknown} act */
  #item(words, sign, act) {
    return make("button", {
      type: "button", role: "menuitem",
      click: () => {
        this.hidePopover();
        act();
      },
    }, icon(sign), words);
  }

  /** Under the button, or above it where the screen ends. @param {DOMRect} button */
  #place(button) {
    const mine = this.getBoundingClientRect();
    const under = button.bottom + GAP;
    const top = under + mine.height > innerHeight - GAP ? button.top - GAP - mine.height : under;
    this.style.top = `${Math.max(GAP, top)}px`;
    this.style.left = `${Math.max(GAP, Math.min(button.right - mine.width, innerWidth - GAP - mine.width))}px`;
  }

  #items() {
    return [...this.querySelectorAll("button")];
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const items = this.#items();
    const at = items.findIndex((item) => item === document.activeElement);
    items.at((at + step) % items.length)?.focus();
  }
}

customElements.define("card-menu", CardMenu);

export { CardMenu };
