// Keys from the hidden field: sends them to the page, does the view's own shortcuts, releases what is held.

/** @import {ToHub} from "./wire.js" */
/** @import {PageKey, Press} from "./keymap.js" */
import { decide, pageKey } from "./keymap.js";

/**
 * @typedef {{
 *   address: () => void, copy: (cut: boolean) => void, nav: (k: string) => void, loading: () => boolean,
 * }} Doings
 */

export class Keyboard {
  /** Keys that are down in the page, by their physical key. @type {Map<string, PageKey>} */
  #held = new Map();

  /**
   * @param {HTMLTextAreaElement} field
   * @param {(message: ToHub) => boolean} send
   * @param {boolean} mac
   * @param {Doings} doings
   */
  constructor(field, send, mac, doings) {
    this.send = send;
    this.mac = mac;
    this.doings = doings;
    // Also while nothing has the focus (what had it went away): no key may be lost.
    document.addEventListener("keydown", (event) => {
      if (event.target === document.body && !document.querySelector("dialog[open]")) field.focus({ preventScroll: true });
      else if (event.target !== field) return;
      this.#down(event);
    });
    document.addEventListener("keyup", (event) => this.#up(event));
    field.addEventListener("blur", () => this.release());
    window.addEventListener("blur", () => this.release());
  }

  /** Lets all held keys go in the page. */
  release() {
    for (const key of this.#held.values()) this.send(up({ ...key, m: 0 }));
    this.#held.clear();
  }

  /**
   * Presses one key in the page, down and up.
   * @param {PageKey} key
   */
  press(key) {
    this.send({ t: "key", k: "down", ...key, rep: false });
    this.send(up(key));
  }

  /** @param {KeyboardEvent} event */
  #down(event) {
    const decision = decide(pressOf(event), this.mac);
    if (decision.do === "leave") return;
    event.preventDefault();
    switch (decision.do) {
      case "address":
        this.doings.address();
        break;
      case "copy":
      case "cut":
        if (!event.repeat) this.doings.copy(decision.do === "cut");
        break;
      case "nav":
        if (!event.repeat) this.doings.nav(decision.k);
        break;
      default:
        this.#toPage(event, decision);
    }
  }

  /**
   * @param {KeyboardEvent} event
   * @param {{do: "key"} & PageKey} decision
   */
  #toPage(event, { do: _do, ...key }) {
    this.#held.set(event.code || event.key, key);
    this.send({ t: "key", k: "down", ...key, rep: event.repeat });
    if (event.key === "Escape" && this.doings.loading()) this.doings.nav("stop");
  }

  /** @param {KeyboardEvent} event */
  #up(event) {
    const id = event.code || event.key;
    const down = this.#held.get(id);
    if (!down) return;
    event.preventDefault();
    this.#held.delete(id);
    const { text: _text, m } = pageKey(pressOf(event), this.mac);
    this.send(up({ ...down, m }));
    // macOS sends no keyup for keys released while Command is down.
    if (this.mac && event.key === "Meta") this.release();
  }
}

/** @param {PageKey} key @returns {ToHub} */
function up({ text: _text, ...key }) {
  return { t: "key", k: "up", ...key, rep: false };
}

/** @param {KeyboardEvent} event @returns {Press} */
function pressOf(event) {
  return {
    key: event.key, code: event.code, location: event.location, keyCode: event.keyCode,
    isComposing: event.isComposing, altGraph: event.getModifierState("AltGraph"),
    ctrlKey: event.ctrlKey, altKey: event.altKey, shiftKey: event.shiftKey, metaKey: event.metaKey,
  };
}
