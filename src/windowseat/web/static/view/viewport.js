// The height that is left: on a phone the keyboard lies over the window, and the view must end above it.

/** Keeps the root's --height at what can be seen. */
export function followViewport() {
  const viewport = window.visualViewport;
  if (!viewport) return;
  const follow = () => {
    // A pinch of the browser's own makes the visible part smaller too, but hides nothing.
    if (viewport.scale > 1.01) return;
    document.documentElement.style.setProperty("--height", `${Math.round(viewport.height)}px`);
    // iOS scrolls the window to keep the field in sight; nothing here lies outside.
    if (window.scrollY) window.scrollTo(0, 0);
  };
  viewport.addEventListener("resize", follow);
  viewport.addEventListener("scroll", follow);
  follow();
}
