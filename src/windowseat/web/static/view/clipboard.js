// Text between the page and the viewer's clipboard, without a permission prompt.

/** @import {ToHub, Clip} from "./wire.js" */
import { wellFormed } from "./wire.js";

const ANSWER_MS = 4_000;
const LONGEST_PASTE = 500_000; // UTF-16 units: under 1 MiB as JSON in most scripts; checked exactly before sending
const FRAME_BYTES = (1 << 20) - 64;

/**
 * @typedef {{
 *   send: (message: ToHub) => boolean,
 *   pressInstead: (cut: boolean) => void,
 *   problem: (message: string) => void,
 *   offer: (text: string) => void,
 * }} Ways
 */

export class Clipboard {
  /** @type {{cut: boolean, fromKey: boolean, settle: (text: string) => void} | null} */
  #asked = null;

  /**
   * @param {HTMLTextAreaElement} field
   * @param {Ways} ways pressInstead: nothing was selected, the page shall get the key; offer: the browser took no
   *   text without a further click
   */
  constructor(field, ways) {
    this.ways = ways;
    field.addEventListener("paste", (event) => this.#pasted(event));
    // The viewer's browser has menus of its own for these.
    field.addEventListener("copy", (event) => this.#fromMenu(event, false));
    field.addEventListener("cut", (event) => this.#fromMenu(event, true));
  }

  /**
   * Copies (or cuts) what is selected in the page. Call it within the person's gesture.
   * @param {boolean} cut
   * @param {boolean} fromKey whether the page shall get the key when nothing is selected
   */
  copy(cut, fromKey) {
    this.#asked?.settle("");
    /** @type {Promise<string>} */
    const answer = new Promise((resolve) => {
      const late = setTimeout(() => resolve(""), ANSWER_MS);
      this.#asked = {
        cut, fromKey,
        settle: (text) => {
          clearTimeout(late);
          this.#asked = null;
          resolve(text);
        },
      };
    });
    if (!this.ways.send({ t: cut ? "cut" : "copy" })) {
      this.#asked?.settle("");
      return;
    }
    void this.#write(answer);
  }

  /** @param {Clip} clip */
  received(clip) {
    const asked = this.#asked;
    if (!asked) return;
    asked.settle(clip.text);
    if (!clip.text && asked.fromKey) this.ways.pressInstead(asked.cut);
  }

  /** @param {Promise<string>} answer */
  async #write(answer) {
    try {
      // Given as a promise the text counts for the gesture that asked, however long the hub takes (Safari insists).
      const text = answer.then((value) => {
        if (!value) throw new DOMException("nothing selected", "AbortError");
        return new Blob([value], { type: "text/plain" });
      });
      text.catch(() => undefined);
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": text })]);
      return;
    } catch {
      // An older browser, or one that wants the finished text: the ways below.
    }
    const text = await answer;
    if (!text || (await writeText(text))) return;
    this.ways.offer(text);
  }

  /** @param {ClipboardEvent} event */
  #pasted(event) {
    event.preventDefault();
    const text = event.clipboardData?.getData("text/plain").replace(/\r\n?/g, "\n") ?? "";
    if (text) this.paste(text);
    else if (event.clipboardData?.files.length) {
      this.ways.problem("Only text can be pasted into the page. Files go through the page's own file button.");
    }
  }

  /** @param {string} text */
  paste(text) {
    const message = { t: "paste", text: wellFormed(text) };
    if (text.length > LONGEST_PASTE && new Blob([JSON.stringify(message)]).size > FRAME_BYTES) {
      this.ways.problem("That text is too long to paste at once (1 MB at most).");
      return;
    }
    this.ways.send(message);
  }

  /**
   * @param {ClipboardEvent} event
   * @param {boolean} cut
   */
  #fromMenu(event, cut) {
    event.preventDefault();
    this.copy(cut, false);
  }
}

/**
 * Puts finished text on the clipboard; call it within a gesture.
 * @param {string} text
 * @returns {Promise<boolean>} whether the clipboard has it
 */
export async function writeText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text);
  }
}

/**
 * The old way, which works where the clipboard API is closed (a frame without the permission).
 * @param {string} text
 */
function copyByCommand(text) {
  let taken = false;
  const fill = (/** @type {ClipboardEvent} */ event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    event.clipboardData?.setData("text/plain", text);
    taken = true;
  };
  document.addEventListener("copy", fill, true);
  try {
    document.execCommand("copy");
  } finally {
    document.removeEventListener("copy", fill, true);
  }
  return taken;
}
