// The mouse and the pen over the page: moves once a frame, buttons and wheel at once, drags that leave the area.

/** @import {ToHub} from "./wire.js" */
/** @import {Stage} from "./stage.js" */
import { wheelPixels } from "./geometry.js";
import { modifiers } from "./keymap.js";

/** @typedef {(message: ToHub, options?: {droppable?: boolean}) => boolean} Send */

const BACK = 3;
const FORWARD = 4;

export class Mouse {
  /** @type {MouseEvent | null} */
  #move = null;
  /** @type {{event: WheelEvent, dx: number, dy: number} | null} */
  #wheel = null;
  #frame = 0;
  #held = 0;
  #inside = false;
  #last = { x: 0, y: 0 };

  /**
   * @param {Stage} stage
   * @param {Send} send
   * @param {boolean} mac
   * @param {(event: MouseEvent) => void} pressed told of each press, before it is sent
   */
  constructor(stage, send, mac, pressed) {
    this.stage = stage;
    this.send = send;
    this.mac = mac;
    this.pressed = pressed;
    const area = stage.area;
    area.addEventListener("pointerdown", (event) => this.#capture(event));
    area.addEventListener("mousedown", (event) => this.#down(event));
    area.addEventListener("mousemove", (event) => this.#moved(event));
    area.addEventListener("mouseup", (event) => this.#up(event));
    area.addEventListener("mouseleave", () => this.#left());
    area.addEventListener("wheel", (event) => this.#wheeled(event), { passive: false });
    area.addEventListener("contextmenu", (event) => event.preventDefault());
    // Chromium goes back and forward on the up of these buttons, Firefox on auxclick.
    area.addEventListener("auxclick", (event) => event.preventDefault());
    area.addEventListener("dragstart", (event) => event.preventDefault());
  }

  /** Lets all held buttons go: the window lost the focus, or the connection. */
  release() {
    for (let button = 0; button <= FORWARD; button += 1) {
      if (this.#held & maskOf(button)) {
        this.#held &= ~maskOf(button);
        this.send({ t: "mouse", k: "up", ...this.#last, b: button, bs: this.#held, c: 1, m: 0 });
      }
    }
    this.#held = 0;
  }

  /** @param {PointerEvent} event */
  #capture(event) {
    if (event.pointerType === "touch" || !this.stage.hit(event)) return;
    // With the capture the drag goes on outside the window; mouse events follow it.
    this.stage.area.setPointerCapture(event.pointerId);
  }

  /** @param {MouseEvent} event */
  #down(event) {
    if (!this.stage.hit(event)) return;
    event.preventDefault();
    this.pressed(event);
    this.#flush();
    this.#held |= maskOf(event.button);
    this.#button("down", event);
  }

  /** @param {MouseEvent} event */
  #up(event) {
    if (!(this.#held & maskOf(event.button))) return;
    event.preventDefault();
    this.#flush();
    this.#held &= ~maskOf(event.button);
    this.#button("up", event);
    if (event.button === BACK) this.send({ t: "nav", k: "back" });
    if (event.button === FORWARD) this.send({ t: "nav", k: "forward" });
  }

  /**
   * @param {"down" | "up"} k
   * @param {MouseEvent} event
   */
  #button(k, event) {
    this.#last = this.stage.point(event);
    this.send({
      t: "mouse", k, ...this.#last, b: event.button, bs: this.#held, c: Math.min(Math.max(1, event.detail), 100),
      m: modifiers(event, this.mac),
    });
  }

  /** @param {MouseEvent} event */
  #moved(event) {
    if (!this.#held && !this.stage.hit(event)) {
      this.#left();
      return;
    }
    this.#inside = true;
    this.#move = event;
    this.#schedule();
  }

  #left() {
    if (this.#held || !this.#inside) return;
    this.#inside = false;
    this.#move = null;
    this.send({ t: "leave" });
  }

  /** @param {WheelEvent} event */
  #wheeled(event) {
    if (!this.stage.hit(event)) return;
    event.preventDefault();
    const { dx, dy } = wheelPixels(event, this.stage.page);
    const before = this.#wheel ?? { dx: 0, dy: 0 };
    this.#wheel = { event, dx: before.dx + dx, dy: before.dy + dy };
    this.#schedule();
  }

  #schedule() {
    if (!this.#frame) this.#frame = requestAnimationFrame(() => this.#flush());
  }

  /** Sends what was gathered since the last frame; called early so that a button never overtakes its move. */
  #flush() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const move = this.#move;
    const wheel = this.#wheel;
    this.#move = this.#wheel = null;
    if (move) {
      this.#last = this.stage.point(move);
      const message = { t: "mouse", k: "move", ...this.#last, b: 0, bs: this.#held, c: 0, m: modifiers(move, this.mac) };
      this.send(message, { droppable: true });
    }
    if (wheel) {
      const at = this.stage.point(wheel.event);
      this.send({ t: "wheel", ...at, dx: wheel.dx, dy: wheel.dy, m: modifiers(wheel.event, this.mac) });
    }
  }
}

/** @param {number} button */
function maskOf(button) {
  return [1, 4, 2, 8, 16][button] ?? 0;
}
