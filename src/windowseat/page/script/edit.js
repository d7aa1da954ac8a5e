/// <reference path="./types.d.ts" />
// Preparing an element for text, and setting the few kinds of fields that cannot be typed into.

import { Problem } from "./find.js";
import { describe, isEditableHost } from "./meaning.js";

const SET_ONLY = new Set(["date", "time", "month", "week", "datetime-local", "color", "range"]);
const NO_TEXT = new Set(["checkbox", "radio", "button", "submit", "reset", "image", "file", "hidden"]);

/** The editable element that an action on `element` means. @param {Element} element */
export function editableOf(element) {
  const tag = element.localName;
  if (tag === "input" || tag === "textarea") {
    const input = /** @type {HTMLInputElement} */ (element);
    if (tag === "input" && NO_TEXT.has(input.type)) {
      throw new Problem("invalid-args", `${describe(element)} takes no text; click it instead.`, true);
    }
    if (input.readOnly) {
      throw new Problem("timeout", `${describe(element)} is read-only.`, false);
    }
    return element;
  }
  if (tag === "select") {
    throw new Problem("invalid-args", `${describe(element)} is a list to choose from; it takes no text.`, true);
  }
  if (/** @type {HTMLElement} */ (element).isContentEditable) {
    return element;
  }
  if (tag === "label") {
    const control = /** @type {HTMLLabelElement} */ (element).control;
    if (control) {
      return editableOf(control);
    }
  }
  const inner = element.querySelectorAll("input:not([type=hidden]),textarea,[contenteditable]");
  if (inner.length === 1) {
    return editableOf(inner[0]);
  }
  throw new Problem("invalid-args", `${describe(element)} takes no text.`, true);
}

/**
 * Focus it and select what typed text shall replace, or go to the end.
 * @param {Element} element @param {"replace" | "append"} mode @returns {boolean} whether it must be set instead of typed
 */
export function prepare(element, mode) {
  const html = /** @type {HTMLInputElement} */ (element);
  html.focus({ preventScroll: true });
  if (element.localName === "input" && SET_ONLY.has(html.type)) {
    return true;
  }
  if (element.localName === "input" || element.localName === "textarea") {
    if (mode === "replace") {
      html.select();
    } else {
      toEnd(html);
    }
    return false;
  }
  const selection = /** @type {Selection} */ (element.ownerDocument.getSelection());
  const range = element.ownerDocument.createRange();
  range.selectNodeContents(isEditableHost(element) ? element : hostOf(element));
  if (mode === "append") {
    range.collapse(false);
  }
  selection.removeAllRanges();
  selection.addRange(range);
  return false;
}

/** @param {HTMLInputElement} input */
function toEnd(input) {
  try {
    input.setSelectionRange(input.value.length, input.value.length);
  } catch {
    // E-mail and number fields have no caret to ask for; choosing all and going right ends there too.
    input.select();
    input.ownerDocument.getSelection()?.modify("move", "forward", "lineboundary");
  }
}

/** @param {Element} element @returns {Element} */
function hostOf(element) {
  let host = element;
  while (!isEditableHost(host) && host.parentElement) {
    host = host.parentElement;
  }
  return host;
}

/** Whether anything is there that typing would replace. @param {Element} element */
export function hasText(element) {
  const input = /** @type {HTMLInputElement} */ (element);
  return element.localName === "input" || element.localName === "textarea" ? input.value !== "" : element.textContent !== "";
}

/** Give a date, time, colour or range its value, as its own picker would. @param {Element} element @param {string} value */
export function setValue(element, value) {
  const input = /** @type {HTMLInputElement} */ (element);
  const before = input.value;
  input.value = value;
  if (value !== "" && (input.value === "" || (input.type !== "range" && input.value.toLowerCase() !== value.toLowerCase()))) {
    const kept = input.value;
    input.value = before;
    const example = { date: "2026-03-31", time: "14:30", month: "2026-03", week: "2026-W14", "datetime-local": "2026-03-31T14:30", color: "#336699" }[input.type];
    throw new Problem("invalid-args", `${describe(element)} does not take that value${kept ? ` (it would become ${kept})` : ""}; write it as ${example ?? "a number"}.`, true);
  }
  if (input.value !== before) {
    input.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }
}
