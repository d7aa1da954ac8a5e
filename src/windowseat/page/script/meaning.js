/// <reference path="./types.d.ts" />
// What an element is to assistive technology: role, name, states, and whether it can be acted on.

import { computeAccessibleName, getRole } from "dom-accessibility-api";
import { styleOf } from "./style.js";

const NAME_LIMIT = 200;

export const ACTIONABLE = new Set([
  "button", "link", "textbox", "searchbox", "combobox", "listbox", "checkbox", "radio", "switch", "slider",
  "spinbutton", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "tab", "treeitem", "clickable",
  "canvas", "video", "audio", "scrollbar",
]);

// Elements that may be acted on, to find out quickly whether an element holds any.
export const ACTIONABLE_CSS =
  "a[href],button,input,select,textarea,summary,iframe,[role],[tabindex],[onclick],[contenteditable],canvas,video,audio";

// Roles whose name comes from what is in them, so that the content is not told a second time.
export const NAMED_BY_CONTENT = new Set([
  "button", "link", "heading", "checkbox", "radio", "switch", "menuitem", "menuitemcheckbox", "menuitemradio",
  "option", "tab", "treeitem", "tooltip",
]);

const NAMED_BY_AUTHOR = new Set([
  "textbox", "searchbox", "combobox", "listbox", "slider", "spinbutton", "dialog", "alertdialog", "img", "figure",
  "form", "region", "navigation", "main", "banner", "contentinfo", "complementary", "search", "group", "radiogroup",
  "list", "table", "grid", "treegrid", "tree", "tablist", "tabpanel", "menu", "menubar", "toolbar", "progressbar",
  "meter", "iframe", "article", "status", "alert", "log", "row", "video", "audio", "canvas", "scrollbar", "application",
]);

const KNOWN = new Set([
  ...ACTIONABLE, ...NAMED_BY_CONTENT, ...NAMED_BY_AUTHOR,
  "cell", "gridcell", "columnheader", "rowheader", "rowgroup", "listitem", "separator", "paragraph", "term",
  "definition", "caption", "blockquote", "code", "math", "note", "timer", "marquee", "feed", "none", "presentation",
  "generic", "emphasis", "strong", "document", "directory", "time",
]);
KNOWN.delete("clickable");

/** @type {Record<string, string>} */
const BY_TAG = {
  p: "paragraph", caption: "caption", figcaption: "caption", blockquote: "blockquote", iframe: "iframe",
  frame: "iframe", video: "video", audio: "audio", canvas: "canvas", meter: "meter", search: "search",
};

const NO_ROLE = new Set(["none", "presentation", "generic", "document", "legend", "label", "emphasis", "strong", "code", "time"]);

/** Inputs that have been passwords: showing one in clear text does not make it public. */
const secrets = new WeakSet();

/** Whether the value must never leave the page. @param {Element} element */
export function isSecret(element) {
  if (element.localName !== "input") {
    return false;
  }
  const input = /** @type {HTMLInputElement} */ (element);
  if (input.type === "password" || /password/i.test(input.autocomplete)) {
    secrets.add(input);
  }
  return secrets.has(input);
}

/** @param {Element} element @returns {boolean} */
export function isEditableHost(element) {
  const html = /** @type {HTMLElement} */ (element);
  if (html.isContentEditable !== true) {
    return false;
  }
  const parent = element.parentElement;
  return !parent || parent.isContentEditable !== true;
}

/** The role, "" for an element without meaning of its own. @param {Element} element @returns {string} */
export function roleOf(element) {
  const attribute = element.getAttribute("role");
  if (attribute) {
    const named = attribute.trim().toLowerCase().split(/\s+/).find((role) => KNOWN.has(role));
    if (named) {
      return NO_ROLE.has(named) ? "" : named === "image" ? "img" : named;
    }
  }
  return implicitRole(element);
}

/** @param {Element} element @returns {string} */
function implicitRole(element) {
  const tag = element.localName;
  if (tag === "div" || tag === "span") {
    return element.hasAttribute("contenteditable") && isEditableHost(element) ? "textbox" : "";
  }
  const simple = BY_TAG[tag];
  if (simple) {
    return simple;
  }
  switch (tag) {
    case "input":
      return inputRole(/** @type {HTMLInputElement} */ (element));
    case "header":
    case "footer":
      if (element.closest("article,aside,main,nav,section")) {
        return "";
      }
      break;
    case "section":
    case "form":
      if (!element.hasAttribute("aria-label") && !element.hasAttribute("aria-labelledby") && !element.hasAttribute("title")) {
        return "";
      }
      break;
    case "th":
      return element.getAttribute("scope") === "row" ? "rowheader" : "columnheader";
    case "td":
      return cellRole(element);
    case "svg":
      return element.querySelector("title") || element.hasAttribute("aria-label") ? "img" : "";
    case "body":
    case "html":
    case "label":
      return element.hasAttribute("contenteditable") && isEditableHost(element) ? "textbox" : "";
  }
  const role = getRole(element.hasAttribute("role") ? withoutRole(element) : element);
  if (role && KNOWN.has(role) && !NO_ROLE.has(role)) {
    return role;
  }
  return element.hasAttribute("contenteditable") && isEditableHost(element) ? "textbox" : "";
}

/** Of a row the cells have the same role. @type {WeakMap<Element, string>} */
const cellRoles = new WeakMap();

/** @param {Element} element @returns {string} */
function cellRole(element) {
  const row = element.parentElement ?? element;
  let role = cellRoles.get(row);
  if (!role) {
    role = row.closest('[role="grid"],[role="treegrid"]') ? "gridcell" : "cell";
    cellRoles.set(row, role);
  }
  return role;
}

/** An empty copy without the unknown `role`, for the library, which would answer that role.
 * @param {Element} element */
function withoutRole(element) {
  const copy = /** @type {Element} */ (element.cloneNode(false));
  copy.removeAttribute("role");
  return copy;
}

/** @param {HTMLInputElement} input */
function inputRole(input) {
  switch (input.type) {
    case "hidden":
      return "";
    case "file":
    case "color":
      return "button";
    case "password":
    case "date":
    case "time":
    case "month":
    case "week":
    case "datetime-local":
      return "textbox";
  }
  return getRole(input) ?? "textbox";
}

/** Collapsed white space, without the private characters of icon fonts. @param {string} text */
export function flat(text) {
  return text.replace(/[\u200b\ufeff\ue000-\uf8ff]/g, "").replace(/\s+/g, " ").trim();
}

/** @param {string} text @param {number} [limit] */
export function cut(text, limit = NAME_LIMIT) {
  if (text.length <= limit) {
    return text;
  }
  // Not through the middle of a surrogate pair.
  const end = /[\ud800-\udbff]/.test(text[limit - 2]) ? limit - 2 : limit - 1;
  return text.slice(0, end) + "…";
}

/** The accessible name, whole. @param {Element} element @param {string} role @returns {string} */
export function nameOf(element, role) {
  const byContent = NAMED_BY_CONTENT.has(role);
  if (!byContent && !NAMED_BY_AUTHOR.has(role)) {
    return flat(element.getAttribute("aria-label") ?? "");
  }
  if (byContent && isPlain(element)) {
    return flat(pseudo(element, "::before") + (element.textContent ?? "") + pseudo(element, "::after"));
  }
  if (!byContent && !mayBeNamed(element)) {
    return "";
  }
  let name = flat(computeAccessibleName(element, { getComputedStyle: styleOf, computedStyleSupportsPseudoElements: true }));
  if (!name) {
    name = fallbackName(element);
  }
  return hideSecrets(element, name);
}

/** Only text in it and nothing that names it otherwise: the most frequent case by far. @param {Element} element */
function isPlain(element) {
  return (
    element.childElementCount === 0 && element.localName !== "input" && !element.shadowRoot &&
    !element.hasAttribute("aria-label") && !element.hasAttribute("aria-labelledby") && !element.hasAttribute("title") &&
    (element.textContent ?? "").trim() !== "" && !(/** @type {HTMLButtonElement} */ (element).labels?.length)
  );
}

/** Something could name it, so that it is worth to compute. @param {Element} element */
function mayBeNamed(element) {
  switch (element.localName) {
    case "input": case "select": case "textarea": case "img": case "svg": case "fieldset": case "table": case "figure":
    case "meter": case "progress": case "output": case "optgroup":
      return true;
  }
  return element.hasAttribute("aria-label") || element.hasAttribute("aria-labelledby") || element.hasAttribute("title");
}

/** Kinds of elements (tag and class) that have had no generated text. @type {Set<string>} */
const withoutPseudo = new Set();

/** Asking for it is dear, so elements that look alike are asked once. @param {Element} element @param {string} which */
function pseudo(element, which) {
  const kind = `${element.localName} ${element.className} ${which}`;
  if (withoutPseudo.has(kind)) {
    return "";
  }
  const content = styleOf(element, which).content;
  if (content.length > 2 && content[0] === '"') {
    return content.slice(1, -1);
  }
  if (withoutPseudo.size < 1000) {
    withoutPseudo.add(kind);
  }
  return "";
}

/** A new snapshot looks afresh: styles may have changed. */
export function forgetStyles() {
  withoutPseudo.clear();
}

/** @param {Element} element */
function fallbackName(element) {
  const input = /** @type {HTMLInputElement} */ (element);
  if (element.localName === "input" && input.type === "file") {
    return input.multiple ? "Choose files" : "Choose file";
  }
  const text = element.getAttribute("placeholder") ?? element.getAttribute("aria-placeholder");
  if (text) {
    return flat(text);
  }
  // An icon link without any words: where it leads is better than nothing.
  if (element.localName === "a") {
    const path = (element.getAttribute("href") ?? "").split(/[?#]/)[0];
    return flat(path.split("/").filter(Boolean).pop() ?? "");
  }
  return flat(element.getAttribute("data-tooltip") ?? "");
}

/** A name may quote a field's value; never a password's. @param {Element} element @param {string} name */
function hideSecrets(element, name) {
  if (!name) {
    return name;
  }
  for (const input of element.ownerDocument.querySelectorAll("input")) {
    if (isSecret(input) && input.value && name.includes(input.value)) {
      name = name.split(input.value).join("•••");
    }
  }
  return name;
}

/** @param {Element} element */
export function isDisabled(element) {
  return element.matches(":disabled") || closestAria(element, "aria-disabled") === "true";
}

/** aria-disabled counts for what is inside too. @param {Element} element @param {string} attribute */
function closestAria(element, attribute) {
  return element.closest(`[${attribute}]`)?.getAttribute(attribute) ?? null;
}

/** The states in words: "disabled", "checked", "level=2", "value=…" (capped).
 * @param {Element} element @param {string} role @param {boolean} acts whether it can be acted on */
export function statesOf(element, role, acts) {
  if (!acts && !element.hasAttributes() && !STATEFUL.has(element.localName)) {
    return []; // most nodes by far
  }
  /** @type {string[]} */
  const states = [];
  const input = /** @type {HTMLInputElement} */ (element);
  const tag = element.localName;
  if (acts && isDisabled(element)) states.push("disabled");
  if (tag === "input" && (input.type === "checkbox" || input.type === "radio")) {
    states.push(input.indeterminate ? "mixed" : input.checked ? "checked" : "unchecked");
  } else if (element.hasAttribute("aria-checked")) {
    const checked = element.getAttribute("aria-checked");
    states.push(checked === "true" ? "checked" : checked === "mixed" ? "mixed" : "unchecked");
  }
  if (role === "heading") states.push(`level=${element.getAttribute("aria-level") ?? (/^h[1-6]$/.test(tag) ? tag[1] : "2")}`);
  const expanded = tag === "summary"
    ? String(/** @type {HTMLDetailsElement | null} */ (element.closest("details"))?.open)
    : element.getAttribute("aria-expanded");
  if (expanded === "true") states.push("expanded");
  if (expanded === "false") states.push("collapsed");
  if (element.getAttribute("aria-selected") === "true") states.push("selected");
  if (element.getAttribute("aria-pressed") === "true") states.push("pressed");
  const current = element.getAttribute("aria-current");
  if (current && current !== "false") states.push("current");
  if (input.required === true || element.getAttribute("aria-required") === "true") states.push("required");
  if (input.readOnly === true || element.getAttribute("aria-readonly") === "true") states.push("readonly");
  if (element.getAttribute("aria-invalid") === "true") states.push("invalid");
  if (tag === "input" && TYPED.has(input.type)) states.push(`type=${input.type}`);
  if (isFocused(element)) states.push("focused");
  const value = valueOf(element, role);
  if (value) states.push("value=" + cut(value));
  return states;
}

const STATEFUL = new Set(["h1", "h2", "h3", "h4", "h5", "h6", "progress", "meter"]);
const TYPED = new Set(["password", "date", "time", "month", "week", "datetime-local", "file", "color", "email", "tel", "url"]);

/** @param {Element} element */
function isFocused(element) {
  const root = /** @type {Document | ShadowRoot} */ (element.getRootNode());
  return root.activeElement === element && element.localName !== "body" && element.localName !== "iframe";
}

/** The value as a person sees it; "" where there is none or it is secret. @param {Element} element @param {string} role */
export function valueOf(element, role) {
  if (isSecret(element)) {
    return "";
  }
  const input = /** @type {HTMLInputElement} */ (element);
  switch (element.localName) {
    case "input":
      if (["button", "submit", "reset", "image", "checkbox", "radio", "hidden"].includes(input.type)) {
        return "";
      }
      return input.type === "file" ? Array.from(input.files ?? [], (file) => file.name).join(", ") : flat(input.value);
    case "textarea":
      return flat(input.value);
    case "select":
      return Array.from(/** @type {HTMLSelectElement} */ (element).selectedOptions, (o) => flat(o.label)).join(", ");
    case "progress":
    case "meter":
      return String(/** @type {HTMLMeterElement} */ (element).value);
  }
  if (role === "textbox" || role === "searchbox" || role === "combobox") {
    const html = /** @type {HTMLElement} */ (element);
    return html.isContentEditable ? flat(html.innerText ?? "") : "";
  }
  return element.getAttribute("aria-valuetext") ?? element.getAttribute("aria-valuenow") ?? "";
}

/** The element in a few words, for messages: `button "Save"`, `div.overlay`. @param {Element} element */
export function describe(element) {
  const role = roleOf(element);
  const name = role ? cut(nameOf(element, role), 80) : "";
  if (role) {
    return name ? `${role} “${name}”` : role;
  }
  const text = cut(flat(/** @type {HTMLElement} */ (element).innerText ?? ""), 40);
  const id = element.id ? `#${element.id}` : "";
  const kind = !id && element.classList.length ? `.${element.classList[0]}` : "";
  const tag = cut(`${element.localName}${id}${kind}`, 60);
  return text ? `${tag} “${text}”` : tag;
}
