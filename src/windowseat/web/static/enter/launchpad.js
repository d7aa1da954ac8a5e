// Signs a person in with the code in the address's fragment, or says how to get one.
//
// The fragment never travels to a server by itself, so the code stands in no log; it is removed
// from the address (and so from the history) before anything else happens.

const SECRET = "windowseat-secret";
const RELOADED = "windowseat-reloaded";

/** @param {string} id */
const part = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {string} sentence */
function explain(sentence) {
  part("waiting").hidden = true;
  part("how").hidden = false;
  part("problem").hidden = sentence === "";
  part("problem").textContent = sentence;
}

/** @param {string} code */
async function enter(code) {
  part("how").hidden = true;
  part("waiting").hidden = false;
  const secret = localStorage.getItem(SECRET);
  /** @type {Record<string, string>} */
  const headers = { "Content-Type": "application/json" };
  if (secret) headers["X-Windowseat-Secret"] = secret;
  try {
    const answer = await fetch("/api/v1/enter", {
      method: "POST", headers, body: JSON.stringify({ code }), redirect: "error",
      signal: AbortSignal.timeout(10_000),
    });
    const found = await answer.json();
    if (!answer.ok) return explain(found.error.message);
    localStorage.setItem(SECRET, found.secret);
    location.replace("/");
  } catch {
    explain("The hub did not answer. Open the link again, or print another one.");
  }
}

/**
 * A link on another site brings no cookie along, although there may be one. Going to the same
 * address once more from this page does.
 */
function comeAgainWithCookie() {
  if (location.pathname === "/enter" || !localStorage.getItem(SECRET)) return;
  if (sessionStorage.getItem(RELOADED)) {
    sessionStorage.removeItem(RELOADED);
    return;
  }
  sessionStorage.setItem(RELOADED, "1");
  location.replace(location.href);
}

const code = location.hash.slice(1);
if (code) {
  history.replaceState(null, "", location.pathname);
  void enter(code);
} else {
  comeAgainWithCookie();
}
