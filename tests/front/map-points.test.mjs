// Points drawn without WebGL, pixel by pixel.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as geometry from "../../src/poise/studio/static/geometry.js";
import { makePlain, makeWebgl } from "../../src/poise/studio/static/map-points.js";

globalThis.ImageData = class {
  constructor(width, height) {
    Object.assign(this, { width, height, data: new Uint8ClampedArray(4 * width * height) });
  }
};

const SIZE = { width: 20, height: 20 };
const GROUND = [10, 20, 30];
const RED = [200, 0, 0];

// A canvas that keeps the last image put on it.
function makeCanvas() {
  const canvas = { ...SIZE };
  const context = {
    putImageData(image, left, top) {
      canvas.pixel = (x, y) => {
        const start = 4 * ((y - top) * image.width + x - left);
        return [...image.data.slice(start, start + 3)];
      };
    },
  };
  canvas.getContext = (kind) => (kind === "2d" ? context : null);
  return canvas;
}

function draw(points, labels) {
  const canvas = makeCanvas();
  const plain = makePlain(canvas);
  const values = { ...geometry.noValues(labels.length), labels };
  const palette = Uint8Array.from([...RED, ...RED]);
  plain.points(Float32Array.from(points));
  plain.dress(geometry.dress("label", values, palette, new Set(), geometry.shuffled(labels.length)));
  plain.draw({ camera: { x: 0, y: 0, scale: 10 }, size: SIZE, ratio: 1, radii: [1, 4], ground: GROUND, part: "all" });
  return canvas;
}

test("a browser without WebGL gets no WebGL renderer", () => {
  assert.equal(makeWebgl(makeCanvas()), null);
});

test("a labelled point is a disc in its colour with an edge in the ground's", () => {
  const { pixel } = draw([0, 0], [1]);
  assert.deepEqual(pixel(10, 10), RED);
  assert.deepEqual(pixel(10, 14), GROUND);
  assert.deepEqual(pixel(1, 1), GROUND);
});

test("an unlabelled point lets the ground through", () => {
  const [red, green] = draw([0, 0], [0]).pixel(10, 10);
  assert.ok(red > 150 && red < 200 && green > 0 && green < 20);
});

test("points at the edge are cut off, points beyond it left out", () => {
  assert.deepEqual(draw([0.9, 0], [1]).pixel(19, 10), RED);
  assert.deepEqual(draw([1.1, 0], [1]).pixel(19, 10), GROUND);
  assert.doesNotThrow(() => draw([1000, -1000], [1]));
});

test("a renderer without points shows the ground", () => {
  const canvas = makeCanvas();
  makePlain(canvas).draw({
    camera: { x: 0, y: 0, scale: 1 },
    size: SIZE,
    ratio: 1,
    radii: [1, 2],
    ground: GROUND,
    part: "all",
  });
  assert.deepEqual(canvas.pixel(5, 5), GROUND);
});
