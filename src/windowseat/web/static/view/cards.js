// Small cards at the top right: a page opened another tab, something did not work, text that waits to be copied.

/** @import {State} from "./state.js" */
/** @import {Opened} from "./wire.js" */
import { hostOf } from "./address.js";
import { h, icon, need } from "./dom.js";

export class Cards {
  #place = need("cards", HTMLElement);
  /** @type {Map<string, HTMLElement>} */
  #opened = new Map();
  /** @type {HTMLElement | null} */
  #problem = null;
  /** @type {HTMLElement | null} */
  #clip = null;

  /**
   * @param {(tab: string) => void} dismiss
   * @param {() => void} toPage gives the keys back to the page
   */
  constructor(dismiss, toPage) {
    this.dismiss = dismiss;
    this.toPage = toPage;
  }

  /**
   * @param {State} state
   * @param {State | null} before
   */
  render(state, before) {
    if (state.opened !== before?.opened) this.#renderOpened(state);
    if (state.problem !== before?.problem) {
      this.#problem?.remove();
      this.#problem = state.problem && h("div", { class: "card problem", role: "status" }, state.problem.message);
      if (this.#problem) this.#place.append(this.#problem);
    }
  }

  /**
   * Text that the browser puts on the clipboard only with one more click.
   * @param {() => Promise<boolean>} copy
   */
  offerCopy(copy) {
    this.#clip?.remove();
    const take = () => {
      void copy().then((done) => {
        if (done) this.#remove(this.#clip);
      });
    };
    this.#clip = h(
      "div", { class: "card", role: "status" },
      h("p", {}, "The copied text is here."),
      h("button", { type: "button", class: "button first", onclick: take }, "Put it on the clipboard"),
      this.#close(() => this.#remove(this.#clip)),
    );
    this.#place.append(this.#clip);
  }

  /** @param {State} state */
  #renderOpened(state) {
    const wanted = new Map(state.opened.map((one) => [one.tab.id, one]));
    for (const [id, card] of this.#opened) {
      if (wanted.has(id)) continue;
      this.#remove(card);
      this.#opened.delete(id);
    }
    for (const [id, one] of wanted) {
      if (this.#opened.has(id) || !safeAddress(one.url)) continue;
      const card = this.#openedCard(one);
      this.#opened.set(id, card);
      this.#place.append(card);
    }
  }

  /** @param {HTMLElement | null} card */
  #remove(card) {
    const focused = card?.contains(document.activeElement);
    card?.remove();
    if (focused) this.toPage();
  }

  /** @param {Opened} one */
  #openedCard(one) {
    const { id, title, url } = one.tab;
    const done = () => this.dismiss(id);
    // A true link: a middle click and the keyboard work as everywhere. It is good for one opening.
    const open = h(
      "a", { class: "button first", href: one.url, target: "_blank", rel: "noopener", onclick: () => setTimeout(done) },
      "Open",
    );
    return h(
      "div", { class: "card opened", role: "status" },
      h("p", {}, "This page opened ", h("b", {}, title || hostOf(url) || "another tab")),
      open,
      this.#close(done),
    );
  }

  /** @param {() => void} done */
  #close(done) {
    return h("button", { type: "button", class: "tool close", "aria-label": "Dismiss", onclick: done }, icon("stop"));
  }
}

/** Whether an address given by the hub leads to this view's own origin. @param {string} address */
function safeAddress(address) {
  try {
    return new URL(address, location.href).origin === location.origin;
  } catch {
    return false;
  }
}
