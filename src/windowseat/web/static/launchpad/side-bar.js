// <side-bar>: all tabs, those of one session, and who is here.

import { badge, keyed, make, mark, write } from "./dom.js";
import { counted, initial, sessionLabel } from "./format.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {{key: string, name: string, count: number, dot: "alive" | "idle" | null, only: string | null | undefined}} Place */

class SideBar extends HTMLElement {
  constructor() {
    super();
    /** Called with what was chosen: a session, null for tabs of none, undefined for all. @type {(only: string | null | undefined) => void} */
    this.choose = () => {};
    this.first = make("ul", {});
    this.sessions = make("ul", { "aria-labelledby": "side-sessions" });
    this.people = make("ul", { class: "people", "aria-labelledby": "side-people" });
    this.sessionsPart = make("section", {}, make("h2", { id: "side-sessions" }, "Sessions"), this.sessions);
    this.peoplePart = make("section", { class: "here" }, make("h2", { id: "side-people" }, "Here now"), this.people);
    /** @type {Map<string, HTMLLIElement>} */
    this.have = new Map();
    /** @type {Map<string, HTMLLIElement>} */
    this.haveSessions = new Map();
    /** @type {Map<string, HTMLLIElement>} */
    this.havePeople = new Map();
  }

  connectedCallback() {
    this.append(this.first, this.sessionsPart, this.peoplePart);
  }

  /** @param {State} state @param {string | null | undefined} only */
  show(state, only) {
    const own = [...state.tabs.values()].filter((tab) => tab.session === null).length;
    /** @type {Place[]} */
    const first = [
      { key: "all", name: "All tabs", count: state.tabs.size, dot: null, only: undefined },
      { key: "own", name: "Yours", count: own, dot: null, only: null },
    ];
    /** @type {Place[]} */
    const sessions = state.sessions.map((one) => ({
      key: one.name, name: one.name, count: one.tabs, dot: one.alive ? "alive" : "idle", only: one.name,
    }));
    this.#places(this.first, this.have, first, only);
    this.#places(this.sessions, this.haveSessions, sessions, only);
    this.sessionsPart.hidden = sessions.length === 0;
    keyed(this.people, this.havePeople, state.people, (one) => one.id, () => make("li"), (row, one) => {
      const you = one.id === state.you?.id;
      const watching = one.tabs.length ? ", watching" : "";
      const text = (you ? "You" : one.name) + watching;
      if (row.dataset["shown"] === text + one.color + one.name) return;
      row.dataset["shown"] = text + one.color + one.name;
      row.replaceChildren(badge(one, initial(one.name)), make("span", { class: "label", title: one.name }, text));
    });
  }

  /**
   * @param {HTMLElement} list
   * @param {Map<string, HTMLLIElement>} have
   * @param {Place[]} places
   * @param {string | null | undefined} only
   */
  #places(list, have, places, only) {
    keyed(list, have, places, (one) => one.key, (one) => this.#place(one), (row, one) => {
      const [button] = row.children;
      const count = row.querySelector(".count");
      const dot = row.querySelector(".dot");
      if (!button || !count) return;
      mark(button, "aria-current", one.only === only ? "true" : null);
      write(count, String(one.count));
      if (dot) mark(dot, "data-alive", one.dot === "alive");
      // Begins as it is written, for those who speak what they see.
      mark(button, "aria-label", `${one.dot ? sessionLabel(one.name) : one.name}, ${counted(one.count, "tab")}${one.dot === "alive" ? ", agent working" : ""}`);
    });
  }

  /** @param {Place} place */
  #place(place) {
    const button = make("button", { type: "button", click: () => this.choose(place.only) });
    if (place.dot) button.append(make("span", { class: "dot" }));
    button.append(make("span", { class: "label", title: place.name }, place.dot ? sessionLabel(place.name) : place.name), " ", make("span", { class: "count" }));
    return make("li", {}, button);
  }
}

customElements.define("side-bar", SideBar);

export { SideBar };
