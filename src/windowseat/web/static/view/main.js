// One view: puts the parts together. Messages go through the reducer, the parts render what it leaves.

/** @import {FromHub, ToHub} from "./wire.js" */
/** @import {State, Local} from "./state.js" */
import { Admission } from "./admission.js";
import { Banners } from "./banners.js";
import { Bar } from "./bar.js";
import { Cards } from "./cards.js";
import { Clipboard, writeText } from "./clipboard.js";
import { need } from "./dom.js";
import { Hints } from "./hints.js";
import { Keyboard } from "./keyboard.js";
import { Menu } from "./menu.js";
import { Mouse } from "./mouse.js";
import { Pictures } from "./pictures.js";
import { Pieces } from "./pieces/registry.js";
import { Presence } from "./presence.js";
import { Screens } from "./screens.js";
import { showShortcuts } from "./shortcuts.js";
import { HubSocket } from "./socket.js";
import { Stage } from "./stage.js";
import { initialState, reduce } from "./state.js";
import { PhoneKeyboard, Touches } from "./touch.js";
import { Typing } from "./typing.js";
import { followViewport } from "./viewport.js";

const TICK_MS = 500;
const ACTED_MS = 1_500;
/** Messages after which the page takes this viewer's size, and a file picker may open by itself. */
const ACTS = new Set(["key", "text", "ime", "delete", "paste", "cut", "nav", "wheel"]);

const mac = /^(Mac|iP)/.test(navigator.platform);
const phone = matchMedia("(pointer: coarse)").matches;
const touch = matchMedia("(any-pointer: coarse)").matches;
const tabPath = location.pathname.replace(/\/+$/, "");
const tabId = tabPath.split("/").at(-1) ?? "";

const area = need("area", HTMLElement);
const canvas = need("picture", HTMLCanvasElement);
const field = need("keys", HTMLTextAreaElement);
const takeSize = need("take-size", HTMLButtonElement);
const keyboardButton = need("keyboard", HTMLButtonElement);

/** @type {State} */
let state = initialState();
/** @type {State | null} */
let rendered = null;
let lastAct = -Infinity;
/** The size that the hub was told last on this connection. */
let toldSize = { w: 0, h: 0 };

/** @param {FromHub | Local} event */
function dispatch(event) {
  const next = reduce(state, event, performance.now());
  if (next === state) return;
  state = next;
  render();
}

/** @param {ToHub} message @param {{droppable?: boolean}} [options] */
function send(message, options) {
  if (ACTS.has(message.t) || message.k === "down" || message.k === "start") lastAct = performance.now();
  return socket.send(message, options);
}

/** @param {import("./wire.js").Size} size */
function tellSize(size) {
  if (size.w === toldSize.w && size.h === toldSize.h) return;
  if (send({ t: "size", ...size, dpr: devicePixelRatio })) toldSize = size;
}

/** While the page has another viewer's size: a way to give it this one's without touching anything in it. */
function offerSize() {
  takeSize.hidden = !stage.foreign || state.phase !== "live" || Boolean(state.ended);
}

function isVisible() {
  return document.visibilityState === "visible";
}

function toPage() {
  if (document.querySelector("dialog[open]")) return;
  field.focus({ preventScroll: true });
}

const admission = new Admission(tabId);
const stage = new Stage(area, need("sheet", HTMLElement), tellSize, offerSize);
const pictures = new Pictures(canvas, (n) => socket.send({ t: "ack", n }), (w, h) => {
  stage.show({ w, h });
  dispatch({ t: "local-picture", w, h });
});
const socket = new HubSocket(
  `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${tabPath}/socket`, admission,
  {
    hello: () => {
      toldSize = stage.size;
      return { t: "hello", ...stage.size, dpr: devicePixelRatio, touch, visible: isVisible() };
    },
    message: received,
    picture: (picture) => pictures.show(picture),
    connecting: () => dispatch({ t: "local-connecting" }),
    lost: (pause) => {
      pictures.forget();
      dispatch({ t: "local-lost", retryAt: performance.now() + pause });
    },
    denied: (reason, launchpad) => dispatch({ t: "denied", reason, launchpad }),
  },
);

const bar = new Bar(send, toPage);
const presence = new Presence();
const hints = new Hints();
const cards = new Cards((tab) => dispatch({ t: "local-dismiss", tab }), toPage);
const banners = new Banners(send, () => socket.tryNow());
const screens = new Screens(send, (covered) => {
  if (!covered) toPage();
});
const pieces = new Pieces(
  {
    answer: (message) => {
      send(message);
      dispatch({ t: "local-answered", id: message.id });
    },
    upload: () => ({ address: `${tabPath}/upload`, credential: admission.credential }),
    actedNow: () => performance.now() - lastAct < ACTED_MS,
  },
  toPage,
);

const keyboard = new Keyboard(field, send, mac, {
  address: () => bar.focusAddress(),
  copy: (cut) => clipboard.copy(cut, true),
  nav: (k) => send({ t: "nav", k }),
  loading: () => state.tab?.loading === true,
});
const typing = new Typing(field, send, () => keyboard.press({ key: "Enter", code: "Enter", loc: 0, m: 0, text: "\r" }));
const clipboard = new Clipboard(field, {
  send,
  pressInstead: (cut) => keyboard.press({ key: cut ? "x" : "c", code: cut ? "KeyX" : "KeyC", loc: 0, m: 2 }),
  problem: (message) => dispatch({ t: "local-problem", message }),
  offer: (text) => cards.offerCopy(() => writeText(text)),
});
const phoneKeyboard = new PhoneKeyboard(field, keyboardButton);
const mouse = new Mouse(stage, send, mac, (event) => {
  typing.settle();
  placeField(event);
  toPage();
});
const touches = new Touches(stage, send, (at) => {
  placeField(at);
  if (phone) phoneKeyboard.tapped();
  else toPage();
});
new Menu({
  state: () => state,
  area: () => stage.size,
  fit: () => stage.fit,
  setFit: (on) => stage.setFit(on),
  sharp: () => canvas.classList.contains("sharp"),
  setSharp: (on) => canvas.classList.toggle("sharp", on),
  copyAddress: () => void writeText(state.tab?.url ?? ""),
  hardReload: () => send({ t: "nav", k: "hard-reload" }),
  shortcuts: () => showShortcuts(mac),
  toPage,
});

/** @param {FromHub} message */
function received(message) {
  if (message.t === "clip") {
    clipboard.received(message);
    return;
  }
  dispatch(message);
  if (message.t === "field") {
    if (message.on && message.x !== undefined && message.y !== undefined) placeInPage(message.x, message.y, message.h ?? 16);
    if (phone) phoneKeyboard.place(message.on);
  }
  if (message.t === "welcome") {
    // Both may have changed between the first message and its answer.
    tellSize(stage.size);
    send({ t: "visible", on: isVisible() });
  }
}

/** Input methods show their list beside the field, so it stands where the person clicked last.
 * @param {{clientX: number, clientY: number}} at
 */
function placeField(at) {
  const box = area.getBoundingClientRect();
  field.style.left = `${Math.round(at.clientX - box.left)}px`;
  field.style.top = `${Math.round(at.clientY - box.top)}px`;
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} height
 */
function placeInPage(x, y, height) {
  const drawn = canvas.getBoundingClientRect();
  const scale = stage.page.w ? drawn.width / stage.page.w : 1;
  placeField({ clientX: drawn.left + x * scale, clientY: drawn.top + (y + height) * scale });
}

function render() {
  const before = rendered;
  rendered = state;
  if (state.size) stage.show(state.size);
  bar.render(state, before);
  presence.render(state, before);
  hints.render(state, before);
  cards.render(state, before);
  banners.render(state, performance.now());
  screens.render(state);
  pieces.render(state);
  area.style.cursor = state.cursor;
  offerSize();
  document.body.dataset.phase = state.phase;
  document.body.classList.toggle("stale", state.phase !== "live" || state.page !== "live");
  if (state.phase === "reconnecting" && before?.phase === "live") {
    mouse.release();
    touches.release();
  }
  if (state.tab && state.tab.title !== before?.tab?.title) {
    canvas.setAttribute("aria-label", `Live picture of ${state.tab.title || "the page"}`);
  }
}

function start() {
  takeSize.addEventListener("click", () => {
    // A wheel that does not turn: the viewer acts, and the page takes its size.
    send({ t: "wheel", x: 0, y: 0, dx: 0, dy: 0, m: 0 });
    toPage();
  });
  keyboardButton.hidden = !phone;
  if (phone) field.inputMode = "none";
  followViewport();
  document.addEventListener("visibilitychange", () => {
    send({ t: "visible", on: isVisible() });
    if (isVisible()) socket.tryNow();
  });
  window.addEventListener("online", () => socket.tryNow());
  window.addEventListener("blur", () => {
    mouse.release();
    touches.release();
  });
  // A file that misses the chooser must not replace this page.
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const message = "Files reach the page through its own file button: click it, then choose or drop them.";
    if (event.dataTransfer?.files.length) dispatch({ t: "local-problem", message });
  });
  setInterval(() => {
    dispatch({ t: "local-tick" });
    banners.render(state, performance.now());
  }, TICK_MS);
  render();
  socket.connect();
  toPage();
}

start();
