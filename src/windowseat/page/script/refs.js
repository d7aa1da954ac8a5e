/// <reference path="./types.d.ts" />
// Numbers of elements. One belongs to one element as long as it lives and is never given to another. The
// hub counts over all documents of a tab and hands the next free number in.

/** @type {WeakMap<Element, number>} */
const numbers = new WeakMap();
/** @type {Map<number, WeakRef<Element>>} */
const elements = new Map();
const ended = new FinalizationRegistry((/** @type {number} */ number) => elements.delete(number));

/** @param {Element} element */
export function knownRef(element) {
  return numbers.get(element) ?? 0;
}

/** Give the element this number. @param {Element} element @param {number} number */
export function setRef(element, number) {
  numbers.set(element, number);
  elements.set(number, new WeakRef(element));
  ended.register(element, number);
}

/** The element of a number, null when it has left the page. @param {number} number */
export function byRef(number) {
  const element = elements.get(number)?.deref();
  // A document that was replaced keeps its elements, but has no window any more.
  return element && element.isConnected && element.ownerDocument.defaultView ? element : null;
}
