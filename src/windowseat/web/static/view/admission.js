// How this page proves that it may show the tab: a token from the address's fragment once, a credential afterwards.

/** @typedef {{token?: string, credential?: string}} Proof */

/**
 * The proofs of one tab's view. The credential lives in sessionStorage (so a reload works), or in memory where the
 * browser refuses storage; it never stands in an address.
 */
export class Admission {
  /** @param {string} tab the tab's id */
  constructor(tab) {
    this.key = `windowseat-view:${tab}`;
    this.token = takeToken();
    this.credential = this.#stored();
  }

  /** What to send as the next first message; null when there is nothing to prove with.
   * @returns {Proof | null}
   */
  proof() {
    if (this.token) return { token: this.token };
    return this.credential ? { credential: this.credential } : null;
  }

  /** @param {string} credential */
  accepted(credential) {
    this.token = "";
    this.credential = credential;
    try {
      sessionStorage.setItem(this.key, credential);
    } catch {
      // Storage is refused (a partitioned frame, a full quota): memory serves until the page is left.
    }
  }

  /** The last proof was refused. Says whether another is left to try. */
  refused() {
    if (this.token) {
      this.token = "";
    } else {
      this.credential = "";
      try {
        sessionStorage.removeItem(this.key);
      } catch {
        // As above: there was nothing to remove.
      }
    }
    return this.proof() !== null;
  }

  #stored() {
    try {
      return sessionStorage.getItem(this.key) ?? "";
    } catch {
      return "";
    }
  }
}

/** Reads the fragment's token and removes it at once from the address and the history entry. */
function takeToken() {
  const token = location.hash.slice(1); // URL-safe by construction: nothing to decode
  if (location.hash) history.replaceState(history.state, "", location.pathname + location.search);
  return token;
}
