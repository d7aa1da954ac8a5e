// Who is here: faces in the bar, pointers over the page, rings at clicks.

/** @import {State, Pointer} from "./state.js" */
/** @import {Size} from "./wire.js" */
import { h, icon, need } from "./dom.js";
import { sessionLabel } from "./names.js";

const FACES = 4;

/**
 * @typedef {{key: string, name: string, label: string, color: string, agent: boolean, you: boolean}} Face
 */

/**
 * Everybody in the tab: agents that work in it now, the others, and last the viewer.
 * @param {State} state
 * @returns {Face[]}
 */
export function faces(state) {
  const agents = Object.keys(state.agentsSeen).map((session) => ({
    key: `agent ${session}`, name: sessionLabel(session), label: `${sessionLabel(session)}, an agent`, color: "", agent: true, you: false,
  }));
  const people = [...state.people].sort((a, b) => Number(a.you) - Number(b.you)).map((person) => ({
    key: person.viewer, name: person.name, label: person.you ? `${person.name} (you)` : person.name,
    color: person.color, agent: false, you: person.you,
  }));
  return [...agents, ...people];
}

export class Presence {
  #list = need("people", HTMLElement);
  #layer = need("pointers", HTMLElement);
  /** @type {Map<string, {element: HTMLElement, presses: number}>} */
  #shown = new Map();
  /** Faces by key and content: those that stay are not made again, so that only who comes moves.
   * @type {Map<string, HTMLElement>}
   */
  #faces = new Map();

  /**
   * @param {State} state
   * @param {State | null} before
   */
  render(state, before) {
    if (!before || state.people !== before.people || state.agentsSeen !== before.agentsSeen) this.#renderFaces(state);
    const moved = !before || state.pointers !== before.pointers || state.agents !== before.agents ||
      state.size !== before.size;
    if (moved && state.size) this.#renderPointers(state, state.size);
  }

  /** @param {State} state */
  #renderFaces(state) {
    const all = faces(state);
    const room = all.length > FACES ? FACES - 1 : FACES;
    const known = this.#faces;
    this.#faces = new Map(all.slice(0, room).map((face) => {
      const key = JSON.stringify(face);
      return [key, known.get(key) ?? faceItem(face)];
    }));
    if (all.length > room) {
      const names = all.slice(room).map((face) => face.label).join(", ");
      const key = `rest ${names}`;
      const made = h("li", { class: "face rest", title: names }, h("span", { role: "img", "aria-label": names }, `+${all.length - room}`));
      this.#faces.set(key, known.get(key) ?? made);
    }
    for (const [key, element] of known) if (!this.#faces.has(key)) element.remove();
    [...this.#faces.values()].forEach((element, at) => {
      const there = this.#list.children[at] ?? null;
      if (element !== there) this.#list.insertBefore(element, there);
    });
  }

  /**
   * @param {State} state
   * @param {Size} size
   */
  #renderPointers(state, size) {
    const seen = new Set();
    for (const person of state.people) {
      const pointer = state.pointers[person.viewer];
      if (!pointer || person.you) continue;
      seen.add(person.viewer);
      this.#place(person.viewer, person.name, person.color, pointer, size);
    }
    for (const [session, pointer] of Object.entries(state.agents)) {
      seen.add(`agent ${session}`);
      this.#place(`agent ${session}`, `agent · ${sessionLabel(session)}`, "agent", pointer, size);
    }
    for (const [key, { element }] of this.#shown) {
      if (seen.has(key)) continue;
      element.remove();
      this.#shown.delete(key);
    }
  }

  /**
   * @param {string} key
   * @param {string} name
   * @param {string} color
   * @param {Pointer} pointer
   * @param {Size} size
   */
  #place(key, name, color, pointer, size) {
    let shown = this.#shown.get(key);
    if (!shown) {
      const element = h("div", { class: "pointer", "data-color": color }, icon("pointer"), h("span", {}, name));
      shown = { element, presses: pointer.presses - (pointer.k === "move" ? 0 : 1) };
      this.#shown.set(key, shown);
      this.#layer.append(element);
    }
    const { style, classList } = shown.element;
    // Parts of the page, not pixels: they stay right when the page is scaled.
    style.left = `${(pointer.x / size.w) * 100}%`;
    style.top = `${(pointer.y / size.h) * 100}%`;
    classList.toggle("to-left", pointer.x > size.w * 0.8);
    classList.toggle("to-top", pointer.y > size.h - 40);
    if (pointer.presses > shown.presses) this.#ring(style.left, style.top, color);
    shown.presses = pointer.presses;
  }

  /**
   * @param {string} left
   * @param {string} top
   * @param {string} color
   */
  #ring(left, top, color) {
    const ring = h("i", { class: "ring", "data-color": color });
    ring.style.left = left;
    ring.style.top = top;
    ring.addEventListener("animationend", () => ring.remove());
    this.#layer.append(ring);
  }
}

/** @param {Face} face */
function faceItem(face) {
  const look = `face${face.agent ? " agent" : ""}${face.you ? " you" : ""}`;
  const letter = [...face.name.trim()][0]?.toUpperCase() ?? "?";
  return h("li", { class: look, title: face.label, "data-color": face.color },
    h("span", { role: "img", "aria-label": face.label }, letter));
}
