// The connection to the hub, kept alive: first message, reconnecting with growing pauses, a watch on silence.

/** @import {FromHub, ToHub, Picture} from "./wire.js" */
/** @import {Admission} from "./admission.js" */
import { parseMessage, parsePicture } from "./wire.js";

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const CONNECT_MS = 8_000;
const SILENCE_MS = 15_000; // the hub pings every 5 s
const BACKLOG_BYTES = 1 << 20;
const DENIED = 4401;

/**
 * The pause before attempt `attempt` (from 0), in milliseconds; `chance` in [0, 1) keeps many viewers apart.
 * @param {number} attempt
 * @param {number} chance
 */
export function pauseBefore(attempt, chance) {
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10));
  return Math.round(pause * (0.8 + 0.2 * chance));
}

/**
 * @typedef {{
 *   hello: () => ToHub,
 *   message: (message: FromHub) => void,
 *   picture: (picture: Picture) => void,
 *   connecting: () => void,
 *   lost: (pauseMs: number) => void,
 *   denied: (reason: string, launchpad: string) => void,
 * }} Listener
 */

export class HubSocket {
  /** @type {WebSocket | null} */
  #socket = null;
  #welcomed = false;
  #attempt = 0;
  /** @type {number | undefined} */
  #retry;
  /** @type {number | undefined} */
  #watch;
  #stopped = false;

  /**
   * @param {string} address
   * @param {Admission} admission
   * @param {Listener} listener
   */
  constructor(address, admission, listener) {
    this.address = address;
    this.admission = admission;
    this.listener = listener;
  }

  /** Connects, or tries at once when it waits to try again. */
  connect() {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    if (this.#socket || this.#stopped) return;
    const proof = this.admission.proof();
    if (!proof) {
      this.#deny("no proof", "");
      return;
    }
    this.listener.connecting();
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    this.#welcomed = false;
    this.#watchSilence(CONNECT_MS);
    socket.onopen = () => socket.send(JSON.stringify({ ...this.listener.hello(), ...proof }));
    socket.onmessage = (event) => this.#received(socket, event.data);
    socket.onclose = (event) => this.#closed(socket, event.code, event.reason);
  }

  /** Tries at once if the connection is down, as when the network is back or the person asks. */
  tryNow() {
    if (this.#retry !== undefined) this.connect();
  }

  get live() {
    return this.#welcomed && this.#socket?.readyState === WebSocket.OPEN;
  }

  /**
   * Sends a message if the connection is live. Input is never kept for later: a click that lands after a
   * reconnect would hit another page than the person saw.
   * @param {ToHub} message
   * @param {{droppable?: boolean}} [options] droppable: may be left out when the line is slow (pointer moves)
   * @returns {boolean} whether it was sent
   */
  send(message, { droppable = false } = {}) {
    if (!this.live || !this.#socket) return false;
    if (droppable && this.#socket.bufferedAmount > BACKLOG_BYTES) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  /**
   * @param {WebSocket} socket
   * @param {string | ArrayBuffer} data
   */
  #received(socket, data) {
    if (socket !== this.#socket) return;
    this.#watchSilence(SILENCE_MS);
    if (typeof data !== "string") {
      const picture = parsePicture(data);
      if (picture) this.listener.picture(picture);
      return;
    }
    const message = parseMessage(data);
    if (!message) return;
    if (message.t === "denied") {
      this.#refused(message.reason, message.launchpad ?? "");
      return;
    }
    if (message.t === "welcome") {
      this.#welcomed = true;
      this.#attempt = 0;
      this.admission.accepted(message.credential);
    }
    if (message.t === "ping") this.send({ t: "pong", id: message.id });
    else this.listener.message(message);
  }

  /**
   * @param {WebSocket} socket
   * @param {number} code
   * @param {string} reason
   */
  #closed(socket, code, reason) {
    if (socket !== this.#socket) return;
    if (code === DENIED) this.#refused(reason, "");
    else this.#again();
  }

  /**
   * @param {string} reason
   * @param {string} launchpad
   */
  #refused(reason, launchpad) {
    this.#drop();
    // A spent token (a reload right after opening) leaves the credential to try.
    if (this.admission.refused()) this.connect();
    else this.#deny(reason, launchpad);
  }

  /**
   * @param {string} reason
   * @param {string} launchpad
   */
  #deny(reason, launchpad) {
    this.#stopped = true;
    this.listener.denied(reason, launchpad);
  }

  #again() {
    this.#drop();
    const pause = pauseBefore(this.#attempt, Math.random());
    this.#attempt += 1;
    this.#retry = setTimeout(() => this.connect(), pause);
    this.listener.lost(pause);
  }

  #drop() {
    clearTimeout(this.#watch);
    const socket = this.#socket;
    this.#socket = null;
    this.#welcomed = false;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
  }

  /** @param {number} ms */
  #watchSilence(ms) {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => this.#again(), ms);
  }
}
