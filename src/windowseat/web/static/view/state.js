// The whole state of a view, and how each message changes it. Pure: no DOM, no clock; times come with the events.

/** @import {FromHub, Tab, Person, Size, Dialog, Chooser, PageState, Field, Opened} from "./wire.js" */

/**
 * @typedef {"connecting" | "live" | "reconnecting" | "denied"} Phase
 * @typedef {{x: number, y: number, k: "move" | "down" | "click", at: number, presses: number}} Pointer
 * @typedef {{session: string, line: string, at: number}} AgentLine
 * @typedef {{reason: string, restorable: boolean}} Ended
 *
 * @typedef {{
 *   phase: Phase, retryAt: number, denied: string, launchpad: string,
 *   viewer: string, tab: Tab | null, closesAt: number, people: Person[], size: Size | null,
 *   cursor: string, link: string, field: Field | null,
 *   pointers: Record<string, Pointer>, agents: Record<string, Pointer>, agentsSeen: Record<string, number>,
 *   agentLine: AgentLine | null,
 *   dialog: Dialog | null, chooser: Chooser | null, opened: (Opened & {at: number})[],
 *   page: PageState, ended: Ended | null, problem: {message: string, at: number} | null,
 * }} State
 *
 * What happens besides the hub's messages:
 * @typedef {{t: "local-connecting"} | {t: "local-lost", retryAt: number} | {t: "local-dismiss", tab: string}
 *   | {t: "local-picture", w: number, h: number} | {t: "local-problem", message: string}
 *   | {t: "local-answered", id: string} | {t: "local-tick"}} Local
 */

const OPENED_MS = 55_000; // the token in `opened.url` is good for 60 s
const OPENED_KEPT = 4;
const POINTER_MS = 10_000;
const AGENT_MS = 20_000;
const LINE_MS = 8_000;
const PROBLEM_MS = 6_000;

/** @returns {State} */
export function initialState() {
  return {
    phase: "connecting", retryAt: 0, denied: "", launchpad: "",
    viewer: "", tab: null, closesAt: 0, people: [], size: null,
    cursor: "default", link: "", field: null,
    pointers: {}, agents: {}, agentsSeen: {}, agentLine: null,
    dialog: null, chooser: null, opened: [],
    page: "live", ended: null, problem: null,
  };
}

/**
 * The state after one event. Returns the same object when nothing changed.
 * @param {State} state
 * @param {FromHub | Local} event
 * @param {number} now milliseconds, any steady clock
 * @returns {State}
 */
export function reduce(state, event, now) {
  switch (event.t) {
    case "welcome":
      return {
        ...initialState(),
        phase: "live",
        launchpad: event.launchpad || state.launchpad,
        viewer: event.viewer,
        ...withTab(event.tab, now),
        people: event.people,
        size: event.size || state.size,
        opened: state.opened,
      };
    case "denied":
      return { ...state, phase: "denied", denied: event.reason, launchpad: event.launchpad || state.launchpad };
    case "tab":
      // A tab that is told of again after it ended has been reopened.
      return { ...state, ...withTab(event.tab, now), ended: null };
    case "size":
    case "local-picture":
      if (state.size && state.size.w === event.w && state.size.h === event.h) return state;
      return { ...state, size: { w: event.w, h: event.h } };
    case "cursor":
      return { ...state, cursor: /^[a-z-]{1,24}$/.test(event.cursor) ? event.cursor : "default" };
    case "link":
      return { ...state, link: event.url };
    case "field":
      return { ...state, field: event };
    case "people":
      return { ...state, people: event.people, pointers: ofPeople(state.pointers, event.people) };
    case "pointer":
      return { ...state, pointers: movedPointers(state.pointers, event, now) };
    case "agent":
      return withAgent(state, event, now);
    case "status":
      return { ...state, page: event.state };
    case "ended":
      return {
        ...state, ended: { reason: event.reason, restorable: event.restorable },
        dialog: null, chooser: null, link: "", pointers: {}, agents: {}, agentsSeen: {}, agentLine: null,
      };
    case "error":
      return { ...state, problem: { message: event.message, at: now } };
    case "local-problem":
      return { ...state, problem: { message: event.message, at: now } };
    case "local-connecting":
      return state.phase === "reconnecting" ? { ...state, retryAt: 0 } : { ...state, phase: "connecting" };
    case "local-lost":
      return {
        ...state, phase: "reconnecting", retryAt: event.retryAt,
        dialog: null, chooser: null, pointers: {}, agents: {}, agentsSeen: {}, agentLine: null, link: "",
        field: null,
      };
    case "local-tick":
      return tick(state, now);
    default:
      return reducePieces(state, event, now);
  }
}

/**
 * Dialogs, choosers and opened tabs: things that stand in front of the page until they are answered.
 * @param {State} state
 * @param {FromHub | Local} event
 * @param {number} now
 * @returns {State}
 */
function reducePieces(state, event, now) {
  switch (event.t) {
    case "dialog":
      return { ...state, dialog: event };
    case "chooser":
      return { ...state, chooser: event };
    case "dialog-closed":
      return state.dialog?.id === event.id ? { ...state, dialog: null } : state;
    case "chooser-closed":
      return state.chooser?.id === event.id ? { ...state, chooser: null } : state;
    case "local-answered":
      if (state.dialog?.id === event.id) return { ...state, dialog: null };
      return state.chooser?.id === event.id ? { ...state, chooser: null } : state;
    case "opened": {
      const others = state.opened.filter((one) => one.tab.id !== event.tab.id);
      return { ...state, opened: [...others, { ...event, at: now }].slice(-OPENED_KEPT) };
    }
    case "local-dismiss":
      return { ...state, opened: state.opened.filter((one) => one.tab.id !== event.tab) };
    default:
      return state;
  }
}

/**
 * @param {Tab} tab
 * @param {number} now
 */
function withTab(tab, now) {
  const left = tab.closes_in_s;
  return { tab, closesAt: typeof left === "number" ? now + left * 1000 : 0 };
}

/**
 * @param {Record<string, Pointer>} pointers
 * @param {Person[]} people
 */
function ofPeople(pointers, people) {
  const here = new Set(people.map((person) => person.viewer));
  return Object.fromEntries(Object.entries(pointers).filter(([viewer]) => here.has(viewer)));
}

/**
 * @param {Record<string, Pointer>} pointers
 * @param {import("./wire.js").PointerMessage} event
 * @param {number} now
 * @returns {Record<string, Pointer>}
 */
function movedPointers(pointers, event, now) {
  if (event.k === "leave") {
    const { [event.viewer]: _gone, ...others } = pointers;
    return others;
  }
  const presses = (pointers[event.viewer]?.presses ?? 0) + (event.k === "down" ? 1 : 0);
  return { ...pointers, [event.viewer]: { x: event.x, y: event.y, k: event.k, at: now, presses } };
}

/**
 * @param {State} state
 * @param {import("./wire.js").AgentMessage} event
 * @param {number} now
 * @returns {State}
 */
function withAgent(state, event, now) {
  const agentLine = event.line ? { session: event.session, line: event.line, at: now } : state.agentLine;
  const agentsSeen = { ...state.agentsSeen, [event.session]: now };
  if (typeof event.x !== "number" || typeof event.y !== "number") return { ...state, agentLine, agentsSeen };
  const before = state.agents[event.session];
  const click = event.k === "click";
  /** @type {Pointer} */
  const pointer = {
    x: event.x, y: event.y, k: click ? "click" : "move", at: now, presses: (before?.presses ?? 0) + (click ? 1 : 0),
  };
  return { ...state, agentLine, agentsSeen, agents: { ...state.agents, [event.session]: pointer } };
}

/**
 * Lets what is old go: pointers that rest, lines that were read, offers whose token has run out.
 * @param {State} state
 * @param {number} now
 * @returns {State}
 */
function tick(state, now) {
  const next = { ...state };
  next.pointers = fresh(state.pointers, now - POINTER_MS);
  next.agents = fresh(state.agents, now - AGENT_MS);
  const seen = Object.entries(state.agentsSeen).filter(([, at]) => at > now - AGENT_MS);
  if (seen.length !== Object.keys(state.agentsSeen).length) next.agentsSeen = Object.fromEntries(seen);
  if (state.opened.some((one) => one.at <= now - OPENED_MS)) {
    next.opened = state.opened.filter((one) => one.at > now - OPENED_MS);
  }
  if (state.agentLine && state.agentLine.at <= now - LINE_MS) next.agentLine = null;
  if (state.problem && state.problem.at <= now - PROBLEM_MS) next.problem = null;
  const keys = /** @type {(keyof State)[]} */ (Object.keys(next));
  return keys.every((key) => next[key] === state[key]) ? state : next;
}

/**
 * @param {Record<string, Pointer>} pointers
 * @param {number} since
 */
function fresh(pointers, since) {
  const entries = Object.entries(pointers);
  const kept = entries.filter(([, pointer]) => pointer.at > since);
  return kept.length === entries.length ? pointers : Object.fromEntries(kept);
}
