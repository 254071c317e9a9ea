// The contents of items, from the server.

import { Contents, decoded } from "./shown.js";

const THUMBNAIL_PIXELS = 160;

const contents = new Contents(async (address, kind) => {
  const response = await fetch(address);
  if (!response.ok) return { problem: (await response.json()).error };
  if (kind === "text") return { text: await response.text() };
  if (kind === "vector") return { numbers: await response.json() };
  return decoded(await response.blob());
});

function addressOf(item, size) {
  return `api/items/${encodeURIComponent(item)}${size ? `?size=${size}` : ""}`;
}

// Resolves when the content is loaded.
export const load = (item, kind) => contents.load(addressOf(item), kind);

// What is loaded already, as an element; undefined if it is not.
export const atOnce = (item) => contents.atOnce(addressOf(item));

// `size` asks for a small one.
export const content = (item, kind, size) => contents.content(addressOf(item, size), kind, Boolean(size));

export const thumbnail = (item, kind) => content(item, kind, THUMBNAIL_PIXELS);
