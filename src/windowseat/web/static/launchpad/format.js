// Amounts and addresses as people read them.

/** @param {number} bytes */
export function bytes(bytes) {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  return `${bytes > 0 ? Math.max(1, Math.round(bytes / 1e6)) : 0} MB`;
}

/** @param {number} seconds that have passed */
export function ago(seconds) {
  if (seconds < 60) return "now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h`;
}

/** @param {number} count @param {string} one */
export const counted = (count, one) => `${count} ${one}${count === 1 ? "" : "s"}`;

/**
 * What a tab is called where its page has no title.
 * @param {{title: string, url: string}} tab
 */
export function titleOf(tab) {
  return tab.title.trim() || (tab.url === "about:blank" ? "New tab" : place(tab.url)) || "Untitled";
}

/** The host of an address, or the address where it has none. @param {string} url */
export function place(url) {
  try {
    const { protocol, host } = new URL(url);
    return host ? host.replace(/^www\./, "") : protocol === "about:" ? "" : protocol;
  } catch {
    return url.slice(0, 80);
  }
}

/** A steady hue for an address without an icon, 0 to 359. @param {string} text */
export function hue(text) {
  let sum = 7;
  for (const letter of text) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 3600;
  return sum % 360;
}

/** A person's letter in their round badge. @param {string} name */
export const initial = (name) => [...name][0]?.toLocaleUpperCase() ?? "?";

/**
 * A session's name as it is shown: without the 32 hex digits that keep two long ids apart.
 * @param {string} name
 */
export const sessionLabel = (name) => name.replace(/-+[0-9a-f]{32}$/, "") || name;
