// <address-bar>: what is typed here opens as a new tab.

import { openAndShow } from "./actions.js";
import { make } from "./dom.js";

class AddressBar extends HTMLElement {
  connectedCallback() {
    if (this.firstChild) return;
    const field = make("input", {
      type: "text", "aria-label": "Search or type an address; Enter opens it in a new tab", inputmode: "url",
      placeholder: "Search or type an address", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
      enterkeyhint: "go", maxlength: "8192",
    });
    const form = make("form", {
      role: "search",
      submit: (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        const text = field.value.trim();
        if (!text) return;
        field.value = "";
        void openAndShow(text);
      },
    }, field);
    this.append(form);
    document.addEventListener("keydown", (event) => {
      const typing = event.target instanceof HTMLInputElement;
      const asked = (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey)
        || (event.key.toLowerCase() === "l" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey);
      if (!asked) return;
      event.preventDefault();
      field.focus();
      field.select();
    });
  }
}

customElements.define("address-bar", AddressBar);
