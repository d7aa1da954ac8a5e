/// <reference path="./types.d.ts" />
// The page as an outline: roles, names, states, text, refs on what can be acted on.

import { ACTIONABLE, ACTIONABLE_CSS, NAMED_BY_CONTENT, cut, flat, isEditableHost, nameOf, roleOf, statesOf } from "./meaning.js";
import { knownRef, setRef } from "./refs.js";
import { childrenOf, documentIn, isBlock, isFrame, styleOf } from "./style.js";

const SKIPPED = new Set(["script", "style", "noscript", "template", "head", "link", "meta", "title", "datalist", "source", "track", "param", "object", "embed"]);
const ELEMENT_LIMIT = 60000;
const TEXT_LIMIT = 2000;
const OPTION_LIMIT = 30;
const DEPTH_LIMIT = 300;

/**
 * Where children gather. `open`: the last text still goes on (no block and no node since).
 * @typedef {{items: OutlineNode[], open: boolean}} Gathering
 */

export class Outline {
  /** @param {{next: number, maxRefs: number, interactive: boolean, budget: number}} options */
  constructor(options) {
    this.next = options.next;
    this.maxRefs = options.maxRefs;
    this.interactive = options.interactive;
    this.budget = options.budget;
    this.refs = 0;
    this.visited = 0;
    this.withoutRef = 0;
    this.cut = false;
    this.muted = 0; // inside the label of a control that says the same as its name
    /** @type {Element[]} */
    this.frames = [];
  }

  /** @param {Element} root @returns {OutlineNode[]} */
  of(root) {
    /** @type {Gathering} */
    const into = { items: [], open: false };
    this.element(root, into, "auto", 0);
    return tidy(into.items);
  }

  /** @param {Element} element @param {Gathering} into @param {string} cursor the parent's @param {number} depth */
  element(element, into, cursor, depth) {
    if (this.budget <= 0 || this.visited >= ELEMENT_LIMIT || depth > DEPTH_LIMIT) {
      this.cut = true;
      return;
    }
    const tag = element.localName;
    if (SKIPPED.has(tag) || element.getAttribute("aria-hidden") === "true") {
      return;
    }
    this.visited += 1;
    if (tag === "br" || tag === "wbr") {
      this.text(" ", into);
      return;
    }
    const style = styleOf(element);
    // Whoever holds it was displayed, or we would not be here.
    if (style.display === "none") {
      return;
    }
    const shown = style.visibility === "visible";
    const role = shown ? roleOf(element) : "";
    const pointer = style.cursor === "pointer" && cursor !== "pointer";
    const acts = shown && this.isActionable(element, role, pointer);
    if (tag === "svg" && !role && !acts) {
      return;
    }
    if (!role && !acts) {
      const block = isBlock(style);
      const muted = tag === "label" && isShownElsewhere(/** @type {HTMLLabelElement} */ (element)) ? 1 : 0;
      into.open &&= !block;
      this.muted += muted;
      if (style.contentVisibility !== "hidden") {
        this.children(element, into, style.cursor, shown, depth);
      }
      this.muted -= muted;
      into.open &&= !block;
      return;
    }
    this.node(element, role || "clickable", acts, into, style, depth);
  }

  /** @param {Element} element @param {string} role @param {boolean} pointer */
  isActionable(element, role, pointer) {
    if (ACTIONABLE.has(role)) {
      return !(element.localName === "option");
    }
    if (element.hasAttribute("tabindex") && /** @type {HTMLElement} */ (element).tabIndex >= 0) {
      return true;
    }
    if (element.localName === "label") {
      const control = /** @type {HTMLLabelElement} */ (element).control;
      return control !== null && !control.checkVisibility();
    }
    if (element.localName === "body" || element.localName === "html") {
      return false;
    }
    return pointer || element.hasAttribute("onclick");
  }

  /** @param {Element} element @param {string} role @param {boolean} acts @param {Gathering} into @param {CSSStyleDeclaration} style @param {number} depth */
  node(element, role, acts, into, style, depth) {
    let whole = nameOf(element, role);
    let inside = this.goesInside(element, role, whole);
    if (role === "clickable" && !inside) {
      whole = flat(/** @type {HTMLElement} */ (element).innerText ?? element.textContent ?? "");
      inside = whole.length > 200;
    }
    const name = inside && role === "clickable" ? cut(flat(element.getAttribute("aria-label") ?? "")) : cut(whole);
    if (role === "img" && !name && !acts) {
      return;
    }
    const ref = acts ? this.ref(element) : 0;
    const states = statesOf(element, role, acts);
    this.budget -= costOf(role, name, ref, states);
    /** @type {OutlineNode[] | number} */
    let children = [];
    if (style.contentVisibility === "hidden") {
      inside = false;
    }
    if (isFrame(element)) {
      children = this.frame(element, depth);
    } else if (element.localName === "select") {
      children = this.options(/** @type {HTMLSelectElement} */ (element));
    } else if (inside) {
      /** @type {Gathering} */
      const within = { items: [], open: false };
      this.children(element, within, style.cursor, true, depth);
      children = tidy(within.items);
    }
    into.open = false;
    if (this.interactive && !acts && Array.isArray(children)) {
      into.items.push(...children);
    } else {
      into.items.push([role, name, ref, states, children]);
    }
  }

  /** Whether the content is told too, beside the name. @param {Element} element @param {string} role @param {string} name */
  goesInside(element, role, name) {
    switch (element.localName) {
      case "input": case "textarea": case "img": case "svg": case "canvas": case "video": case "audio": case "progress": case "meter":
        return false;
    }
    if ((role === "textbox" || role === "searchbox") && isEditableHost(element)) {
      return false;
    }
    if (role === "clickable") {
      return element.shadowRoot !== null || element.querySelector(ACTIONABLE_CSS) !== null;
    }
    if (!NAMED_BY_CONTENT.has(role)) {
      return true;
    }
    return name.length > 200 || element.shadowRoot !== null || element.querySelector(ACTIONABLE_CSS) !== null;
  }

  /** @param {Element} element @param {Gathering} into @param {string} cursor @param {boolean} shown @param {number} depth */
  children(element, into, cursor, shown, depth) {
    for (const child of childrenOf(element)) {
      if (child.nodeType === 1) {
        this.element(/** @type {Element} */ (child), into, cursor, depth + 1);
      } else if (child.nodeType === 3 && shown && !this.interactive) {
        this.text(/** @type {Text} */ (child).data, into);
      }
      if (this.budget <= 0) {
        this.cut = true;
        return;
      }
    }
  }

  /** @param {string} text @param {Gathering} into */
  text(text, into) {
    if (this.muted) {
      return;
    }
    const last = into.items.length - 1;
    if (into.open && typeof into.items[last] === "string") {
      into.items[last] += text;
    } else if (text.trim()) {
      into.items.push(text);
      into.open = true;
    } else {
      return;
    }
    this.budget -= Math.min(text.length, TEXT_LIMIT);
  }

  /** @param {Element} element */
  ref(element) {
    let number = knownRef(element);
    if (this.refs >= this.maxRefs) {
      this.withoutRef += 1;
      return 0;
    }
    this.refs += 1;
    if (!number) {
      number = this.next;
      this.next += 1;
      setRef(element, number);
    }
    return number;
  }

  /** @param {HTMLSelectElement} select @returns {OutlineNode[]} */
  options(select) {
    const labels = Array.from(select.options).slice(0, OPTION_LIMIT).map((option) => cut(flat(option.label), 60));
    if (select.options.length > OPTION_LIMIT) {
      labels.push(`… ${select.options.length - OPTION_LIMIT} more`);
    }
    this.budget -= labels.join().length;
    return labels.length ? [["options", "", 0, [], labels]] : [];
  }

  /** @param {Element} element @param {number} depth @returns {OutlineNode[] | number} */
  frame(element, depth) {
    const inner = documentIn(element);
    if (!inner) {
      this.frames.push(element);
      return this.frames.length - 1;
    }
    /** @type {Gathering} */
    const within = { items: [], open: false };
    if (inner.body) {
      this.element(inner.body, within, "auto", depth + 1);
    }
    return tidy(within.items);
  }
}

/** About the characters of its line; without the indent, so that the hub's own limit comes first.
 * @param {string} role @param {string} name @param {number} ref @param {string[]} states */
function costOf(role, name, ref, states) {
  if (role === "cell" && !name) {
    return 3;
  }
  return role.length + 3 + (name ? name.length + 3 : 0) + (ref ? 5 : 0) + (states.length ? states.join().length + 3 : 0);
}

/** Whether the label's words stand as the name of its control. @param {HTMLLabelElement} label */
function isShownElsewhere(label) {
  return label.control !== null && label.control.checkVisibility();
}

/** @param {OutlineNode[]} items @returns {OutlineNode[]} */
function tidy(items) {
  /** @type {OutlineNode[]} */
  const kept = [];
  for (const item of items) {
    if (typeof item !== "string") {
      kept.push(item);
      continue;
    }
    const text = cut(flat(item), TEXT_LIMIT);
    if (text) {
      kept.push(text);
    }
  }
  return kept;
}
