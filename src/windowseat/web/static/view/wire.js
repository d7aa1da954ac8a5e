// What travels on the view's socket (docs/protocols/view.md), as types, and the two parsers for what arrives.

/**
 * @typedef {{id: string, url: string, title: string, icon: string, session: string | null, loading: boolean,
 *   can_back: boolean, can_forward: boolean, asleep: boolean, closes_in_s?: number | null}} Tab
 * @typedef {{viewer: string, name: string, color: string, you: boolean}} Person
 * @typedef {{w: number, h: number}} Size
 * @typedef {"alert" | "confirm" | "prompt" | "beforeunload"} DialogKind
 * @typedef {{t: "dialog", id: string, kind: DialogKind, message: string, default: string, origin: string}} Dialog
 * @typedef {{t: "chooser", id: string, multiple: boolean, accept?: string | string[] | null}} Chooser
 * @typedef {"live" | "waking" | "crashed" | "unresponsive"} PageState
 *
 * @typedef {{t: "welcome", credential: string, viewer: string, name: string, color: string, tab: Tab,
 *   people: Person[], size: Size | null, launchpad?: string | null}} Welcome
 * @typedef {{t: "denied", reason: string, launchpad?: string | null}} Denied
 * @typedef {{t: "pointer", viewer: string, x: number, y: number, k: "move" | "down" | "leave"}} PointerMessage
 * @typedef {{t: "agent", session: string, line: string, x?: number | null, y?: number | null,
 *   k?: "move" | "click" | "note" | null}} AgentMessage
 * @typedef {{t: "field", on: boolean, x?: number, y?: number, w?: number, h?: number}} Field
 * @typedef {{t: "clip", text: string, cut: boolean}} Clip
 * @typedef {{t: "opened", tab: Tab, url: string}} Opened
 *
 * @typedef {Welcome | Denied | PointerMessage | AgentMessage | Field | Clip | Opened | Dialog | Chooser
 *   | {t: "tab", tab: Tab} | ({t: "size"} & Size) | {t: "cursor", cursor: string} | {t: "link", url: string}
 *   | {t: "people", people: Person[]} | {t: "dialog-closed", id: string} | {t: "chooser-closed", id: string}
 *   | {t: "status", state: PageState} | {t: "ended", reason: string, restorable: boolean}
 *   | {t: "ping", id: number | string} | {t: "error", code: string, message: string}} FromHub
 *
 * @typedef {{t: string, [field: string]: unknown}} ToHub
 *
 * @typedef {{n: number, sharp: boolean, w: number, h: number, image: Blob}} Picture
 */

/**
 * A text frame as a message, or null when it is not one.
 * @param {string} text
 * @returns {FromHub | null}
 */
export function parseMessage(text) {
  try {
    const message = JSON.parse(text);
    return message && typeof message.t === "string" ? message : null;
  } catch {
    return null;
  }
}

/**
 * Text that any JSON reader takes: halves of a character become the replacement sign.
 * @param {string} text
 */
export function wellFormed(text) {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

const HEADER = 16;
/** @type {Record<number, string>} */
const KINDS = { 1: "image/jpeg", 2: "image/png" };

/**
 * A binary frame as a picture, or null when its header makes no sense. Sizes are CSS pixels of the page.
 * @param {ArrayBuffer} frame
 * @returns {Picture | null}
 */
export function parsePicture(frame) {
  if (frame.byteLength <= HEADER) return null;
  const header = new DataView(frame);
  const type = KINDS[header.getUint8(0)];
  if (!type) return null;
  return {
    n: header.getUint32(4, true),
    sharp: (header.getUint8(1) & 1) === 1,
    w: header.getUint16(8, true),
    h: header.getUint16(10, true),
    image: new Blob([new Uint8Array(frame, HEADER)], { type }),
  };
}
