// Items as something to look at: pictures, texts, numbers. What was loaded is kept for a while, so
// that a question that was foreseen appears at once.

import { drawing, element } from "./dom.js";

const KEPT = 96;
const TABLE = 12; // numbers up to which a table says more than a line

const loaded = new Map(); // address -> what was loaded, once it is there
const loading = new Map();

function address(item, size) {
  return `api/items/${encodeURIComponent(item)}${size ? `?size=${size}` : ""}`;
}

function keep(where, found) {
  loaded.delete(where);
  loaded.set(where, found);
  while (loaded.size > KEPT) {
    const [oldest, gone] = loaded.entries().next().value;
    if (gone.picture) URL.revokeObjectURL(gone.picture.src);
    loaded.delete(oldest);
  }
  return found;
}

async function fetched(where, kind) {
  const response = await fetch(where);
  if (!response.ok) return { problem: (await response.json()).error };
  if (kind === "text") return { text: await response.text() };
  if (kind === "vector") return { numbers: await response.json() };
  const picture = new Image();
  picture.src = URL.createObjectURL(await response.blob());
  try {
    await picture.decode();
  } catch {
    return { problem: "this picture cannot be shown" };
  }
  return { picture };
}

// Resolves when the content is there; `size` asks for a small one.
export function load(item, kind, size) {
  const where = address(item, size);
  if (loaded.has(where)) return Promise.resolve(keep(where, loaded.get(where)));
  if (!loading.has(where)) {
    const work = fetched(where, kind)
      .catch(() => ({ problem: "poise does not answer: is it still running?", passing: true }))
      .then((found) => (found.passing ? found : keep(where, found)))
      .finally(() => loading.delete(where));
    loading.set(where, work);
  }
  return loading.get(where);
}

// What is loaded already, as an element; undefined if it is not.
export function atOnce(item, kind, size) {
  const found = loaded.get(address(item, size));
  return found && made(found, kind, size);
}

export async function content(item, kind, size) {
  return made(await load(item, kind, size), kind, size);
}

function made(found, kind, size) {
  if (found.problem) return element("p", "gone", `${found.problem}`);
  if (kind === "text") return element("div", "text", found.text);
  if (kind === "vector") return found.numbers.length <= TABLE ? table(found.numbers) : sparkline(found.numbers);
  // In full size the element that was decoded itself: it is painted with the next frame.
  const picture = size ? element("img") : found.picture;
  picture.alt = "";
  if (size) picture.src = found.picture.src;
  // Small pictures are shown as what they are: squares, not blurs.
  if (Math.max(found.picture.naturalWidth, found.picture.naturalHeight) < 64) picture.className = "small";
  return picture;
}

function table(numbers) {
  const made = element("table", "numbers");
  numbers.forEach((value, place) => {
    const row = made.insertRow();
    row.append(element("th", {}, String(place + 1)), element("td", {}, value === null ? "–" : String(Number(value.toPrecision(6)))));
  });
  return made;
}

function sparkline(numbers) {
  const known = numbers.filter((value) => value !== null);
  const low = known.reduce((a, b) => Math.min(a, b), Infinity);
  const high = known.reduce((a, b) => Math.max(a, b), -Infinity);
  const points = numbers.map((value, place) => {
    const x = (600 * place) / Math.max(numbers.length - 1, 1);
    const y = 190 - (180 * ((value ?? low) - low)) / (high - low || 1);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return drawing(600, 200, [["polyline", { points: points.join(" "), fill: "none", stroke: "currentColor" }]],
    `${numbers.length} numbers from ${low} to ${high}`);
}
