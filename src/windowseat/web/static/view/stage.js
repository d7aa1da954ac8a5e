// The area in which the page lies: its size (told to the hub), where the page is drawn, and points in it.

/** @import {Size} from "./wire.js" */
import { placePage, toPage } from "./geometry.js";

const RESIZE_QUIET_MS = 120;
/** What the hub makes of a side: no page gets smaller or larger. */
const SIDE_AT_LEAST = 100;
const SIDE_AT_MOST = 4096;

export class Stage {
  /** @type {Size} */
  page = { w: 0, h: 0 };
  fit = true;

  /** Whether the page has the size of another viewer. */
  get foreign() {
    return this.page.w > 0 && (this.page.w !== within(this.size.w) || this.page.h !== within(this.size.h));
  }

  /**
   * @param {HTMLElement} area the whole area under the bar
   * @param {HTMLElement} sheet what holds the picture and the pointers
   * @param {(size: Size) => void} resized told once the area has kept its new size for a moment
   * @param {() => void} laid told after the page was given another place
   */
  constructor(area, sheet, resized, laid) {
    this.area = area;
    this.sheet = sheet;
    this.laid = laid;
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
    this.area.classList.toggle("other-size", this.foreign);
    this.area.classList.toggle("scrolls", !this.fit && this.foreign);
    this.laid();
  }
}

/** @param {number} side */
function within(side) {
  return Math.min(Math.max(side, SIDE_AT_LEAST), SIDE_AT_MOST);
}
