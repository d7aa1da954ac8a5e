// Makes elements with few words, and changes only what differs, so that nothing flickers or loses
// the focus.

/**
 * A new element; string values become attributes, functions listeners, true an empty attribute.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | true | ((event: any) => void)>} [given]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, given = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** @param {Element} element @param {string} text */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {Element} element @param {string} name @param {string | boolean | null} value */
export function mark(element, name, value) {
  if (value === null || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== (value === true ? "" : value)) {
    element.setAttribute(name, value === true ? "" : value);
  }
}

/**
 * Makes `parent`'s children those of `wanted`, by key, moving only what is out of place.
 * @template T
 * @template {HTMLElement} E
 * @param {HTMLElement} parent
 * @param {Map<string, E>} have elements by key; brought up to date
 * @param {readonly T[]} wanted
 * @param {(item: T) => string} key
 * @param {(item: T) => E} create
 * @param {(element: E, item: T) => void} update
 */
export function keyed(parent, have, wanted, key, create, update) {
  const keys = new Set(wanted.map(key));
  for (const [id, element] of have) {
    if (keys.has(id)) continue;
    element.remove();
    have.delete(id);
  }
  let place = parent.firstElementChild;
  for (const item of wanted) {
    const id = key(item);
    let element = have.get(id);
    if (!element) {
      element = create(item);
      have.set(id, element);
    }
    if (element === place) place = place.nextElementSibling;
    else parent.insertBefore(element, place);
    update(element, item);
  }
}

/** An icon of 16 by 16, from one path. @param {string} path */
export function icon(path) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

export const ICONS = {
  close: "M4 4l8 8M12 4l-8 8",
  sleep: "M13 9.6A5.6 5.6 0 1 1 6.4 3a4.4 4.4 0 0 0 6.6 6.6z",
  wake: "M8 1.6v1.6M8 12.8v1.6M1.6 8h1.6M12.8 8h1.6M3.5 3.5l1.1 1.1M11.4 11.4l1.1 1.1M12.5 3.5l-1.1 1.1M4.6 11.4l-1.1 1.1M10.6 8a2.6 2.6 0 1 1-5.2 0 2.6 2.6 0 0 1 5.2 0z",
  open: "M6.5 3H3v10h10V9.5M9 3h4v4M13 3L7.5 8.5",
  more: "M3 8h.01M8 8h.01M13 8h.01",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
};

/**
 * A round badge of a person. Its letter is drawn by the style, so that it is no part of what a button says.
 * @param {{name: string, color: string}} person @param {string} letter
 */
export const badge = (person, letter) =>
  make("span", { class: "badge", "data-color": person.color, "data-letter": letter, title: person.name, "aria-hidden": "true" });
