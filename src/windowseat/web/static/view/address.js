// How an address is shown: short, with the part that says whose page it is. Pure.

/**
 * An address in three parts, for showing; `host` is what a person must be able to trust.
 * @param {string} url
 * @returns {{before: string, host: string, after: string}}
 */
export function addressParts(url) {
  if (!url || url === "about:blank") return { before: "", host: "", after: "" };
  const match = /^(https?):\/\/(?:[^/?#@]*@)?([^/?#]*)(.*)$/s.exec(url);
  if (!match) return { before: url, host: "", after: "" };
  const [, , host = "", rest = ""] = match;
  return { before: "", host, after: readable(rest === "/" ? "" : rest) };
}

/** What the address bar holds when a person goes to edit it. @param {string} url */
export function editable(url) {
  return url === "about:blank" ? "" : url;
}

/** What an address is called in a sentence; empty for a blank page. @param {string} url */
export function hostOf(url) {
  const { before, host } = addressParts(url);
  return host || before;
}

/** @param {string} text */
function readable(text) {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}
