// <connection-note>: says when what is shown may be old.

import { make, mark } from "./dom.js";

/** @typedef {import("./state.js").State} State */

class ConnectionNote extends HTMLElement {
  constructor() {
    super();
    /** @type {() => void} */
    this.again = () => {};
    this.text = make("span", {});
    this.button = make("button", { type: "button", class: "plain", click: () => this.again() }, "Try now");
  }

  connectedCallback() {
    mark(this, "role", "status");
    this.hidden = true;
    this.append(this.text, this.button);
  }

  /** @param {State} state */
  show(state) {
    const lost = state.connection === "lost";
    if (this.hidden === !lost) return;
    this.hidden = !lost;
    this.text.textContent = lost ? "Lost the hub. Connecting again; what you see may be old." : "";
  }
}

customElements.define("connection-note", ConnectionNote);

export { ConnectionNote };
