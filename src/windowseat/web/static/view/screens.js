// What stands in place of the page when there is none to work in: ended, asleep, crashed, not let in.

/** @import {State} from "./state.js" */
/** @import {ToHub} from "./wire.js" */
import { h, need } from "./dom.js";

/**
 * @typedef {{label: string, send?: ToHub, href?: string}} Action
 * @typedef {{kind: string, title: string, text: string, busy?: boolean, code?: string, actions: Action[]}} Screen
 */

/** @type {Record<string, string>} */
const ENDINGS = {
  closed: "Somebody closed it for everyone.",
  page: "The page closed itself.",
  lost: "Its page is gone from the browser.",
};

/**
 * The screen that a state asks for, or null when the page itself is to be seen.
 * @param {State} state
 * @param {string} host where this view was opened, for people with several machines
 * @returns {Screen | null}
 */
export function screenOf(state, host) {
  /** @type {Action[]} */
  const launchpad = state.launchpad ? [{ label: "Open the Launchpad", href: state.launchpad }] : [];
  if (state.phase === "denied") return denied(launchpad, host);
  if (state.ended) {
    const { reason, restorable } = state.ended;
    /** @type {Action[]} */
    const reopen = restorable ? [{ label: "Reopen", send: { t: "restore" } }] : [];
    return {
      kind: "ended", title: "This tab ended", text: ENDINGS[reason] ?? "", actions: [...reopen, ...launchpad],
    };
  }
  if (state.phase === "connecting" && !state.size) {
    return { kind: "connecting", title: "Opening the tab", text: "", busy: true, actions: [] };
  }
  if (state.page === "waking") return { kind: "waking", title: "Waking this tab", text: "", busy: true, actions: [] };
  if (state.page === "crashed") {
    return {
      kind: "crashed", title: "This page crashed", text: "Its process ended. The tab and its history are still here.",
      actions: [{ label: "Reload", send: { t: "nav", k: "reload" } }],
    };
  }
  if (state.tab?.asleep) {
    return {
      kind: "asleep", title: "This tab is asleep", text: "It gave its memory back. Its address and place are kept.",
      actions: [{ label: "Wake", send: { t: "wake" } }],
    };
  }
  return null;
}

/**
 * @param {Action[]} launchpad
 * @param {string} host
 * @returns {Screen}
 */
function denied(launchpad, host) {
  return {
    kind: "denied",
    title: "This view needs a new way in",
    text:
      "A link to a tab opens it once, within a minute. Open the tab from the Launchpad again. If you are not signed " +
      `in there, run this on the machine that ${host} leads to, and open the link it prints:`,
    code: "windowseat url",
    actions: launchpad,
  };
}

export class Screens {
  #place = need("screen", HTMLElement);
  #shown = "";

  /**
   * @param {(message: ToHub) => boolean} send
   * @param {(covered: boolean) => void} covered told when the page goes behind a screen or comes back
   */
  constructor(send, covered) {
    this.send = send;
    this.covered = covered;
  }

  /** @param {State} state */
  render(state) {
    const screen = screenOf(state, location.host);
    const key = JSON.stringify(screen);
    if (key === this.#shown) return;
    const focused = document.activeElement;
    const hadFocus = this.#place.contains(focused);
    // A person who types an address goes on typing it.
    const free = hadFocus || focused === document.body || focused?.id === "keys";
    const wasShown = !this.#place.hidden;
    this.#shown = key;
    this.#place.hidden = !screen;
    this.#place.className = screen ? `screen ${screen.kind}` : "";
    this.#place.replaceChildren(...(screen ? [this.#body(screen)] : []));
    if (screen && free) this.#place.querySelector("button")?.focus({ preventScroll: true });
    if (free && (Boolean(screen) !== wasShown || hadFocus)) this.covered(Boolean(screen));
  }

  /** @param {Screen} screen */
  #body(screen) {
    const actions = screen.actions.map((action, index) => {
      const look = index === 0 ? "button first" : "button";
      if (action.href) return h("a", { class: look, href: action.href, rel: "noopener" }, action.label);
      return h("button", { class: look, type: "button", onclick: () => this.send(action.send ?? { t: "wake" }) }, action.label);
    });
    return h(
      "div", { class: "sheet-text" },
      screen.busy && h("span", { class: "spinner", "aria-hidden": "true" }),
      h("h1", {}, screen.title),
      screen.text && h("p", {}, screen.text),
      screen.code && h("p", {}, h("code", {}, screen.code)),
      actions.length > 0 && h("div", { class: "actions" }, ...actions),
    );
  }
}
