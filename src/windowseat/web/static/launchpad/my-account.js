// <my-account>: the machine's name, and one's own badge; pressing it changes one's name.

import { rename } from "./actions.js";
import { badge, make, mark, write } from "./dom.js";
import { initial } from "./format.js";

/** @typedef {import("./state.js").State} State */

class MyAccount extends HTMLElement {
  constructor() {
    super();
    this.machine = make("span", { class: "machine" });
    this.button = make("button", {
      type: "button", class: "me", "aria-haspopup": "dialog", click: () => this.#ask(),
    });
    this.field = make("input", { type: "text", maxlength: "40", autocomplete: "nickname", required: true, id: "my-name" });
    this.dialog = make("dialog", { class: "rename", "aria-labelledby": "my-name-label" },
      make("form", {
        method: "dialog",
        submit: () => void rename(this.field.value),
      },
      make("label", { for: "my-name", id: "my-name-label" }, "The name that others see"),
      this.field,
      make("div", { class: "row" },
        make("button", { type: "button", class: "plain", click: () => this.dialog.close() }, "Cancel"),
        make("button", { type: "submit", class: "strong" }, "Save"))));
    this.shown = "";
  }

  connectedCallback() {
    this.append(this.machine, this.button, this.dialog);
  }

  /** @param {State} state */
  show(state) {
    write(this.machine, state.machine);
    const you = state.you;
    mark(this.button, "hidden", you === null);
    if (!you || this.shown === you.name + you.color) return;
    this.shown = you.name + you.color;
    this.button.replaceChildren(badge(you, initial(you.name)));
    mark(this.button, "aria-label", `You are ${you.name}. Change your name`);
    mark(this.button, "title", you.name);
    this.name = you.name;
  }

  #ask() {
    this.field.value = this.name ?? "";
    this.dialog.showModal();
    this.field.select();
  }
}

customElements.define("my-account", MyAccount);

export { MyAccount };
