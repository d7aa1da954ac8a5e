// The Launchpad's state and how each message of the socket changes it. Pure: no DOM, no clock but
// the one given.

/**
 * @typedef {{id: string, name: string, color: string}} Person
 * @typedef {Person & {tabs: string[]}} PersonHere
 * @typedef {{name: string, tabs: number, alive: boolean}} Session
 * @typedef {{id: string, url: string, title: string, session: string | null, closed_at: number}} Closed
 * @typedef {{total: number, browser: number, rest: number, free: number}} Memory
 * @typedef {object} Tab
 * @property {string} id
 * @property {string} url
 * @property {string} title
 * @property {string} icon a data: address, or empty
 * @property {string | null} session
 * @property {string[]} agents sessions whose agent is alive in it
 * @property {Person[]} viewers
 * @property {boolean} asleep
 * @property {boolean} loading
 * @property {boolean} crashed
 * @property {boolean} audible
 * @property {string | null} line what an agent does in it right now
 * @property {number | null} closes_at
 * @property {number} [closes_in_s]
 * @property {number} [endsAt] this page's milliseconds at which its Undo ends
 * @property {number} opened_at
 * @property {number | null} memory bytes
 *
 * @typedef {"connecting" | "live" | "lost"} Connection
 * @typedef {object} State
 * @property {Connection} connection
 * @property {ReadonlyMap<string, Tab>} tabs
 * @property {readonly Session[]} sessions
 * @property {readonly PersonHere[]} people
 * @property {readonly Closed[]} closed
 * @property {Memory | null} memory
 * @property {Person | null} you
 * @property {string} machine
 * @property {number} ahead seconds by which the hub's wall clock is ahead of this page's
 *
 * @typedef {object} Group
 * @property {string | null} session null: the tabs that belong to no session
 * @property {boolean} alive
 * @property {Tab[]} tabs
 */

/** @type {State} */
export const EMPTY = Object.freeze({
  connection: "connecting", tabs: new Map(), sessions: [], people: [], closed: [], memory: null, you: null,
  machine: "", ahead: 0,
});

/**
 * The state after a message. Unknown messages change nothing.
 * @param {State} state
 * @param {any} message
 * @param {{monotonic: number, wall: number}} now milliseconds, and seconds of the wall clock
 * @returns {State}
 */
export function receive(state, message, now) {
  if (message.t !== "state" && message.t !== "change") return state;
  const tabs = new Map(message.t === "state" ? [] : state.tabs);
  for (const id of message.gone ?? []) tabs.delete(id);
  for (const tab of message.tabs ?? []) {
    const endsAt = tab.closes_in_s == null ? undefined : now.monotonic + tab.closes_in_s * 1000;
    tabs.set(tab.id, endsAt === undefined ? tab : { ...tab, endsAt });
  }
  return {
    connection: "live",
    tabs,
    sessions: message.sessions ?? state.sessions,
    people: message.people ?? state.people,
    closed: message.closed ?? state.closed,
    memory: message.memory ?? state.memory,
    you: you(message, state),
    machine: message.machine ?? state.machine,
    ahead: typeof message.now === "number" ? message.now - now.wall : state.ahead,
  };
}

/**
 * A rename comes back with the people who are here.
 * @param {any} message
 * @param {State} state
 * @returns {Person | null}
 */
function you(message, state) {
  const before = message.you ?? state.you;
  const again = (message.people ?? []).find((/** @type {Person} */ one) => one.id === before?.id);
  return again ? { id: again.id, name: again.name, color: again.color } : before;
}

/**
 * Tabs by session, sessions at work first, a person's own tabs last; in a group the oldest first.
 * @param {State} state
 * @returns {Group[]}
 */
export function groups(state) {
  /** @type {Map<string | null, Group>} */
  const found = new Map();
  const alive = new Set(state.sessions.filter((one) => one.alive).map((one) => one.name));
  for (const tab of state.tabs.values()) {
    const group = found.get(tab.session)
      ?? { session: tab.session, alive: tab.session !== null && alive.has(tab.session), tabs: [] };
    group.tabs.push(tab);
    found.set(tab.session, group);
  }
  for (const group of found.values()) {
    group.tabs.sort((one, other) => one.opened_at - other.opened_at || (one.id < other.id ? -1 : 1));
  }
  return [...found.values()].sort((one, other) => rank(one) - rank(other)
    || (one.session ?? "").localeCompare(other.session ?? ""));
}

/** @param {Group} group */
const rank = (group) => (group.session === null ? 2 : group.alive ? 0 : 1);
