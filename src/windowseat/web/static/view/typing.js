// Text that comes without keys: input methods, dead keys, phone keyboards, emoji pickers. The hidden field collects
// it; what changed in it since the hub last knew goes out as `ime`, `text` and `delete`.

/** @import {ToHub} from "./wire.js" */
import { wellFormed } from "./wire.js";

// Something to delete must stand before the caret, or a phone keyboard's Backspace gives no event at all.
const PAD = " ".repeat(24);
const LONGEST = 400;

export class Typing {
  #known = PAD;
  #composing = false;

  /**
   * @param {HTMLTextAreaElement} field
   * @param {(message: ToHub) => boolean} send
   * @param {() => void} enter presses Enter in the page
   */
  constructor(field, send, enter) {
    this.field = field;
    this.send = send;
    this.enter = enter;
    field.addEventListener("compositionstart", () => {
      this.#composing = true;
    });
    field.addEventListener("compositionend", (event) => this.#committed(event.data));
    field.addEventListener("input", (event) => this.#changed(/** @type {InputEvent} */ (event)));
    field.addEventListener("blur", () => this.#reset());
    field.addEventListener("focus", () => this.#caretToEnd());
    this.#reset();
  }

  get composing() {
    return this.#composing;
  }

  /** Ends a composition the way a click elsewhere does: what stands there stays. */
  settle() {
    if (!this.#composing) return;
    this.field.blur();
    this.field.focus({ preventScroll: true });
  }

  /** @param {InputEvent} event */
  #changed(event) {
    if (this.#composing) {
      this.#composed(event);
      return;
    }
    const { removed, added } = changeAtEnd(this.#known, this.field.value);
    if (removed) this.send({ t: "delete", before: removed, after: 0 });
    this.#write(added);
    this.#known = this.field.value;
    if (this.#known.length < PAD.length || this.#known.length > LONGEST) this.#reset();
  }

  /** @param {string} added */
  #write(added) {
    added.split("\n").forEach((line, index) => {
      if (index > 0) this.enter();
      if (line) this.send({ t: "text", text: wellFormed(line) });
    });
  }

  /** @param {InputEvent} event */
  #composed(event) {
    const { value, selectionStart, selectionEnd } = this.field;
    const base = Math.max(0, value.length - (event.data ?? "").length);
    if (base < this.#known.length) {
      // The keyboard took a word back that was already written, to change it.
      this.send({ t: "delete", before: this.#known.length - base, after: 0 });
      this.#known = this.#known.slice(0, base);
    }
    const text = value.slice(base);
    const inside = (/** @type {number} */ at) => Math.min(Math.max(at - base, 0), text.length);
    this.send({ t: "ime", text: wellFormed(text), from: inside(selectionStart), to: inside(selectionEnd) });
  }

  /** @param {string} text */
  #committed(text) {
    this.#composing = false;
    this.send({ t: "ime", commit: wellFormed(text) });
    // Some browsers tell of the same text once more with an input event: it is known now.
    this.#known = this.field.value;
    if (this.#known.length > LONGEST) this.#reset();
  }

  #reset() {
    this.#composing = false;
    this.field.value = this.#known = PAD;
    this.#caretToEnd();
  }

  #caretToEnd() {
    const end = this.field.value.length;
    this.field.setSelectionRange(end, end);
  }
}

/**
 * What has to be taken away and written at the end of `before` to get `after`. UTF-16 units; surrogate pairs are
 * never split.
 * @param {string} before
 * @param {string} after
 */
export function changeAtEnd(before, after) {
  let same = 0;
  while (same < before.length && same < after.length && before[same] === after[same]) same += 1;
  const last = before.charCodeAt(same - 1);
  if (last >= 0xd800 && last <= 0xdbff) same -= 1;
  return { removed: before.length - same, added: after.slice(same) };
}
