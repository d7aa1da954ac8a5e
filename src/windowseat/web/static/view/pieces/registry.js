// The native pieces that a picture of a page cannot show, by kind. A new piece: one module beside this one, one line
// here, one field of the state.

/** @import {State} from "../state.js" */
/** @import {ToHub} from "../wire.js" */
import { openChooser } from "./chooser.js";
import { openDialog } from "./dialog.js";

/**
 * @typedef {{close: () => void}} OpenPiece
 * @typedef {{
 *   answer: (message: ToHub & {id: string}) => void,
 *   upload: () => {address: string, credential: string},
 *   actedNow: () => boolean,
 * }} PieceWays
 *   answer: tells the hub and takes the piece away; actedNow: whether this viewer clicked or typed a moment ago
 */

/** @type {{dialog: typeof openDialog, chooser: typeof openChooser}} */
const KINDS = { dialog: openDialog, chooser: openChooser };

export class Pieces {
  /** @type {Map<string, {id: string, piece: OpenPiece}>} */
  #open = new Map();

  /**
   * @param {PieceWays} ways
   * @param {() => void} closed told when no piece stands before the page any more
   */
  constructor(ways, closed) {
    this.ways = ways;
    this.closed = closed;
  }

  /** @param {State} state */
  render(state) {
    this.#follow("dialog", state.dialog, (dialog) => KINDS.dialog(dialog, this.ways));
    this.#follow("chooser", state.chooser, (chooser) => KINDS.chooser(chooser, this.ways));
  }

  /**
   * @template {{id: string}} T
   * @param {string} kind
   * @param {T | null} wanted
   * @param {(wanted: T) => OpenPiece} open
   */
  #follow(kind, wanted, open) {
    const shown = this.#open.get(kind);
    if (shown?.id === wanted?.id) return;
    if (shown) {
      this.#open.delete(kind);
      shown.piece.close();
    }
    if (wanted) this.#open.set(kind, { id: wanted.id, piece: open(wanted) });
    else if (this.#open.size === 0) this.closed();
  }
}
