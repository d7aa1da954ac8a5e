/// <reference path="./types.d.ts" />
// Which element a target means: a ref, `text=…`, `role=…[name="…"]`, `label=…`, or a CSS selector.

import { flat, nameOf, roleOf } from "./meaning.js";
import { byRef } from "./refs.js";
import { isVisible, parentOf, rootsIn } from "./style.js";

/** What keeps an action from happening. `final`: waiting does not help. */
export class Problem extends Error {
  /** @param {string} code @param {string} message @param {boolean} final */
  constructor(code, message, final) {
    super(message);
    this.code = code;
    this.final = final;
  }
}

const SKIPPED = new Set(["script", "style", "noscript", "template", "head", "title", "meta", "link"]);

/**
 * All elements that a target means. Of several, the ones a person can see.
 * @param {string} target @returns {Element[]}
 */
export function findAll(target) {
  return findWith(target).found;
}

/**
 * The same, and whether they match in part only (`text=`, `label=` and names of roles).
 * @param {string} target @returns {{found: Element[], partly: boolean}}
 */
export function findWith(target) {
  const ref = /^@e(\d+)$/.exec(target);
  if (ref) {
    const element = byRef(Number(ref[1]));
    if (!element) {
      throw new Problem("stale-ref", `${target} is not in the page any more; take a new snapshot.`, true);
    }
    return { found: [element], partly: false };
  }
  partly = false;
  const found = search(target);
  const visible = found.filter(isVisible);
  return { found: visible.length ? visible : found, partly };
}

/** The one element that a target means. @param {string} target */
export function findOne(target) {
  const found = findAll(target);
  if (found.length === 0) {
    throw new Problem("not-found", `Nothing in the page matches ${target}.`, false);
  }
  if (found.length > 1) {
    throw new Problem("invalid-args", `${target} matches ${found.length} elements; name one, for example by its ref.`, true);
  }
  return found[0];
}

/** @param {string} target @returns {Element[]} */
function search(target) {
  const kind = /^(text|role|label|css)=(.*)$/s.exec(target);
  switch (kind?.[1]) {
    case "text":
      return byText(kind[2]);
    case "role":
      return byRole(kind[2]);
    case "label":
      return byLabel(kind[2]);
    case "css":
      return byCss(kind[2]);
  }
  return byCss(target);
}

/** @param {string} selector */
function byCss(selector) {
  /** @type {Element[]} */
  const found = [];
  try {
    for (const root of rootsIn(document)) {
      found.push(...root.querySelectorAll(selector));
    }
  } catch {
    throw new Problem("invalid-args", `${selector} is not a CSS selector; targets are @e12, a selector, text=…, role=button[name="…"] or label=….`, true);
  }
  return found;
}

/** Whether the last search found whole matches none, but parts. */
let partly = false;

/** A word in quotes is taken exactly. @param {string} text @returns {{text: string, exact: boolean}} */
function unquote(text) {
  const quoted = /^(["'])(.*)\1$/s.exec(text.trim());
  return quoted ? { text: flat(quoted[2]), exact: true } : { text: flat(text).toLowerCase(), exact: false };
}

/**
 * Those that say exactly this, else those that contain it.
 * @param {Iterable<Element>} elements @param {string} wanted @param {(element: Element) => string} says
 */
function best(elements, wanted, says) {
  const { text, exact } = unquote(wanted);
  /** @type {Element[]} */
  const whole = [];
  /** @type {Element[]} */
  const part = [];
  for (const element of elements) {
    const said = says(element);
    const folded = exact ? said : said.toLowerCase();
    if (folded === text) {
      whole.push(element);
    } else if (!exact && text && folded.includes(text)) {
      part.push(element);
    }
  }
  partly = whole.length === 0;
  return whole.length ? whole : part;
}

/** @param {string} wanted */
function byText(wanted) {
  const { text, exact } = unquote(wanted);
  if (!text) {
    throw new Problem("invalid-args", "text= needs some text.", true);
  }
  /** @type {Element[]} */
  const candidates = [];
  for (const element of allElements()) {
    const own = exact ? textOf(element) : textOf(element).toLowerCase();
    if (own.includes(text)) {
      candidates.push(element);
    }
  }
  // The innermost ones: whoever has a child that contains it too is only its surroundings.
  const outer = new Set(candidates.map((element) => parentOf(element)));
  return best(candidates.filter((element) => !outer.has(element)), wanted, textOf);
}

/** @param {Element} element */
function textOf(element) {
  if (element.localName === "input") {
    const input = /** @type {HTMLInputElement} */ (element);
    return ["button", "submit", "reset"].includes(input.type) ? flat(input.value) : "";
  }
  // The text of scripts and styles is nobody's words.
  const words = element.querySelector("script,style,noscript,template")
    ? /** @type {HTMLElement} */ (element).innerText
    : element.textContent;
  return flat(words ?? "");
}

/** @param {string} wanted `button` or `button[name="Save"]` */
function byRole(wanted) {
  const parts = /^([\w-]+)(?:\[name=(.*)\])?$/s.exec(wanted.trim());
  if (!parts) {
    throw new Problem("invalid-args", `role=${wanted} is not understood; write role=button[name="Save"].`, true);
  }
  const role = parts[1].toLowerCase();
  const ofRole = Array.from(allElements()).filter((element) => roleOf(element) === role);
  return parts[2] === undefined ? ofRole : best(ofRole, parts[2], (element) => nameOf(element, role));
}

/** @param {string} wanted */
function byLabel(wanted) {
  const fields = Array.from(allElements()).filter(isField);
  return best(fields, wanted, (element) => nameOf(element, roleOf(element)) || labelText(element));
}

/** A field that is not displayed has no accessible name; its label may be displayed all the same.
 * @param {Element} element */
function labelText(element) {
  const labels = /** @type {HTMLInputElement} */ (element).labels;
  return Array.from(labels ?? [], (label) => flat(label.textContent ?? "")).join(" ");
}

/** @param {Element} element */
function isField(element) {
  switch (element.localName) {
    case "input":
      return /** @type {HTMLInputElement} */ (element).type !== "hidden";
    case "select": case "textarea": case "meter": case "progress": case "output":
      return true;
  }
  return element.hasAttribute("aria-label") || element.hasAttribute("aria-labelledby");
}

/** @returns {Generator<Element>} */
function* allElements() {
  for (const root of rootsIn(document)) {
    for (const element of root.querySelectorAll("*")) {
      if (!SKIPPED.has(element.localName)) {
        yield element;
      }
    }
  }
}
