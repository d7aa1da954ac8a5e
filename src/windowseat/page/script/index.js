/// <reference path="./types.d.ts" />
// The page script's door: what the hub calls in a page, by name, with JSON in and JSON out.

import { editableOf, hasText, prepare, setValue } from "./edit.js";
import { Problem, findAll, findOne, findWith } from "./find.js";
import { describe, flat, forgetStyles } from "./meaning.js";
import { Outline } from "./outline.js";
import { boxOf, facts, hitAt, innerOrigin, lastElement, nextFrame, stateOf, whenReady } from "./ready.js";
import { isVisible, rootsIn } from "./style.js";

/** @type {Element[]} */
let frames = [];

/** Problems are answers, not exceptions: they have a code. @template T @param {() => T | Promise<T>} work */
async function answered(work) {
  try {
    return await work();
  } catch (problem) {
    if (problem instanceof Problem) {
      return { problem: problem.code, message: problem.message, final: problem.final };
    }
    throw problem;
  }
}

const script = {
  /**
   * @param {{next: number, maxRefs: number, interactive: boolean, budget: number, within: string | null}} options
   * @returns {string} JSON: it is quicker than handing a tree over
   */
  snapshot(options) {
    try {
      const root = options.within ? findOne(options.within) : document.body ?? document.documentElement;
      forgetStyles();
      const outline = new Outline(options);
      const tree = root ? outline.of(root) : [];
      frames = outline.frames;
      return JSON.stringify({
        tree, next: outline.next, refs: outline.refs, withoutRef: outline.withoutRef, cut: outline.cut,
        url: location.href.slice(0, 2048), title: document.title.slice(0, 256),
        frames: frames.length, budget: outline.budget, ready: document.readyState,
        scroll: [Math.round(scrollY), innerHeight, document.documentElement?.scrollHeight ?? 0],
      });
    } catch (problem) {
      if (problem instanceof Problem) {
        return JSON.stringify({ problem: problem.code, message: problem.message, final: problem.final });
      }
      throw problem;
    }
  },

  /** One of the frame elements whose document the last snapshot could not reach. @param {number} index */
  frame(index) {
    return frames[index] ?? null;
  },

  /** How many elements of this frame (and those in its reach) a target means; null when a parent's reach covers it. @param {string} target */
  count(target) {
    return answered(() => {
      if (window !== window.parent && window.frameElement) {
        return { count: null };
      }
      const { found, partly } = findWith(target);
      return { count: found.length, partly };
    });
  },

  /** @param {string} target @param {{timeout: number, hit: boolean, enabled: boolean, scroll?: boolean, position: {x: number, y: number} | null}} options */
  ready(target, options) {
    return answered(async () => {
      const { element, point } = await whenReady(target, options);
      if (options.scroll) {
        element.scrollIntoViewIfNeeded(true);
      }
      return { ...facts(element), point };
    });
  },

  /**
   * Wait until text can be typed, focus and select. With a kind of field that is set instead, set it.
   * @param {string} target @param {{timeout: number, mode: "replace" | "append", text: string}} options
   */
  edit(target, options) {
    return answered(async () => {
      const end = performance.now() + options.timeout;
      for (;;) {
        const left = Math.max(0, end - performance.now());
        const { element } = await whenReady(target, { timeout: left, hit: false, enabled: true, position: null });
        try {
          const editable = editableOf(element);
          editable.scrollIntoViewIfNeeded(true);
          const set = prepare(editable, options.mode);
          if (set) {
            setValue(editable, options.text);
          }
          return { ...facts(editable), set, hasText: hasText(editable) };
        } catch (problem) {
          if (!(problem instanceof Problem) || problem.final || performance.now() >= end) {
            throw problem;
          }
        }
        await nextFrame();
      }
    });
  },

  /** What the element that was acted on is like now. */
  after() {
    const element = lastElement();
    if (!element || !element.isConnected) {
      return { present: false };
    }
    return { present: true, ...stateOf(element) };
  },

  /** A point in a frame's document, seen from here; and what covers the frame there. Called with the frame element. @param {Element} frame @param {number} x @param {number} y */
  through(frame, x, y) {
    const inner = innerOrigin(frame);
    const at = { x: x + inner.x, y: y + inner.y };
    const hit = hitAt(frame.ownerDocument, at);
    return { ...at, covered: hit === frame ? null : hit ? describe(hit) : "nothing is there" };
  },

  /**
   * Wait until the condition holds, at most `timeout` ms; answers what was met, or null.
   * @param {{text?: string, gone?: string, selector?: string}} condition @param {number} timeout
   */
  wait(condition, timeout) {
    return answered(async () => {
      const end = performance.now() + timeout;
      for (;;) {
        const met = isMet(condition);
        if (met || performance.now() >= end) {
          return { met };
        }
        await change(Math.min(end - performance.now(), 100));
      }
    });
  },
};

/** @param {{text?: string, gone?: string, selector?: string}} condition */
function isMet(condition) {
  if (condition.text !== undefined) {
    return hasVisibleText(condition.text);
  }
  if (condition.gone !== undefined) {
    return /^(@e\d+$|text=|role=|label=|css=)/.test(condition.gone) || looksLikeSelector(condition.gone)
      ? !isThere(condition.gone)
      : !hasVisibleText(condition.gone);
  }
  return isThere(condition.selector ?? "");
}

/** Words are text; what has the signs of a selector and is one is a selector. @param {string} text */
function looksLikeSelector(text) {
  return /^[.#[]|^[a-z][\w-]*[.#[:>]/i.test(text) && !/\s{2}|[!?]$/.test(text);
}

/** @param {string} target */
function isThere(target) {
  try {
    return findAll(target).some(isVisible);
  } catch (problem) {
    if (problem instanceof Problem && problem.code === "stale-ref") {
      return false;
    }
    throw problem;
  }
}

/** @param {string} wanted */
function hasVisibleText(wanted) {
  const text = flat(wanted).toLowerCase();
  for (const root of rootsIn(document)) {
    const holder = root.nodeType === 9 ? /** @type {Document} */ (root).body : null;
    const parts = holder ? [holder] : Array.from(root.children ?? []);
    for (const part of parts) {
      // innerText leaves out what is not displayed.
      if (flat(/** @type {HTMLElement} */ (part).innerText ?? "").toLowerCase().includes(text)) {
        return true;
      }
    }
  }
  return false;
}

/** Something in the document changed, or the time is over. @param {number} time ms @returns {Promise<void>} */
function change(time) {
  return new Promise((resolve) => {
    const observer = new MutationObserver(done);
    const timer = setTimeout(done, Math.max(0, time));
    function done() {
      observer.disconnect();
      clearTimeout(timer);
      resolve();
    }
    observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  });
}

Object.defineProperty(globalThis, "windowseatScript", { value: { ...script, boxOf }, configurable: true });
