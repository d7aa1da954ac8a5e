// The two lines at the bottom left: what an agent does here, and where the link under the pointer leads.

/** @import {State} from "./state.js" */
import { h, need } from "./dom.js";
import { sessionLabel } from "./names.js";

export class Hints {
  #agent = need("agent-line", HTMLElement);
  #link = need("link", HTMLElement);

  /**
   * @param {State} state
   * @param {State | null} before
   */
  render(state, before) {
    if (state.agentLine !== before?.agentLine) {
      const line = state.agentLine;
      this.#agent.hidden = !line;
      if (line) this.#agent.replaceChildren(h("b", {}, sessionLabel(line.session)), ` ${line.line}`);
    }
    if (state.link !== before?.link) {
      this.#link.hidden = !state.link;
      this.#link.textContent = state.link;
    }
  }
}
