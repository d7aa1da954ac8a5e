// Draws the pictures of the page: the latest wins, each is acknowledged once it is drawn or passed over.

/** @import {Picture} from "./wire.js" */

export class Pictures {
  /** @type {Picture | null} */
  #waiting = null;
  #decoding = false;
  #connection = 0;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {(n: number) => void} acknowledge
   * @param {(w: number, h: number) => void} drawn told the page's size of each drawn picture, before the next paint
   */
  constructor(canvas, acknowledge, drawn) {
    this.canvas = canvas;
    this.context = canvas.getContext("bitmaprenderer");
    this.acknowledge = acknowledge;
    this.drawn = drawn;
  }

  /** @param {Picture} picture */
  show(picture) {
    // The hub counts pictures under way: one that is passed over must be acknowledged too.
    if (this.#waiting) this.acknowledge(this.#waiting.n);
    this.#waiting = picture;
    if (!this.#decoding) void this.#drain();
  }

  /** The connection is gone: what came on it is drawn, but not acknowledged on the next one. */
  forget() {
    this.#waiting = null;
    this.#connection += 1;
  }

  async #drain() {
    this.#decoding = true;
    while (this.#waiting) {
      const picture = this.#waiting;
      const connection = this.#connection;
      this.#waiting = null;
      try {
        this.#draw(picture, await createImageBitmap(picture.image));
      } catch {
        // A torn picture: the one before it stays until the next arrives.
      }
      if (connection === this.#connection) this.acknowledge(picture.n);
    }
    this.#decoding = false;
  }

  /**
   * @param {Picture} picture
   * @param {ImageBitmap} bitmap
   */
  #draw(picture, bitmap) {
    if (this.canvas.width !== bitmap.width) this.canvas.width = bitmap.width;
    if (this.canvas.height !== bitmap.height) this.canvas.height = bitmap.height;
    this.context?.transferFromImageBitmap(bitmap);
    this.drawn(picture.w, picture.h);
  }
}
