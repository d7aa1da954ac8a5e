// The list of the view's own keys, for people.

import { h } from "./dom.js";
import { showModal } from "./pieces/modal.js";

/**
 * @param {boolean} mac
 * @returns {[string, string][]}
 */
function rows(mac) {
  const control = mac ? "⌘" : "Ctrl+";
  const shift = mac ? "⇧" : "Shift+";
  return [
    [`${control}L  or  F6`, "To the address bar; Escape or F6 leads back to the page"],
    [mac ? "⌘[  ⌘]" : "Alt+←  Alt+→", "Back, forward"],
    [`${control}R  or  F5`, "Reload the page"],
    [mac ? "⇧⌘R" : `${control}${shift}R`, "Reload without the cache"],
    [`${control}C  ${control}X  ${control}V`, "Copy, cut and paste text between the page and here"],
    [`${control}+  ${control}−  ${control}0`, "Zoom this view; the page takes the new size"],
    ["F11", "Full screen"],
  ];
}

/** @param {boolean} mac */
export function showShortcuts(mac) {
  const list = h("dl", { class: "keys" });
  for (const [keys, what] of rows(mac)) list.append(h("dt", {}, keys), h("dd", {}, what));
  const note = mac
    ? "All other keys go to the page, with ⌘ as its Control."
    : "All other keys go to the page, except those that your own browser keeps (Ctrl+T, Ctrl+N, Ctrl+W).";
  const modal = showModal(
    { label: "Keyboard shortcuts", look: "shortcuts", cancelled: () => modal.close() },
    h("h1", {}, "Keyboard"), list, h("p", { class: "muted" }, note),
    h(
      "div", { class: "actions" },
      h("button", { type: "button", class: "button first", autofocus: true, onclick: () => modal.close() }, "Done"),
    ),
  );
}
