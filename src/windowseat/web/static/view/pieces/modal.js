// A box that stands before the page until it is answered. The browser's own <dialog> keeps the focus inside.

/** @import {Child} from "../dom.js" */
import { h } from "../dom.js";

/**
 * Shows a box; the first element with `autofocus` gets the focus, and it returns where it was afterwards.
 * @param {{label: string, look?: string, cancelled: () => void}} options cancelled: Escape
 * @param {...Child} body
 * @returns {{element: HTMLDialogElement, close: () => void}}
 */
export function showModal({ label, look = "", cancelled }, ...body) {
  const before = document.activeElement;
  const element = h("dialog", { class: `piece ${look}`, "aria-label": label }, ...body);
  element.addEventListener("cancel", (event) => {
    event.preventDefault();
    cancelled();
  });
  // Keys typed here are for the box only.
  element.addEventListener("keydown", (event) => event.stopPropagation());
  document.body.append(element);
  element.showModal();
  const close = () => {
    if (!element.isConnected) return;
    element.close();
    element.remove();
    if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
  };
  return { element, close };
}
