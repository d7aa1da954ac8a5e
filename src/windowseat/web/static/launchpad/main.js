// The Launchpad's page: the socket's messages go through the reducer, and every part shows the
// state that comes out.

import "./address-bar.js";
import { SECRET, signIn } from "./api.js";
import { ClosedList } from "./closed-list.js";
import { ConnectionNote } from "./connection-note.js";
import { Live } from "./live.js";
import { MemoryBar } from "./memory-bar.js";
import { MyAccount } from "./my-account.js";
import { SideBar } from "./side-bar.js";
import { EMPTY, receive } from "./state.js";
import { TabGroups } from "./tab-groups.js";
import { Thumbnails } from "./thumbnails.js";

/**
 * @template {Element} T
 * @param {new () => T} kind
 * @param {string} name
 * @returns {T}
 */
function part(kind, name) {
  const found = document.querySelector(name);
  if (!(found instanceof kind)) throw new Error(`index.html has no ${name}`);
  return found;
}

function start() {
  const groups = part(TabGroups, "tab-groups");
  const side = part(SideBar, "side-bar");
  const connection = part(ConnectionNote, "connection-note");
  const parts = [part(MyAccount, "my-account"), part(MemoryBar, "memory-bar"), part(ClosedList, "closed-list"), connection];
  let state = EMPTY;
  /** @type {string | null | undefined} */
  let only;
  let drawing = 0;

  const draw = () => {
    drawing = 0;
    if (typeof only === "string" && !state.sessions.some((one) => one.name === only)) only = undefined;
    groups.show(state, only);
    side.show(state, only);
    for (const one of parts) one.show(state);
    thumbnails.ask();
  };
  // A hidden page has no animation frames; it is drawn when it is shown again.
  const drawSoon = () => { drawing ||= requestAnimationFrame(draw); };

  const live = new Live({
    message: (message) => {
      state = receive(state, message, { monotonic: performance.now(), wall: Date.now() / 1000 });
      drawSoon();
    },
    thumbnail: (id, jpeg) => void thumbnails.draw(id, jpeg),
    lost: () => {
      state = { ...state, connection: "lost" };
      drawSoon();
    },
  });
  const thumbnails = new Thumbnails((tabs) => live.watch(tabs));
  thumbnails.wanted = (id) => {
    const tab = state.tabs.get(id);
    return tab !== undefined && tab.closes_at === null;
  };
  groups.thumbnails = thumbnails;
  side.choose = (chosen) => {
    only = chosen;
    drawSoon();
  };
  connection.again = () => live.connect();
  setInterval(() => groups.tick(performance.now()), 250);
  setInterval(drawSoon, 30_000);
  live.connect();
}

// The cookie alone admits to this page but to nothing that it shows.
if (localStorage.getItem(SECRET)) start();
else signIn();
