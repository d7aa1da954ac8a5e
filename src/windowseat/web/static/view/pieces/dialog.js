// A page's alert, confirm, prompt, or its question before it is left.

/** @import {Dialog} from "../wire.js" */
/** @import {PieceWays, OpenPiece} from "./registry.js" */
import { hostOf } from "../address.js";
import { h } from "../dom.js";
import { showModal } from "./modal.js";

/** @type {Record<Dialog["kind"], {title: (host: string) => string, yes: string, no: string}>} */
const WORDS = {
  alert: { title: (host) => `${host} says`, yes: "OK", no: "" },
  confirm: { title: (host) => `${host} asks`, yes: "OK", no: "Cancel" },
  prompt: { title: (host) => `${host} asks`, yes: "OK", no: "Cancel" },
  beforeunload: { title: () => "Leave this page?", yes: "Leave", no: "Stay" },
};

/**
 * @param {Dialog} dialog
 * @param {PieceWays} ways
 * @returns {OpenPiece}
 */
export function openDialog(dialog, ways) {
  const words = WORDS[dialog.kind] ?? WORDS.alert;
  const input = dialog.kind === "prompt" ? h("input", { type: "text", class: "text", autofocus: true }) : null;
  if (input) input.value = dialog.default;
  const answer = (/** @type {boolean} */ accept) => {
    ways.answer({ t: "dialog", id: dialog.id, accept, ...(accept && input ? { text: input.value } : {}) });
  };
  const title = words.title(hostOf(dialog.origin) || "This page");
  const leaving = dialog.kind === "beforeunload";
  const message = leaving ? dialog.message || "Changes that you made may not be saved." : dialog.message;
  const form = h(
    "form", { method: "dialog", onsubmit: (event) => (event.preventDefault(), answer(true)) },
    h("h1", {}, title),
    message && h("p", { class: "message" }, message),
    input && h("label", { class: "field" }, h("span", { class: "visually-hidden" }, message || "Answer"), input),
    h(
      "div", { class: "actions" },
      words.no && h("button", { type: "button", class: "button", onclick: () => answer(false) }, words.no),
      h("button", { type: "submit", class: "button first", autofocus: !input }, words.yes),
    ),
  );
  const modal = showModal({ label: title, look: "dialog", cancelled: () => answer(dialog.kind === "alert") }, form);
  input?.select();
  return modal;
}
