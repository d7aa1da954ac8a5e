// Lets a person into one tab's view where the Launchpad's cookie does not reach (another host
// name, a frame): trades the token in the fragment for this tab's credential and a cookie of the
// view origin's own, then loads the page again.

/** @param {string} id */
const part = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {string} sentence */
function explain(sentence) {
  part("waiting").hidden = true;
  part("how").hidden = false;
  part("problem").hidden = false;
  part("problem").textContent = sentence;
}

/**
 * @param {string} token
 * @param {string} tab
 */
async function enter(token, tab) {
  part("how").hidden = true;
  part("waiting").hidden = false;
  try {
    const answer = await fetch("/enter", {
      method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token, tab }), redirect: "error", signal: AbortSignal.timeout(10_000),
    });
    const found = await answer.json();
    if (!answer.ok) return explain(found.error.message);
    sessionStorage.setItem(`windowseat-view:${tab}`, found.credential);
    location.reload();
  } catch {
    explain("The hub did not answer. Open the tab from the Launchpad again.");
  }
}

const [, , tab] = location.pathname.split("/");
const token = location.hash.slice(1);
if (token && tab) {
  history.replaceState(null, "", location.pathname);
  void enter(token, decodeURIComponent(tab));
}
