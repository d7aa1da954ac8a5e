// What one key press means here: for the page, for the view itself, or for the viewer's own browser. Pure.

/**
 * @typedef {{ctrlKey: boolean, altKey: boolean, shiftKey: boolean, metaKey: boolean}} Held
 * @typedef {Held & {key: string, code: string, location: number, keyCode: number, isComposing: boolean,
 *   altGraph: boolean}} Press
 * @typedef {{key: string, code: string, loc: number, m: number, text?: string}} PageKey
 *
 * @typedef {{do: "leave"} | {do: "address"} | {do: "copy"} | {do: "cut"}
 *   | {do: "nav", k: "back" | "forward" | "reload" | "hard-reload"} | ({do: "key"} & PageKey)} Decision
 */

const ALT = 1;
const CONTROL = 2;
const META = 4;
const SHIFT = 8;

/**
 * DevTools' modifier mask. Command on a Mac counts as Control: the browser that shows the page runs elsewhere and
 * has Control shortcuts.
 * @param {Held} event
 * @param {boolean} mac
 */
export function modifiers(event, mac) {
  return (
    (event.altKey ? ALT : 0) |
    (event.ctrlKey || (mac && event.metaKey) ? CONTROL : 0) |
    (event.metaKey && !mac ? META : 0) |
    (event.shiftKey ? SHIFT : 0)
  );
}

/** @param {string} key */
export function writesText(key) {
  // Named keys are ASCII words ("Enter", "F5"); everything else is what the key writes.
  return [...key].length === 1 || !/^[A-Za-z][A-Za-z0-9]*$/.test(key);
}

/**
 * What to do with a key that goes down.
 * @param {Press} press
 * @param {boolean} mac
 * @returns {Decision}
 */
export function decide(press, mac) {
  // An input method, a dead key or a phone keyboard works in the hidden field: its text comes from there.
  if (press.isComposing || press.keyCode === 229 || press.key === "Dead" || press.key === "Process" ||
      press.key === "Unidentified") {
    return { do: "leave" };
  }
  const m = modifiers(press, mac);
  return ofView(press, m, mac) ?? ofBrowser(press, m) ?? { do: "key", ...pageKey(press, mac) };
}

/**
 * @param {Press} press
 * @param {number} m
 * @param {boolean} mac
 * @returns {Decision | null}
 */
function ofView(press, m, mac) {
  const key = press.key.length === 1 ? press.key.toLowerCase() : press.key;
  if (press.altGraph && writesText(press.key)) return null;
  if (key === "F6" && !(m & ~SHIFT)) return { do: "address" };
  if (key === "l" && (m === CONTROL || m === (CONTROL | SHIFT))) return { do: "address" };
  if (key === "d" && m === ALT && !mac) return { do: "address" };
  if (key === "F5" && m === 0) return { do: "nav", k: "reload" };
  if (key === "F5" && (m === CONTROL || m === SHIFT)) return { do: "nav", k: "hard-reload" };
  if (key === "r" && m === CONTROL) return { do: "nav", k: "reload" };
  if (key === "r" && m === (CONTROL | SHIFT)) return { do: "nav", k: "hard-reload" };
  if (key === (mac ? "[" : "ArrowLeft") && m === (mac ? CONTROL : ALT)) return { do: "nav", k: "back" };
  if (key === (mac ? "]" : "ArrowRight") && m === (mac ? CONTROL : ALT)) return { do: "nav", k: "forward" };
  if (key === "BrowserBack") return { do: "nav", k: "back" };
  if (key === "BrowserForward") return { do: "nav", k: "forward" };
  if (m === CONTROL && (key === "c" || key === "Insert")) return { do: "copy" };
  if (m === CONTROL && key === "x") return { do: "cut" };
  if (m === SHIFT && key === "Delete") return { do: "cut" };
  return null;
}

/**
 * Left to the viewer's browser: pasting (it brings the text without a question), full screen, zoom of this view.
 * @param {Press} press
 * @param {number} m
 * @returns {Decision | null}
 */
function ofBrowser(press, m) {
  const key = press.key.length === 1 ? press.key.toLowerCase() : press.key;
  const plain = m & ~SHIFT;
  const paste = (key === "v" && plain === CONTROL) || (key === "Insert" && m === SHIFT);
  const zoom = plain === CONTROL && ["+", "-", "=", "_", "0"].includes(key);
  return paste || zoom || (key === "F11" && m === 0) ? { do: "leave" } : null;
}

/** On a Mac these move the caret; elsewhere the same is done by other keys.
 * @type {Record<string, {key: string, code: string, m: number}>}
 */
const MAC_CARET = {
  "2 ArrowLeft": { key: "Home", code: "Home", m: 0 },
  "2 ArrowRight": { key: "End", code: "End", m: 0 },
  "2 ArrowUp": { key: "Home", code: "Home", m: CONTROL },
  "2 ArrowDown": { key: "End", code: "End", m: CONTROL },
  "1 ArrowLeft": { key: "ArrowLeft", code: "ArrowLeft", m: CONTROL },
  "1 ArrowRight": { key: "ArrowRight", code: "ArrowRight", m: CONTROL },
  "1 Backspace": { key: "Backspace", code: "Backspace", m: CONTROL },
  "1 Delete": { key: "Delete", code: "Delete", m: CONTROL },
};

/**
 * A key as the page shall get it.
 * @param {Press} press
 * @param {boolean} mac
 * @returns {PageKey}
 */
export function pageKey(press, mac) {
  let m = modifiers(press, mac);
  const { key, code, location: loc } = press;
  if (mac) {
    const caret = MAC_CARET[`${m & ~SHIFT} ${key}`];
    if (caret) return { key: caret.key, code: caret.code, loc, m: caret.m | (m & SHIFT) };
    if (key === "Meta") return { key: "Control", code: code.replace("Meta", "Control"), loc, m };
  }
  if (key === "Enter") return m & (CONTROL | ALT | META) ? { key, code, loc, m } : { key, code, loc, m, text: "\r" };
  if (!writesText(key)) return { key, code, loc, m };
  // AltGr and a Mac's Option choose the character; to the page they are no shortcut.
  if (press.altGraph) m &= ~(CONTROL | ALT);
  else if (mac && !(m & CONTROL)) m &= ~ALT;
  return m & (CONTROL | ALT | META) ? { key, code, loc, m } : { key, code, loc, m, text: key };
}
