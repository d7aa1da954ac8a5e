// The bar's "More" menu.

/** @import {State} from "./state.js" */
import { h, icon, need } from "./dom.js";
import { sessionLabel } from "./names.js";
import { faces } from "./presence.js";

/**
 * @typedef {{
 *   state: () => State,
 *   area: () => import("./wire.js").Size,
 *   fit: () => boolean, setFit: (on: boolean) => void,
 *   sharp: () => boolean, setSharp: (on: boolean) => void,
 *   copyAddress: () => void, hardReload: () => void, shortcuts: () => void, toPage: () => void,
 * }} MenuWays
 */

export class Menu {
  #button = need("more", HTMLButtonElement);
  #place = need("menu-place", HTMLElement);
  /** @type {HTMLElement | null} */
  #menu = null;

  /** @param {MenuWays} ways */
  constructor(ways) {
    this.ways = ways;
    this.#button.addEventListener("click", () => (this.#menu ? this.#close() : this.#open()));
    this.#button.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown" || this.#menu) return;
      event.preventDefault();
      this.#open();
    });
    document.addEventListener("pointerdown", (event) => {
      const target = /** @type {Node} */ (event.target);
      if (this.#menu && !this.#menu.contains(target) && !this.#button.contains(target)) this.#close();
    }, true);
  }

  #open() {
    const { ways } = this;
    const state = ways.state();
    const live = state.phase === "live" && !state.ended;
    const items = [
      this.#check("Fit to the window", ways.fit(), ways.setFit),
      this.#check("Sharp pixels", ways.sharp(), ways.setSharp),
      h("hr"),
      live && this.#item("Copy the address", ways.copyAddress),
      live && this.#item("Reload without the cache", ways.hardReload),
      this.#item("Keyboard shortcuts", ways.shortcuts),
      state.launchpad && h("hr"),
      state.launchpad && h("a", {
        role: "menuitem", class: "item", href: state.launchpad, target: "_blank", rel: "noopener",
        tabindex: -1, onclick: () => this.#close(),
      }, "Open the Launchpad"),
    ];
    this.#menu = h("div", { class: "menu" },
      this.#facts(state), h("div", { role: "menu", "aria-label": "More" }, ...items));
    this.#menu.addEventListener("keydown", (event) => this.#key(event));
    this.#place.append(this.#menu);
    this.#button.setAttribute("aria-expanded", "true");
    this.#entries()[0]?.focus();
  }

  #close() {
    this.#menu?.remove();
    this.#menu = null;
    this.#button.setAttribute("aria-expanded", "false");
  }

  /** What the tab is and who is here, in words. @param {State} state */
  #facts(state) {
    const { tab, size } = state;
    const area = this.ways.area();
    const other = size !== null && (size.w !== area.w || size.h !== area.h);
    const people = faces(state).map((face) => face.label).join(", ");
    const rows = [
      ["State", stateText(state)],
      size && ["Size", `${size.w} × ${size.h}${other ? ", another viewer’s; yours when you act" : ""}`],
      tab?.session && ["Session", sessionLabel(tab.session)],
      people && ["Here", people],
    ];
    const list = h("dl", { class: "facts" });
    for (const row of rows) if (row) list.append(h("dt", {}, row[0] ?? ""), h("dd", {}, row[1] ?? ""));
    return list;
  }

  /**
   * @param {string} label
   * @param {() => void} act
   */
  #item(label, act) {
    return h("button", {
      type: "button", role: "menuitem", class: "item", tabindex: -1,
      onclick: () => {
        this.#close();
        this.ways.toPage();
        act();
      },
    }, label);
  }

  /**
   * @param {string} label
   * @param {boolean} on
   * @param {(on: boolean) => void} set
   */
  #check(label, on, set) {
    return h("button", {
      type: "button", role: "menuitemcheckbox", class: "item", "aria-checked": String(on), tabindex: -1,
      onclick: () => {
        set(!on);
        this.#close();
        this.ways.toPage();
      },
    }, label, icon("check"));
  }

  #entries() {
    return /** @type {HTMLElement[]} */ ([...(this.#menu?.querySelectorAll(".item") ?? [])]);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const entries = this.#entries();
    const at = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const last = entries.length - 1;
    /** @type {Record<string, number>} */
    const goes = { ArrowDown: at === last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1, Home: 0, End: last };
    const to = goes[event.key];
    if (to !== undefined) {
      event.preventDefault();
      entries[to]?.focus();
    } else if (event.key === "Escape" || event.key === "Tab") {
      if (event.key === "Escape") event.preventDefault();
      event.stopPropagation();
      this.#close();
      this.#button.focus();
    }
  }
}

/** @param {State} state */
function stateText(state) {
  if (state.phase !== "live") return "not connected";
  if (state.ended) return "ended";
  if (state.page === "waking") return "waking";
  if (state.page === "crashed") return "crashed";
  if (state.page === "unresponsive") return "does not answer";
  return state.tab?.asleep ? "asleep" : "awake";
}
