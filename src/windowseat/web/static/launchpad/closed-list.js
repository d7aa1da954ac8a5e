// <closed-list>: tabs that were closed lately, each with Reopen.

import { restoreTab } from "./actions.js";
import { keyed, make, mark, write } from "./dom.js";
import { ago, place, titleOf } from "./format.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Closed} Closed */

class ClosedList extends HTMLElement {
  constructor() {
    super();
    this.list = make("ul", {});
    this.none = make("p", { class: "none" }, "A closed tab can be reopened here for a day.");
    /** @type {Map<string, HTMLLIElement>} */
    this.have = new Map();
  }

  connectedCallback() {
    this.append(make("h2", {}, "Recently closed"), this.list, this.none);
  }

  /** @param {State} state */
  show(state) {
    const now = Date.now() / 1000 + state.ahead;
    keyed(this.list, this.have, state.closed, (one) => one.id, (one) => row(one), (row, one) => {
      const [name, when] = row.children;
      if (!name || !when) return;
      write(name, titleOf(one));
      mark(name, "title", one.url);
      write(when, ago(now - one.closed_at));
    });
    this.none.hidden = state.closed.length > 0;
  }
}

/** @param {Closed} closed */
function row(closed) {
  const title = titleOf(closed);
  return make("li", {},
    make("span", { class: "title" }), make("span", { class: "when" }),
    make("button", {
      type: "button", class: "link", "aria-label": `Reopen ${title}, ${place(closed.url)}`,
      click: () => void restoreTab(closed.id, title),
    }, "Reopen"));
}

customElements.define("closed-list", ClosedList);

export { ClosedList };
