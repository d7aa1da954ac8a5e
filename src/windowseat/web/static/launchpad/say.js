// What the page tells by words: aloud to a screen reader, or as a short note to everybody.

const SHOWN = 6000;
let hide = 0;

/** Tells a screen reader. @param {string} sentence */
export function say(sentence) {
  const place = document.getElementById("said");
  if (place) place.textContent = sentence;
}

/** Shows a note at the bottom for some seconds. @param {...(string | Node)} content */
export function note(...content) {
  const place = document.getElementById("toast");
  if (!place) return;
  place.replaceChildren(...content);
  place.hidden = false;
  clearTimeout(hide);
  hide = setTimeout(() => { place.hidden = true; }, SHOWN);
}
