/// <reference path="./types.d.ts" />
// When an element can be acted on, and where: visible, at rest, enabled, and really hit at its point.

import { Problem, findOne } from "./find.js";
import { describe, isDisabled, isSecret, roleOf, valueOf } from "./meaning.js";
import { contains, isVisible, parentOf } from "./style.js";

/**
 * @typedef {{x: number, y: number}} Point
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 */

/** Frames come at most this much apart before we go on without one: a hidden window paints none. */
const FRAME_WAIT = 50;
const OUTSIDE = "";
const ALIGNMENTS = /** @type {const} */ (["center", "end", "start", "nearest"]);

/** The next animation frame, or a little later where none come. @returns {Promise<void>} */
export function nextFrame() {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, FRAME_WAIT);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** The box in the viewport of the outermost document in reach. @param {Element} element @returns {Box} */
export function boxOf(element) {
  const box = element.getBoundingClientRect();
  const at = outward(element, { x: box.x, y: box.y });
  return { x: at.x, y: at.y, width: box.width, height: box.height };
}

/** A point of the element's document, seen from the outermost document in reach. @param {Element} element @param {Point} point */
function outward(element, point) {
  let { x, y } = point;
  for (let frame = frameOf(element); frame; frame = frameOf(frame)) {
    const inner = innerOrigin(frame);
    x += inner.x;
    y += inner.y;
  }
  return { x, y };
}

/** @param {Element} element @returns {Element | null} */
function frameOf(element) {
  const view = element.ownerDocument.defaultView;
  return view && view !== window ? view.frameElement : null;
}

/** Where the content of a frame element begins. @param {Element} frame @returns {Point} */
export function innerOrigin(frame) {
  const box = frame.getBoundingClientRect();
  const style = /** @type {Window} */ (frame.ownerDocument.defaultView).getComputedStyle(frame);
  return {
    x: box.x + frame.clientLeft + parseFloat(style.paddingLeft || "0"),
    y: box.y + frame.clientTop + parseFloat(style.paddingTop || "0"),
  };
}

/** The innermost element at a point of this document, through shadow roots. @param {Document} root @param {Point} point */
export function hitAt(root, point) {
  let hit = root.elementFromPoint(point.x, point.y);
  while (hit?.shadowRoot) {
    const inner = hit.shadowRoot.elementFromPoint(point.x, point.y);
    if (!inner || inner === hit) {
      break;
    }
    hit = inner;
  }
  return hit;
}

/** What lies over the element at the point (of its own document); null when it is hit. @param {Element} element @param {Point} point */
function coverAt(element, point) {
  const hit = hitAt(element.ownerDocument, point);
  if (!hit) {
    return OUTSIDE;
  }
  if (!contains(element, hit) && !labels(hit, element)) {
    return describe(outermost(hit, element));
  }
  const frame = frameOf(element);
  if (!frame) {
    return null;
  }
  const inner = innerOrigin(frame);
  return coverAt(frame, { x: point.x + inner.x, y: point.y + inner.y });
}

/** Clicking the label of a field is clicking the field. @param {Element} hit @param {Element} element */
function labels(hit, element) {
  const label = hit.closest("label");
  return label !== null && label.control === element;
}

/** The largest thing over the element that does not hold it: the overlay, not a word in it. @param {Element} hit @param {Element} element */
function outermost(hit, element) {
  let top = hit;
  for (let at = parentOf(hit); at && !contains(at, element); at = parentOf(at)) {
    top = at;
  }
  return top;
}

/** Points to try, in the element's own document. @param {Element} element @param {Point | null} position */
function pointsOf(element, position) {
  const box = element.getBoundingClientRect();
  if (position) {
    return [{ x: box.x + position.x, y: box.y + position.y }];
  }
  const points = [{ x: box.x + box.width / 2, y: box.y + box.height / 2 }];
  // A link over two lines has nothing at the centre of its box.
  for (const piece of Array.from(element.getClientRects()).slice(0, 3)) {
    points.push({ x: piece.x + piece.width / 2, y: piece.y + piece.height / 2 });
  }
  for (const [fx, fy] of [[0.25, 0.25], [0.75, 0.75], [0.25, 0.75], [0.75, 0.25]]) {
    points.push({ x: box.x + box.width * fx, y: box.y + box.height * fy });
  }
  return points;
}

/** @param {Element} element @param {Point | null} position @returns {{point: Point} | {cover: string}} */
function hitPoint(element, position) {
  let cover = OUTSIDE;
  for (const point of pointsOf(element, position)) {
    const found = coverAt(element, point);
    if (found === null) {
      return { point };
    }
    cover ||= found;
  }
  return { cover };
}

/** @param {Element} element @param {Point} point */
function isInView(element, point) {
  const view = /** @type {Window} */ (element.ownerDocument.defaultView);
  if (point.x < 0 || point.y < 0 || point.x >= view.innerWidth || point.y >= view.innerHeight) {
    return false;
  }
  const frame = frameOf(element);
  if (!frame) {
    return true;
  }
  const inner = innerOrigin(frame);
  return isInView(frame, { x: point.x + inner.x, y: point.y + inner.y });
}

/** Whether an animation moves it or what holds it, so that one frame at rest proves little. @param {Element} element */
function isAnimated(element) {
  return element.ownerDocument.getAnimations().some((animation) => {
    const effect = /** @type {KeyframeEffect | null} */ (animation.effect);
    return animation.playState === "running" && effect?.target && contains(effect.target, element);
  });
}

/** @param {Box} a @param {Box} b */
function isSame(a, b) {
  return a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;
}

/**
 * Find the element and wait until it is at rest, visible and, with `enabled`, enabled.
 * @param {string} target @param {boolean} enabled
 */
async function atRest(target, enabled) {
  const element = findOne(target);
  const shown = isVisible(element) ? element : visibleLabel(element);
  if (!shown) {
    throw new Problem("timeout", `${describe(element)} is there but not visible.`, false);
  }
  if (enabled && isDisabled(element)) {
    throw new Problem("timeout", `${describe(element)} is disabled.`, false);
  }
  let before = boxOf(shown);
  for (let frames = isAnimated(shown) ? 2 : 1; frames > 0; frames -= 1) {
    await nextFrame();
    const now = boxOf(shown);
    if (!isSame(before, now)) {
      throw new Problem("timeout", `${describe(element)} keeps moving.`, false);
    }
    before = now;
  }
  return { element, shown };
}

/** The label that stands for a field which its page hides, to draw a nicer one. @param {Element} element */
function visibleLabel(element) {
  const labels = /** @type {HTMLInputElement} */ (element).labels;
  return Array.from(labels ?? []).find(isVisible) ?? null;
}

/** @param {Element} element @param {Point | null} position @param {number} attempt */
function reach(element, position, attempt) {
  let found = hitPoint(element, position);
  const first = pointsOf(element, position)[0];
  if ("cover" in found || !isInView(element, first)) {
    // Each attempt scrolls to another edge: a sticky bar covers only one.
    const block = ALIGNMENTS[attempt % ALIGNMENTS.length];
    element.scrollIntoView({ block, inline: "nearest", behavior: "instant" });
    found = hitPoint(element, position);
  }
  if (!("cover" in found)) {
    return found.point;
  }
  const why = found.cover === OUTSIDE
    ? "cannot be hit: the point is outside the visible part of the page"
    : `is covered by ${found.cover}`;
  throw new Problem("timeout", `${describe(element)} ${why}.`, false);
}

/**
 * Where to hit a field, or else its label: fields drawn by their pages are often a pixel in size and
 * behind what is drawn.
 * @param {Element} element @param {Element} shown @param {Point | null} position @param {number} attempt
 */
function reachOne(element, shown, position, attempt) {
  try {
    return outward(shown, reach(shown, position, attempt));
  } catch (problem) {
    const label = shown === element ? visibleLabel(element) : null;
    if (!label || position) {
      throw problem;
    }
    const found = hitPoint(label, null);
    if ("cover" in found) {
      throw problem;
    }
    return outward(label, found.point);
  }
}

/** The last element acted on, for what is asked afterwards. @type {WeakRef<Element> | null} */
let last = null;

export function lastElement() {
  return last?.deref() ?? null;
}

/**
 * Wait until the target can be acted on.
 * @param {string} target
 * @param {{timeout: number, hit: boolean, enabled: boolean, position: Point | null}} options milliseconds
 */
export async function whenReady(target, options) {
  const end = performance.now() + options.timeout;
  for (let attempt = 0; ; attempt += 1) {
    try {
      const { element, shown } = await atRest(target, options.enabled);
      const point = options.hit ? reachOne(element, shown, options.position, attempt) : null;
      last = new WeakRef(element);
      return { element, point };
    } catch (problem) {
      if (!(problem instanceof Problem) || problem.final || performance.now() >= end) {
        throw problem;
      }
    }
    await nextFrame();
  }
}

/** What is told of an element that was reached. @param {Element} element */
export function facts(element) {
  return { label: describe(element), secret: isSecret(element), tag: element.localName, box: boxOf(element), state: stateOf(element), download: element.closest("a[download]") !== null };
}

/** What an action may change in the element itself. @param {Element} element */
export function stateOf(element) {
  const input = /** @type {HTMLInputElement} */ (element);
  const checkable = element.localName === "input" && (input.type === "checkbox" || input.type === "radio");
  return {
    value: isSecret(element) ? null : valueOf(element, roleOf(element)) || null,
    checked: checkable ? input.checked : null,
    expanded: element.getAttribute("aria-expanded"),
  };
}
