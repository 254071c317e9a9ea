// What colours mean on the map: by label, by prediction, or by how well an item is known.

import { element } from "./dom.js";
import { between } from "./geometry.js";

export const MODES = [
  ["label", "Label"],
  ["prediction", "Prediction"],
  ["uncertainty", "Uncertainty"],
];
const CERTAINTIES = ["Well known", "Mostly known", "Half known", "Little known", "Hardly known"];
const SCALE = ["var(--map-known)", "var(--map-half)", "var(--map-unknown)"];
const NONE = "var(--map-none)";
const SHADES = 256;

export const legendTitle = (mode) =>
  mode === "uncertainty" ? "How well known" : MODES.find(([name]) => name === mode)[1];

// Red, green and blue of any CSS colour, in the theme of now. `plot` is an element that it applies to.
export function makeReader(plot) {
  const probe = element("canvas").getContext("2d", { willReadFrequently: true });
  return (colour) => {
    plot.style.color = colour;
    probe.fillStyle = getComputedStyle(plot).color;
    plot.style.color = "";
    probe.fillRect(0, 0, 1, 1);
    return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
}

// Red, green and blue of each shade that geometry.js knows in this mode.
export function makePalette(mode, classes, rgb) {
  if (mode !== "uncertainty") return Uint8Array.from([NONE, ...classes.map(({ colour }) => colour)].flatMap(rgb));
  const scale = SCALE.map(rgb);
  return Uint8Array.from(Array.from({ length: SHADES }, (_, shade) => between(scale, shade / (SHADES - 1))).flat());
}

// The legend's rows: classes, or steps of the scale.
export function legendRows(mode, classes, palette) {
  if (mode !== "uncertainty") {
    const none = { group: 0, name: `No ${mode}`, colour: NONE };
    return [...classes.map((labelClass, code) => ({ ...labelClass, group: code + 1 })), none];
  }
  const shadeAt = (bin) => {
    const shade = Math.min(Math.round((SHADES * bin) / CERTAINTIES.length), SHADES - 1);
    return `rgb(${palette.slice(3 * shade, 3 * shade + 3).join(" ")})`;
  };
  return CERTAINTIES.map((name, group) => ({
    group,
    name,
    colour: `linear-gradient(${shadeAt(group)}, ${shadeAt(group + 1)})`,
  }));
}
