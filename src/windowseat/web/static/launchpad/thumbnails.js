// Which cards are on the screen, and the pictures for them. Only those are asked for.

const PICTURES_KEPT = 48;
const WATCHED = 60;

export class Thumbnails {
  /** @param {(tabs: string[]) => void} watch */
  constructor(watch) {
    this.watch = watch;
    /** @type {Map<string, HTMLCanvasElement>} */
    this.canvases = new Map();
    /** @type {Set<string>} */
    this.seen = new Set();
    /** Ids with a picture, the one drawn longest ago first. @type {Set<string>} */
    this.drawn = new Set();
    /** How wide each is shown, in CSS pixels. @type {Map<string, number>} */
    this.widths = new Map();
    /** @type {Map<Element, string>} */
    this.ids = new Map();
    this.asked = "";
    this.observer = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const id = this.ids.get(entry.target);
        if (id === undefined) continue;
        this.widths.set(id, entry.boundingClientRect.width);
        if (entry.isIntersecting) this.seen.add(id);
        else this.seen.delete(id);
      }
      this.ask();
    }, { rootMargin: "80px" });
    /** Whether a tab can have a picture now. @type {(id: string) => boolean} */
    this.wanted = () => true;
  }

  /** @param {string} id @param {HTMLCanvasElement} canvas */
  add(id, canvas) {
    this.canvases.set(id, canvas);
    this.ids.set(canvas, id);
    this.observer.observe(canvas);
  }

  /** @param {string} id */
  remove(id) {
    const canvas = this.canvases.get(id);
    if (!canvas) return;
    this.observer.unobserve(canvas);
    this.ids.delete(canvas);
    this.canvases.delete(id);
    this.seen.delete(id);
    this.drawn.delete(id);
    this.widths.delete(id);
    this.ask();
  }

  /** Tells the hub what is on the screen, when that has changed. */
  ask() {
    const tabs = [...this.seen].filter((id) => this.wanted(id)).slice(0, WATCHED).sort();
    const asked = tabs.join();
    if (asked === this.asked) return;
    this.asked = asked;
    this.watch(tabs);
  }

  /** @param {string} id @param {Blob} jpeg */
  async draw(id, jpeg) {
    if (!this.canvases.has(id)) return;
    let picture;
    try {
      // Made small here and well: a canvas that is scaled by style alone looks jagged.
      const width = Math.ceil((this.widths.get(id) || 260) * devicePixelRatio);
      picture = await createImageBitmap(jpeg, { resizeWidth: width, resizeQuality: "high" });
    } catch {
      return; // a picture that cannot be read is followed by another
    }
    const canvas = this.canvases.get(id);
    if (canvas) {
      if (canvas.width !== picture.width || canvas.height !== picture.height) {
        canvas.width = picture.width;
        canvas.height = picture.height;
      }
      canvas.getContext("2d")?.drawImage(picture, 0, 0);
      canvas.classList.add("drawn");
      this.drawn.delete(id);
      this.drawn.add(id);
      this.#forget();
    }
    picture.close();
  }

  /** A hundred pictures would cost more memory than they are worth: those off the screen go first. */
  #forget() {
    for (const id of this.drawn) {
      if (this.drawn.size <= PICTURES_KEPT) return;
      if (this.seen.has(id)) continue;
      const canvas = this.canvases.get(id);
      if (canvas) {
        canvas.width = canvas.height = 1;
        canvas.classList.remove("drawn");
      }
      this.drawn.delete(id);
    }
  }
}
