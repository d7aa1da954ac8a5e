// The area in which the page lies: its size (told to the hub), where the page is drawn, and points in it.

/** @import {Size} from "./wire.js" */
import { placePage, toPage } from "./geometry.js";

const RESIZE_QUIET_MS = 120;

export class Stage {
  /** @type {Size} */
  page = { w: 0, h: 0 };
  fit = true;

  /**
   * @param {HTMLElement} area the whole area under the bar
   * @param {HTMLElement} sheet what holds the picture and the pointers
   * @param {(size: Size) => void} resized told once the area has kept its new size for a moment
   */
  constructor(area, sheet, resized) {
    this.area = area;
    this.sheet = sheet;
    this.size = this.#measure();
    /** @type {number | undefined} */
    let quiet;
    new ResizeObserver(() => {
      const size = this.#measure();
      if (size.w === this.size.w && size.h === this.size.h) return;
      this.size = size;
      this.#lay();
      clearTimeout(quiet);
      quiet = setTimeout(() => resized(this.size), RESIZE_QUIET_MS);
    }).observe(area);
  }

  /** @param {Size} page */
  show(page) {
    if (page.w === this.page.w && page.h === this.page.h) return;
    this.page = page;
    this.#lay();
  }

  /** @param {boolean} fit */
  setFit(fit) {
    this.fit = fit;
    this.#lay();
  }

  /**
   * Where in the page an event of the viewer's window is.
   * @param {{clientX: number, clientY: number}} event
   */
  point(event) {
    return toPage(event.clientX, event.clientY, this.sheet.getBoundingClientRect(), this.page);
  }

  /**
   * Whether an event is on the page, not on the margin around it.
   * @param {{clientX: number, clientY: number}} event
   */
  hit(event) {
    const drawn = this.sheet.getBoundingClientRect();
    return (
      event.clientX >= drawn.left && event.clientX < drawn.right &&
      event.clientY >= drawn.top && event.clientY < drawn.bottom
    );
  }

  #measure() {
    return { w: Math.max(1, this.area.clientWidth), h: Math.max(1, this.area.clientHeight) };
  }

  #lay() {
    if (!this.page.w || !this.page.h) return;
    const place = placePage(this.size, this.page, this.fit);
    const style = this.sheet.style;
    style.left = `${place.left}px`;
    style.top = `${place.top}px`;
    style.width = `${place.width}px`;
    style.height = `${place.height}px`;
    style.setProperty("--scale", String(place.scale));
    const other = this.page.w !== this.size.w || this.page.h !== this.size.h;
    this.area.classList.toggle("other-size", other);
    this.area.classList.toggle("scrolls", !this.fit && other);
  }
}
