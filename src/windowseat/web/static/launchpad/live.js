// The socket of live changes: connects, says who it is, connects again when it is lost.

import { SECRET, signIn } from "./api.js";

// Milliseconds. The hub says something every 10 s at least.
const SILENCE = 25_000;
const LONGEST_WAIT = 5_000;
const DENIED = 4401;

const decoder = new TextDecoder();

export class Live {
  /**
   * @param {object} hears
   * @param {(message: any) => void} hears.message
   * @param {(id: string, jpeg: Blob) => void} hears.thumbnail
   * @param {() => void} hears.lost
   */
  constructor(hears) {
    this.hears = hears;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.failures = 0;
    this.retry = 0;
    this.silence = 0;
    /** @type {string[]} */
    this.watched = [];
    document.addEventListener("visibilitychange", () => {
      this.#send({ t: "visible", on: !document.hidden });
      this.watch(this.watched);
      if (!document.hidden && !this.socket) this.connect();
    });
    window.addEventListener("online", () => this.socket || this.connect());
  }

  connect() {
    clearTimeout(this.retry);
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/api/v1/live`);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.#send({ t: "hello", secret: localStorage.getItem(SECRET) ?? "" });
      this.#send({ t: "visible", on: !document.hidden });
      this.watch(this.watched);
    };
    socket.onmessage = (event) => {
      if (this.socket === socket) this.#heard(event.data);
    };
    socket.onclose = (event) => {
      if (this.socket !== socket) return;
      if (event.code === DENIED) return signIn();
      this.#lost();
    };
    this.#expectNews();
  }

  /** Asks for pictures of these tabs, and of no others; of none while the page is hidden. @param {string[]} tabs */
  watch(tabs) {
    this.watched = tabs;
    this.#send({ t: "watch", tabs: document.hidden ? [] : tabs });
  }

  /** @param {string | ArrayBuffer} data */
  #heard(data) {
    this.failures = 0;
    this.#expectNews();
    if (typeof data === "string") {
      const message = JSON.parse(data);
      if (message.t === "tick") this.#send({ t: "tock" });
      else this.hears.message(message);
      return;
    }
    const bytes = new Uint8Array(data);
    const length = bytes[0] ?? 0;
    const id = decoder.decode(bytes.subarray(1, 1 + length));
    this.hears.thumbnail(id, new Blob([bytes.subarray(1 + length)], { type: "image/jpeg" }));
  }

  #lost() {
    clearTimeout(this.silence);
    this.socket = null;
    this.hears.lost();
    const wait = Math.min(LONGEST_WAIT, 250 * 2 ** this.failures) * (0.75 + Math.random() / 2);
    this.failures += 1;
    this.retry = setTimeout(() => this.connect(), wait);
  }

  #expectNews() {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => {
      const socket = this.socket;
      this.#lost();
      socket?.close();
    }, SILENCE);
  }

  /** @param {object} message */
  #send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}
