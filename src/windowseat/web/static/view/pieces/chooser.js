// The page asks for files: the viewer's own file picker or a drop, sent to the machine with progress.

/** @import {Chooser} from "../wire.js" */
/** @import {PieceWays, OpenPiece} from "./registry.js" */
import { h } from "../dom.js";
import { showModal } from "./modal.js";
import { upload } from "./upload.js";

const AT_ONCE = 2;
const FILES_AT_MOST = 100;

/**
 * @typedef {{file: File, id: string, row: HTMLElement, bar: HTMLProgressElement, note: HTMLElement}} Item
 */

/**
 * @param {Chooser} chooser
 * @param {PieceWays} ways
 * @returns {OpenPiece}
 */
export function openChooser(chooser, ways) {
  return new ChooserPanel(chooser, ways);
}

class ChooserPanel {
  #stop = new AbortController();
  /** @type {Item[]} */
  #items = [];
  #list = h("ul", { class: "files" });
  #title = "This page asks for a file";

  /**
   * @param {Chooser} chooser
   * @param {PieceWays} ways
   */
  constructor(chooser, ways) {
    this.chooser = chooser;
    this.ways = ways;
    if (chooser.multiple) this.#title = "This page asks for files";
    this.picker = this.#makePicker();
    this.choose = h(
      "button", { type: "button", class: "button first", autofocus: true, onclick: () => this.picker.click() },
      chooser.multiple ? "Choose files" : "Choose a file",
    );
    this.drop = h(
      "div", { class: "drop", ondragover: (event) => this.#over(event), ondragleave: () => this.#hover(false),
        ondrop: (event) => this.#dropped(event) },
      h("p", {}, `Drop ${chooser.multiple ? "files" : "a file"} here, or`), this.choose,
    );
    const cancel = h("button", { type: "button", class: "button", onclick: () => this.#cancel() }, "Cancel");
    this.modal = showModal(
      { label: this.#title, look: "chooser", cancelled: () => this.#cancel() },
      h("h1", {}, this.#title), this.drop, this.#list, this.picker, h("div", { class: "actions" }, cancel),
    );
    // As in a local tab: the click on the page's file button opens the picker, where that click still counts.
    this.direct = ways.actedNow() && navigator.userActivation?.isActive === true;
    if (this.direct) this.picker.click();
  }

  close() {
    this.#stop.abort();
    this.modal.close();
  }

  #makePicker() {
    const { accept } = this.chooser;
    return h("input", {
      type: "file", class: "visually-hidden", tabindex: -1, "aria-label": this.#title, multiple: this.chooser.multiple,
      accept: Array.isArray(accept) ? accept.join(",") : accept,
      onchange: () => void this.#take([...(this.picker.files ?? [])]),
      oncancel: (event) => this.#pickerCancelled(event),
    });
  }

  /** @param {Event} event */
  #pickerCancelled(event) {
    event.stopPropagation(); // it bubbles, and would cancel the box around it
    if (this.direct) this.#cancel();
  }

  /** @param {DragEvent} event */
  #over(event) {
    event.preventDefault();
    event.stopPropagation();
    this.#hover(true);
  }

  /** @param {boolean} on */
  #hover(on) {
    this.drop.classList.toggle("over", on);
  }

  /** @param {DragEvent} event */
  #dropped(event) {
    event.preventDefault();
    event.stopPropagation();
    this.#hover(false);
    const files = [...(event.dataTransfer?.files ?? [])];
    void this.#take(this.chooser.multiple ? files : files.slice(0, 1));
  }

  /** @param {File[]} files */
  async #take(files) {
    if (files.length === 0) return;
    if (files.length > FILES_AT_MOST) {
      this.#list.replaceChildren(h("li", { role: "alert" }, `At most ${FILES_AT_MOST} files at once; these are ${files.length}.`));
      return;
    }
    this.direct = false;
    this.drop.hidden = true;
    this.#items = files.map(newItem);
    this.#list.replaceChildren(...this.#items.map((item) => item.row));
    await this.#sendAll();
  }

  /** Sends what has not arrived yet, and answers the page when everything has. */
  async #sendAll() {
    const waiting = this.#items.filter((item) => !item.id);
    const worker = async () => {
      for (let item = waiting.shift(); item; item = waiting.shift()) await this.#send(item);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    if (this.#stop.signal.aborted || !this.#items.every((item) => item.id)) return;
    this.ways.answer({ t: "chooser", id: this.chooser.id, uploads: this.#items.map((item) => item.id) });
  }

  /** @param {Item} item */
  async #send(item) {
    item.bar.hidden = false;
    showProgress(item, 0);
    try {
      item.id = await upload(item.file, {
        ...this.ways.upload(), signal: this.#stop.signal, progress: (part) => showProgress(item, part),
      });
      item.bar.value = 1;
      item.note.textContent = "Sent";
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      item.bar.hidden = true;
      const again = h("button", { type: "button", class: "link-button", onclick: () => void this.#sendAll() }, "Try again");
      item.note.replaceChildren(error instanceof Error ? error.message : "Not sent", " ", again);
      again.focus();
    }
  }

  #cancel() {
    this.#stop.abort();
    this.ways.answer({ t: "chooser", id: this.chooser.id, cancel: true });
  }
}

/** @param {File} file @returns {Item} */
function newItem(file) {
  const bar = h("progress", { max: 1, value: 0, "aria-label": `Sending ${file.name}` });
  const note = h("span", { class: "note" }, sizeText(file.size));
  const row = h("li", {}, h("span", { class: "name" }, file.name), note, bar);
  return { file, id: "", row, bar, note };
}

/**
 * @param {Item} item
 * @param {number} part
 */
function showProgress(item, part) {
  item.bar.value = part;
  item.note.textContent = `${Math.floor(part * 100)} % of ${sizeText(item.file.size)}`;
}

/** @param {number} bytes */
function sizeText(bytes) {
  const units = ["B", "KB", "MB", "GB"];
  let size = bytes;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`;
}
