/// <reference path="./types.d.ts" />
// How elements are displayed. Styles are asked through the element's own window: frames differ.

/** @param {Element} element @param {string | null} [pseudo] @returns {CSSStyleDeclaration} */
export function styleOf(element, pseudo) {
  return /** @type {Window} */ (element.ownerDocument.defaultView).getComputedStyle(element, pseudo);
}

/** Whether a person could see the element: it has a box with a size, and is not made invisible.
 * @param {Element} element */
export function isVisible(element) {
  if (!element.checkVisibility({ visibilityProperty: true })) {
    return false;
  }
  const box = element.getBoundingClientRect();
  return box.width > 0 && box.height > 0;
}

const BLOCKS = new Set(["inline", "inline-block", "contents", "inline-flex", "inline-grid", "ruby"]);

/** Whether text before and after the element stands on other lines than the text in it.
 * @param {CSSStyleDeclaration} style */
export function isBlock(style) {
  return !BLOCKS.has(style.display);
}

/** The parent in the tree as it is displayed: through shadow roots and slots.
 * @param {Node} node @returns {Element | null} */
export function parentOf(node) {
  const slot = node instanceof Element || node.nodeType === 1 ? /** @type {Element} */ (node).assignedSlot : null;
  if (slot) {
    return slot;
  }
  const parent = node.parentNode;
  if (parent && parent.nodeType === 11) {
    return /** @type {ShadowRoot} */ (parent).host ?? null;
  }
  return parent && parent.nodeType === 1 ? /** @type {Element} */ (parent) : null;
}

/** Whether `inner` is `outer` or displayed inside it. @param {Element} outer @param {Element | null} inner */
export function contains(outer, inner) {
  for (let at = inner; at; at = parentOf(at)) {
    if (at === outer) {
      return true;
    }
  }
  return false;
}

/** The children as displayed: of the shadow root, of what a slot shows, else its own.
 * @param {Element} element @returns {Iterable<Node>} */
export function childrenOf(element) {
  const root = element.shadowRoot;
  if (root) {
    return root.childNodes;
  }
  if (element.localName === "slot") {
    const shown = /** @type {HTMLSlotElement} */ (element).assignedNodes();
    if (shown.length) {
      return shown;
    }
  }
  if (element.localName === "details" && !(/** @type {HTMLDetailsElement} */ (element).open)) {
    const summary = Array.from(element.children).find((child) => child.localName === "summary");
    return summary ? [summary] : [];
  }
  return element.childNodes;
}

/** The document in a frame element, null when it is of another origin. @param {Element} element */
export function documentIn(element) {
  try {
    return /** @type {HTMLIFrameElement} */ (element).contentDocument;
  } catch {
    return null;
  }
}

/** @param {Element} element */
export function isFrame(element) {
  return element.localName === "iframe" || element.localName === "frame";
}

/**
 * Every root to search in: the document, its open shadow roots and the documents of frames in reach.
 * @param {Document | ShadowRoot | Element} start @returns {Generator<Document | ShadowRoot | Element>}
 */
export function* rootsIn(start) {
  const queue = [start];
  for (let root = queue.pop(); root; root = queue.pop()) {
    yield root;
    const own = root.nodeType === 1 ? /** @type {Element} */ (root).shadowRoot : null;
    if (own) {
      queue.push(own);
    }
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) {
        queue.push(element.shadowRoot);
      } else if (isFrame(element)) {
        const inner = documentIn(element);
        if (inner) {
          queue.push(inner);
        }
      }
    }
  }
}
