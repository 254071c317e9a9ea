// Items as something to look at: images, texts, numbers. What was loaded is kept for a while, so that a
// question that was foreseen appears at once.

import { drawing, element } from "./dom.js";

const MAX_KEPT = 96;
const THUMBNAIL_PIXELS = 160;
const MAX_TABLE_NUMBERS = 12; // more numbers are drawn as a line
const SMALL_IMAGE_PIXELS = 64; // smaller images are shown with sharp pixels

const loaded = new Map(); // address -> what was loaded
const loading = new Map(); // address -> promise of it

function address(item, size) {
  return `api/items/${encodeURIComponent(item)}${size ? `?size=${size}` : ""}`;
}

function keep(url, result) {
  loaded.delete(url);
  loaded.set(url, result);
  while (loaded.size > MAX_KEPT) {
    const [oldest, dropped] = loaded.entries().next().value;
    if (dropped.image) URL.revokeObjectURL(dropped.image.src);
    loaded.delete(oldest);
  }
  return result;
}

async function fetchContent(url, kind) {
  const response = await fetch(url);
  if (!response.ok) return { problem: (await response.json()).error };
  if (kind === "text") return { text: await response.text() };
  if (kind === "vector") return { numbers: await response.json() };
  const image = new Image();
  image.src = URL.createObjectURL(await response.blob());
  try {
    await image.decode();
  } catch {
    return { problem: "this image cannot be shown" };
  }
  return { image };
}

// Resolves when the content is loaded; `size` asks for a small one.
export function load(item, kind, size) {
  const url = address(item, size);
  if (loaded.has(url)) return Promise.resolve(keep(url, loaded.get(url)));
  if (!loading.has(url)) {
    const work = fetchContent(url, kind)
      .catch(() => ({ problem: "poise does not answer. Is it still running?", temporary: true }))
      .then((result) => (result.temporary ? result : keep(url, result)))
      .finally(() => loading.delete(url));
    loading.set(url, work);
  }
  return loading.get(url);
}

// What is loaded already, as an element; undefined if it is not.
export function atOnce(item, kind, size) {
  const result = loaded.get(address(item, size));
  return result && show(result, kind, size);
}

export async function content(item, kind, size) {
  return show(await load(item, kind, size), kind, size);
}

export const thumbnail = (item, kind) => content(item, kind, THUMBNAIL_PIXELS);

function show(result, kind, size) {
  if (result.problem) return element("p", "gone", result.problem);
  if (kind === "text") return element("div", "text", result.text);
  if (kind === "vector")
    return result.numbers.length <= MAX_TABLE_NUMBERS ? table(result.numbers) : sparkline(result.numbers);
  // In full size the element that was decoded itself: it is painted with the next frame.
  const image = size ? element("img", { src: result.image.src }) : result.image;
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
