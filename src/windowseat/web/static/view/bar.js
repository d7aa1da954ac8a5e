// The bar: back, forward, reload or stop, the address, and how its parts follow the state.

/** @import {State} from "./state.js" */
/** @import {ToHub} from "./wire.js" */
import { addressParts, editable } from "./address.js";
import { icon, need } from "./dom.js";

export class Bar {
  #back = need("back", HTMLButtonElement);
  #forward = need("forward", HTMLButtonElement);
  #reload = need("reload", HTMLButtonElement);
  #form = need("address-form", HTMLFormElement);
  #address = need("address", HTMLInputElement);
  #shown = need("shown-address", HTMLElement);
  #icon = need("icon", HTMLImageElement);
  #progress = need("progress", HTMLElement);
  #url = "";
  #loading = false;
  #iconShown = "";

  /**
   * @param {(message: ToHub) => boolean} send
   * @param {() => void} toPage gives the keys back to the page
   */
  constructor(send, toPage) {
    this.toPage = toPage;
    const nav = (/** @type {string} */ k) => {
      send({ t: "nav", k });
      toPage();
    };
    this.#back.addEventListener("click", () => nav("back"));
    this.#forward.addEventListener("click", () => nav("forward"));
    this.#reload.addEventListener("click", (event) => {
      nav(this.#loading ? "stop" : event.shiftKey ? "hard-reload" : "reload");
    });
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.#address.value.trim();
      if (!text) return;
      send({ t: "nav", k: "go", text });
      toPage();
    });
    this.#address.addEventListener("focus", () => this.#address.select());
    this.#address.addEventListener("blur", () => this.#restore());
    need("bar", HTMLElement).addEventListener("keydown", (event) => this.#key(event));
  }

  focusAddress() {
    this.#address.focus();
    this.#address.select();
  }

  /**
   * @param {State} state
   * @param {State | null} before
   */
  render(state, before) {
    if (before && state.tab === before.tab && state.phase === before.phase && state.ended === before.ended) return;
    const { tab } = state;
    const usable = state.phase === "live" && tab !== null && !state.ended;
    this.#back.disabled = !usable || !tab.can_back;
    this.#forward.disabled = !usable || !tab.can_forward;
    this.#reload.disabled = !usable;
    this.#address.disabled = !usable;
    this.#renderLoading(usable && tab.loading);
    if (!tab) return;
    this.#url = tab.url;
    if (document.activeElement !== this.#address) this.#restore();
    document.title = tab.title || addressParts(tab.url).host || "New tab";
    this.#renderIcon(tab.icon);
  }

  /** @param {boolean} loading */
  #renderLoading(loading) {
    if (loading === this.#loading) return;
    this.#loading = loading;
    this.#reload.replaceChildren(icon(loading ? "stop" : "reload"));
    this.#reload.title = loading ? "Stop" : "Reload";
    this.#reload.setAttribute("aria-label", this.#reload.title);
    this.#progress.hidden = !loading;
  }

  /** @param {string} address */
  #renderIcon(address) {
    // The page's content policy lets no other addresses in.
    const shown = address.startsWith("data:image/") ? address : "";
    if (shown === this.#iconShown) return;
    this.#iconShown = shown;
    this.#icon.hidden = !shown;
    if (shown) this.#icon.src = shown;
    document.querySelector("link[rel=icon]")?.setAttribute("href", shown || "data:,");
  }

  #restore() {
    this.#address.value = editable(this.#url);
    const { before, host, after } = addressParts(this.#url);
    const strong = document.createElement("b");
    strong.textContent = host;
    this.#shown.replaceChildren(before, strong, after);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key === "F6" || (event.key === "Escape" && event.target !== this.#address)) {
      event.preventDefault();
      this.toPage();
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.#restore();
      this.toPage();
    }
  }
}
