// Where the page lies in its area: sizes and coordinates only, no DOM.

/** @import {Size} from "./wire.js" */
/** @typedef {{scale: number, left: number, top: number, width: number, height: number}} Place */

/**
 * Where a page of size `page` lies in an area of size `area` (CSS pixels both). One pixel stays one pixel where it
 * fits; a page that is larger (it has another viewer's size) is scaled down when `fit`, else it keeps its size and
 * the area scrolls.
 * @param {Size} area
 * @param {Size} page
 * @param {boolean} fit
 * @returns {Place}
 */
export function placePage(area, page, fit) {
  const scale = fit ? Math.min(1, area.w / page.w, area.h / page.h) : 1;
  const width = page.w * scale;
  const height = page.h * scale;
  return {
    scale,
    left: Math.max(0, Math.floor((area.w - width) / 2)),
    // Within one pixel of the area the page is ours: no seam on top.
    top: Math.max(0, Math.floor((area.h - height) / 2)),
    width,
    height,
  };
}

/**
 * A point of the viewer's window as a point of the page, kept inside the page.
 * @param {number} clientX
 * @param {number} clientY
 * @param {{left: number, top: number, width: number, height: number}} drawn where the page is drawn in the window
 * @param {Size} page
 */
export function toPage(clientX, clientY, drawn, page) {
  const scaleX = drawn.width > 0 ? page.w / drawn.width : 1;
  const scaleY = drawn.height > 0 ? page.h / drawn.height : 1;
  return {
    x: clamp((clientX - drawn.left) * scaleX, page.w),
    y: clamp((clientY - drawn.top) * scaleY, page.h),
  };
}

/**
 * @param {number} value
 * @param {number} limit
 */
function clamp(value, limit) {
  const inside = Math.min(Math.max(value, 0), Math.max(0, limit - 1));
  return Math.round(inside * 100) / 100;
}

/**
 * Wheel distances in pixels. Lines and pages are what Firefox and some mice give.
 * @param {{deltaX: number, deltaY: number, deltaMode: number}} event
 * @param {Size} page
 */
export function wheelPixels(event, page) {
  const LINE = 100 / 3; // three lines a notch, a hundred pixels a notch
  if (event.deltaMode === 1) return { dx: event.deltaX * LINE, dy: event.deltaY * LINE };
  if (event.deltaMode === 2) return { dx: event.deltaX * page.w, dy: event.deltaY * page.h };
  return { dx: event.deltaX, dy: event.deltaY };
}
