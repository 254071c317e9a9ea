// Contents of items as something to look at: images, texts, numbers. What was loaded is kept for a while, so
// that a question that was foreseen appears at once. Where contents come from is up to the caller.

import { drawing, element } from "./dom.js";

const MAX_KEPT = 96;
const MAX_TABLE_NUMBERS = 12; // more numbers are drawn as a line
const SMALL_IMAGE_PIXELS = 64; // smaller images are shown with sharp pixels

export class Contents {
  // `fetch(name, kind)` resolves to { text }, { numbers }, { image } or { problem }, which is `temporary` if it
  // is worth another try.
  constructor(fetch) {
    Object.assign(this, { fetch, loaded: new Map(), loading: new Map() });
  }

  keep(name, result) {
    const { loaded } = this;
    loaded.delete(name);
    loaded.set(name, result);
    while (loaded.size > MAX_KEPT) {
      const [oldest, dropped] = loaded.entries().next().value;
      if (dropped.image) URL.revokeObjectURL(dropped.image.src);
      loaded.delete(oldest);
    }
    return result;
  }

  // Resolves when the content is loaded.
  load(name, kind) {
    const { loaded, loading } = this;
    if (loaded.has(name)) return Promise.resolve(this.keep(name, loaded.get(name)));
    if (!loading.has(name)) {
      const work = this.fetch(name, kind)
        .catch(() => ({ problem: "poise does not answer. Is it still running?", temporary: true }))
        .then((result) => (result.temporary ? result : this.keep(name, result)))
        .finally(() => loading.delete(name));
      loading.set(name, work);
    }
    return loading.get(name);
  }

  // What is loaded already, as an element; undefined if it is not.
  atOnce(name) {
    const result = this.loaded.get(name);
    return result && show(result);
  }

  // `small`: one of several, which may show the same item.
  async content(name, kind, small) {
    return show(await this.load(name, kind), small);
  }
}

// The bytes of an image file, decoded.
export async function decoded(blob) {
  const image = new Image();
  image.src = URL.createObjectURL(blob);
  try {
    await image.decode();
  } catch {
    return { problem: "this image cannot be shown" };
  }
  return { image };
}

function show(result, small) {
  if (result.problem) return element("p", "gone", result.problem);
  if (result.text !== undefined) return element("div", "text", result.text);
  if (result.numbers)
    return result.numbers.length <= MAX_TABLE_NUMBERS ? table(result.numbers) : sparkline(result.numbers);
  // In full size the element that was decoded itself: it is painted with the next frame.
  const image = small ? element("img", { src: result.image.src }) : result.image;
  image.alt = "";
  if (Math.max(result.image.naturalWidth, result.image.naturalHeight) < SMALL_IMAGE_PIXELS) image.className = "small";
  return image;
}

function table(numbers) {
  const rows = numbers.map((value, index) => {
    const words = value === null ? "–" : String(Number(value.toPrecision(6)));
    return element("tr", {}, element("th", {}, String(index + 1)), element("td", {}, words));
  });
  return element("table", "numbers", element("tbody", {}, ...rows));
}

function sparkline(numbers) {
  const known = numbers.filter((value) => value !== null);
  const low = known.reduce((a, b) => Math.min(a, b), Infinity);
  const high = known.reduce((a, b) => Math.max(a, b), -Infinity);
  const points = numbers.map((value, index) => {
    const x = (600 * index) / Math.max(numbers.length - 1, 1);
    const y = 190 - (180 * ((value ?? low) - low)) / (high - low || 1);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const line = { points: points.join(" "), fill: "none", stroke: "currentColor" };
  return drawing(600, 200, [["polyline", line]], `${numbers.length} numbers from ${low} to ${high}`);
}
