// Fingers on the page, and the phone's keyboard.

/** @import {ToHub} from "./wire.js" */
/** @import {Stage} from "./stage.js" */
import { modifiers } from "./keymap.js";

const TAP_MS = 500;
const TAP_PX = 10;

export class Touches {
  /** Small ids for the browser's own, which may be huge. @type {Map<number, number>} */
  #ids = new Map();
  /** @type {TouchEvent | null} */
  #move = null;
  #frame = 0;
  /** @type {{x: number, y: number, at: number} | null} */
  #tap = null;

  /**
   * @param {Stage} stage
   * @param {(message: ToHub, options?: {droppable?: boolean}) => boolean} send
   * @param {(at: {clientX: number, clientY: number}) => void} tapped told within the gesture of a tap
   */
  constructor(stage, send, tapped) {
    this.stage = stage;
    this.send = send;
    this.tapped = tapped;
    const area = stage.area;
    area.addEventListener("touchstart", (event) => this.#started(event), { passive: false });
    area.addEventListener("touchmove", (event) => this.#moved(event), { passive: false });
    area.addEventListener("touchend", (event) => this.#ended(event), { passive: false });
    area.addEventListener("touchcancel", () => this.release());
  }

  /** Takes all fingers off the page. */
  release() {
    if (this.#ids.size === 0) return;
    this.#ids.clear();
    this.#move = null;
    this.send({ t: "touch", k: "cancel", p: [], m: 0 });
  }

  /** @param {TouchEvent} event */
  #started(event) {
    const fresh = [...event.changedTouches].filter((touch) => this.stage.hit(touch));
    if (fresh.length === 0) return;
    // Also keeps the browser from scrolling, zooming and making mouse events of the touch.
    event.preventDefault();
    this.#flush();
    for (const touch of fresh) this.#ids.set(touch.identifier, this.#freeId());
    const [first] = fresh;
    const alone = first && this.#ids.size === 1;
    this.#tap = alone ? { x: first.clientX, y: first.clientY, at: event.timeStamp } : null;
    this.#send("start", event);
  }

  /** @param {TouchEvent} event */
  #moved(event) {
    if (this.#ids.size === 0) return;
    event.preventDefault();
    this.#move = event;
    if (!this.#frame) this.#frame = requestAnimationFrame(() => this.#flush());
  }

  /** @param {TouchEvent} event */
  #ended(event) {
    if (this.#ids.size === 0) return;
    event.preventDefault();
    this.#flush();
    for (const touch of event.changedTouches) this.#ids.delete(touch.identifier);
    this.#send("end", event);
    const [last] = event.changedTouches;
    if (last && this.#isTap(last, event.timeStamp)) this.tapped(last);
    this.#tap = null;
  }

  /**
   * @param {Touch} touch
   * @param {number} now
   */
  #isTap(touch, now) {
    const tap = this.#tap;
    if (!tap || this.#ids.size > 0 || now - tap.at > TAP_MS) return false;
    return Math.hypot(touch.clientX - tap.x, touch.clientY - tap.y) < TAP_PX;
  }

  #flush() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const move = this.#move;
    this.#move = null;
    if (move) this.#send("move", move);
  }

  /**
   * @param {"start" | "move" | "end"} k
   * @param {TouchEvent} event
   */
  #send(k, event) {
    const p = [...event.touches].flatMap((touch) => {
      const id = this.#ids.get(touch.identifier);
      if (id === undefined) return [];
      const { radiusX: rx, radiusY: ry, force } = touch;
      return [{ id, ...this.stage.point(touch), rx: radius(rx), ry: radius(ry), f: Math.min(force || 1, 1) }];
    });
    this.send({ t: "touch", k, p, m: modifiers(event, false) }, { droppable: k === "move" });
  }

  #freeId() {
    const used = new Set(this.#ids.values());
    let id = 0;
    while (used.has(id)) id += 1;
    return id;
  }
}

/** @param {number} given 0 where the screen does not tell */
function radius(given) {
  return Math.min(given || 1, 1000);
}

/**
 * The phone's keyboard rises for the hidden field only while the page has a place for text, or when the person
 * asks for it with the bar's button.
 */
export class PhoneKeyboard {
  #told = false;

  /**
   * @param {HTMLTextAreaElement} field
   * @param {HTMLButtonElement} button
   */
  constructor(field, button) {
    this.field = field;
    this.button = button;
    this.up = false;
    button.addEventListener("click", () => this.#set(!this.up));
    field.addEventListener("blur", () => button.setAttribute("aria-pressed", "false"));
  }

  /** The hub says whether the focus in the page takes text. @param {boolean} on */
  place(on) {
    this.#told = true;
    if (on !== this.up) this.#set(on);
  }

  /** A tap: without word from the hub the keyboard rises, for it cannot rise outside a gesture everywhere. */
  tapped() {
    if (!this.#told) this.#set(true);
    else this.field.focus({ preventScroll: true });
  }

  /** @param {boolean} up */
  #set(up) {
    this.up = up;
    this.field.inputMode = up ? "text" : "none";
    this.button.setAttribute("aria-pressed", String(up));
    // A field that has the focus already shows its keyboard only after it lost it once.
    if (document.activeElement === this.field) this.field.blur();
    this.field.focus({ preventScroll: true });
    this.button.setAttribute("aria-pressed", String(up));
  }
}
