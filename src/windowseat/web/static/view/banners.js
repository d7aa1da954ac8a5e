// Strips over the page's top edge: reconnecting, closing, a page that does not answer. The page stays to be seen.

/** @import {State} from "./state.js" */
/** @import {ToHub} from "./wire.js" */
import { h, need } from "./dom.js";

/** @typedef {{kind: string, text: string, seconds: number, label: string, busy?: boolean}} Banner */

/**
 * The banner that a state asks for now, or null. `seconds` counts down beside the text; 0 shows nothing.
 * @param {State} state
 * @param {number} now
 * @returns {Banner | null}
 */
export function bannerOf(state, now) {
  if (state.phase === "denied" || state.ended) return null;
  if (state.phase === "reconnecting") {
    const seconds = Math.max(0, Math.ceil((state.retryAt - now) / 1000));
    if (state.retryAt === 0) return { kind: "lost", text: "Reconnecting…", seconds: 0, label: "", busy: true };
    return { kind: "lost", text: "Connection lost. Trying again in", seconds: Math.max(1, seconds), label: "Try now" };
  }
  if (state.closesAt > now) {
    const seconds = Math.ceil((state.closesAt - now) / 1000);
    return { kind: "closing", text: "This tab ends in", seconds, label: "Undo" };
  }
  if (state.page === "unresponsive") {
    return { kind: "stuck", text: "This page does not answer.", seconds: 0, label: "Reload" };
  }
  return null;
}

export class Banners {
  #place = need("banners", HTMLElement);
  #shown = "";
  #count = h("span", { class: "count", "aria-hidden": "true" });

  /**
   * @param {(message: ToHub) => boolean} send
   * @param {() => void} tryNow
   */
  constructor(send, tryNow) {
    this.send = send;
    this.tryNow = tryNow;
  }

  /**
   * @param {State} state
   * @param {number} now
   */
  render(state, now) {
    const banner = bannerOf(state, now);
    // Only the words are announced, not each second.
    this.#count.textContent = banner?.seconds ? ` ${banner.seconds} s` : "";
    const key = banner ? `${banner.kind} ${banner.text}` : "";
    if (key === this.#shown) return;
    this.#shown = key;
    this.#place.replaceChildren(...(banner ? [this.#body(banner)] : []));
  }

  /** @param {Banner} banner */
  #body(banner) {
    const act = () => {
      if (banner.kind === "lost") this.tryNow();
      else this.send(banner.kind === "closing" ? { t: "restore" } : { t: "nav", k: "reload" });
    };
    return h(
      "div", { class: `banner ${banner.kind}` },
      banner.busy && h("span", { class: "spinner small", "aria-hidden": "true" }),
      h("span", {}, banner.text, this.#count),
      banner.label && h("button", { type: "button", class: "link-button", onclick: act }, banner.label),
    );
  }
}
