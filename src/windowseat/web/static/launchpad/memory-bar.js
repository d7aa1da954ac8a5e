// <memory-bar>: how much of the machine's memory the browser and the rest have.

import { make, mark, write } from "./dom.js";
import { bytes } from "./format.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {"browser" | "rest" | "free"} Part */

/** @type {[Part, string][]} */
const PARTS = [["browser", "Browser"], ["rest", "Everything else"], ["free", "Free"]];

class MemoryBar extends HTMLElement {
  constructor() {
    super();
    this.heading = make("h2", {}, "Memory");
    this.bar = make("div", { class: "bar", role: "img" });
    this.legend = make("dl", {});
    /** @type {Map<Part, {share: HTMLElement, amount: HTMLElement}>} */
    this.parts = new Map();
    for (const [part, name] of PARTS) {
      const share = make("span", { class: part });
      const amount = make("dd", {});
      if (part !== "free") this.bar.append(share);
      this.legend.append(make("div", {}, make("dt", {}, make("span", { class: `dot ${part}` }), name), amount));
      this.parts.set(part, { share, amount });
    }
  }

  connectedCallback() {
    this.append(this.heading, this.bar, this.legend);
  }

  /** @param {State} state */
  show(state) {
    const memory = state.memory;
    mark(this, "data-known", memory !== null);
    if (!memory) return;
    const used = bytes(memory.total - memory.free);
    write(this.heading, `Memory · ${used} of ${bytes(memory.total)}`);
    mark(this.bar, "aria-label", PARTS.map(([part, name]) => `${name} ${bytes(memory[part])}`).join(", "));
    for (const [part, { share, amount }] of this.parts) {
      share.style.width = `${(100 * memory[part]) / Math.max(1, memory.total)}%`;
      write(amount, bytes(memory[part]));
    }
  }
}

customElements.define("memory-bar", MemoryBar);

export { MemoryBar };
