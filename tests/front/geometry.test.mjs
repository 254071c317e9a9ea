// The map's arithmetic, against brute force.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as geometry from "../../src/poise/studio/static/geometry.js";

const SIZE = { width: 800, height: 600 };

function near(found, expected, tolerance = 1e-9) {
  for (const [index, value] of found.entries()) {
    assert.ok(Math.abs(value - expected[index]) <= tolerance, `${found} is not ${expected}`);
  }
}

// Repeatable numbers between -1 and 1.
function randomPoints(n, seed = 1) {
  let state = seed;
  return Float32Array.from({ length: 2 * n }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

test("the screen and the map are each other's inverse", () => {
  const camera = { x: 0.3, y: -2, scale: 140 };
  const [left, top] = geometry.toScreen(camera, SIZE, 1.5, -1);
  near(geometry.toMap(camera, SIZE, left, top), [1.5, -1]);
  near(geometry.toScreen(camera, SIZE, 0.3, -2), [400, 300]);
});

test("y grows upwards on the map and downwards on the screen", () => {
  const camera = { x: 0, y: 0, scale: 100 };
  assert.ok(geometry.toScreen(camera, SIZE, 0, 1)[1] < geometry.toScreen(camera, SIZE, 0, 0)[1]);
});

test("bounds hold all points, and no points have bounds too", () => {
  assert.deepEqual(geometry.bounds([1, 2, -3, 4]), { left: -3, right: 1, low: 2, high: 4 });
  assert.deepEqual(geometry.bounds([]), { left: -1, right: 1, low: -1, high: 1 });
});

test("a fitted camera shows all of a box", () => {
  const box = { left: -3, right: 5, low: 1, high: 2 };
  const camera = geometry.fitted(box, SIZE);
  for (const [x, y] of [
    [box.left, box.low],
    [box.right, box.high],
  ]) {
    const [left, top] = geometry.toScreen(camera, SIZE, x, y);
    assert.ok(left >= 0 && left <= SIZE.width && top >= 0 && top <= SIZE.height);
  }
  assert.ok(Number.isFinite(geometry.fitted({ left: 1, right: 1, low: 1, high: 1 }, SIZE).scale));
});

test("what is under the pointer stays there when the camera zooms", () => {
  const camera = { x: 0.3, y: 0.1, scale: 140 };
  const before = geometry.toMap(camera, SIZE, 120, 480);
  near(geometry.toMap(geometry.magnified(camera, SIZE, 2.5, 120, 480), SIZE, 120, 480), before);
});

test("the nearest shown point is the one that brute force finds", () => {
  const points = randomPoints(500);
  const grid = geometry.makeGrid(points);
  const shown = Uint8Array.from({ length: 500 }, (_, i) => (i % 3 ? 1 : 0));
  const queries = randomPoints(200, 7);
  for (let q = 0; q < 200; q += 1) {
    const [x, y] = [queries[2 * q], queries[2 * q + 1]];
    let expected = null;
    let least = 0.1 ** 2;
    for (let i = 0; i < 500; i += 1) {
      const distance = (points[2 * i] - x) ** 2 + (points[2 * i + 1] - y) ** 2;
      if (shown[i] && distance <= least) [expected, least] = [i, distance];
    }
    assert.equal(geometry.nearest(grid, x, y, 0.1, shown), expected);
  }
});

test("no point is near where there is none", () => {
  const grid = geometry.makeGrid(Float32Array.of(0, 0));
  assert.equal(geometry.nearest(grid, 5, 5, 0.1, [1]), null);
  assert.equal(geometry.nearest(geometry.makeGrid(new Float32Array()), 0, 0, 1, []), null);
});

test("a polygon holds the points inside it, also where it is not convex", () => {
  const polygon = [0, 0, 4, 0, 4, 4, 2, 1, 0, 4]; // a notch reaches down to (2, 1)
  const points = [1, 1, 2, 0.5, 2, 2, 3.5, 2, 5, 1];
  assert.deepEqual(geometry.inside(points, polygon, [1, 1, 1, 1, 1]), [0, 1, 3]);
  assert.deepEqual(geometry.inside(points, polygon, [0, 1, 1, 1, 1]), [1, 3]);
});

test("the order of drawing is a permutation that never changes", () => {
  const order = geometry.shuffled(1000);
  assert.deepEqual(
    [...order].sort((a, b) => a - b),
    Array.from({ length: 1000 }, (_, i) => i),
  );
  assert.deepEqual(order, geometry.shuffled(1000));
  assert.notDeepEqual(
    order,
    Uint32Array.from({ length: 1000 }, (_, i) => i),
  );
});

test("values are read as the server sends them", () => {
  const buffer = new ArrayBuffer(15);
  new Uint16Array(buffer, 0, 3).set([1, 0, 2]);
  new Uint16Array(buffer, 6, 3).set([1, 2, 2]);
  new Uint8Array(buffer, 12, 3).set([255, 100, 0]);
  const values = geometry.readValues(buffer, 3);
  assert.deepEqual([...values.labels], [1, 0, 2]);
  assert.deepEqual([...values.guesses], [1, 2, 2]);
  assert.equal(geometry.shadeOf("label", values, 2), 2);
  assert.equal(geometry.shadeOf("prediction", values, 1), 2);
  assert.equal(geometry.shadeOf("uncertainty", values, 1), 155);
  assert.throws(() => geometry.readValues(new ArrayBuffer(7), 3), /expected the values of 3 items, got 7 bytes/);
});

test("uncertainty has as many groups as the legend has rows", () => {
  const groups = new Set(Array.from({ length: 256 }, (_, shade) => geometry.groupOf("uncertainty", shade)));
  assert.deepEqual(
    [...groups],
    Array.from({ length: geometry.BINS }, (_, bin) => bin),
  );
});

test("labelled points are drawn last, hidden groups not at all", () => {
  const labels = [0, 1, 0, 2, 0];
  const values = { labels, guesses: [1, 1, 2, 2, 2], known: [0, 0, 0, 0, 0] };
  const palette = Uint8Array.from([9, 9, 9, 10, 0, 0, 0, 20, 0]);
  const base = geometry.shuffled(5);
  const all = geometry.dress("label", values, palette, new Set(), base);
  assert.deepEqual([...all.counts], [3, 1, 1]);
  assert.equal(all.all.small, 3);
  assert.deepEqual([...all.all.order].slice(3).sort(), [1, 3]);
  assert.deepEqual([...all.looks.slice(4, 8)], [10, 0, 0, 255]);
  const some = geometry.dress("label", values, palette, new Set([0]), base);
  assert.deepEqual([...some.all.order].sort(), [1, 3]);
  assert.deepEqual([...some.shown], [0, 1, 0, 1, 0]);
  assert.deepEqual([...some.counts], [3, 1, 1], "hidden groups are counted");
});

test("a class that the page does not know yet is shown as none", () => {
  const values = { labels: [7], guesses: [7], known: [0] };
  const dressed = geometry.dress("label", values, Uint8Array.from([1, 2, 3]), new Set(), [0]);
  assert.deepEqual([...dressed.looks.slice(0, 3)], [1, 2, 3]);
});

test("a sample keeps all labelled points as long as they are few", () => {
  const n = 100_000;
  const values = geometry.noValues(n);
  for (let i = 0; i < 50; i += 1) values.labels[i * 1000] = 1;
  const { all, sample } = geometry.dress("label", values, new Uint8Array(6), new Set(), geometry.shuffled(n));
  assert.equal(all.order.length, n);
  assert.ok(sample.order.length <= 20_050);
  assert.equal(sample.order.length - sample.small, 50);
  assert.deepEqual(new Set(sample.order.slice(sample.small)), new Set(all.order.slice(all.small)));
});

test("a colour scale begins and ends with its own colours", () => {
  const scale = [
    [0, 0, 0],
    [100, 200, 50],
    [255, 255, 255],
  ];
  assert.deepEqual(geometry.between(scale, 0), [0, 0, 0]);
  assert.deepEqual(geometry.between(scale, 0.5), [100, 200, 50]);
  assert.deepEqual(geometry.between(scale, 0.25), [50, 100, 25]);
  assert.deepEqual(geometry.between(scale, 1), [255, 255, 255]);
});

test("points shrink with their number and grow with the scale", () => {
  const [few, fewLabelled] = geometry.radii(100, 10, SIZE, 1);
  const [many] = geometry.radii(1_000_000, 10, SIZE, 1);
  const [closer] = geometry.radii(1_000_000, 10, SIZE, 20);
  assert.ok(few > many && closer > many && fewLabelled > few);
});

test("clamp keeps a value between two others", () => {
  assert.equal(geometry.clamp(5, 0, 3), 3);
  assert.equal(geometry.clamp(-5, 0, 3), 0);
  assert.equal(geometry.clamp(2, 0, 3), 2);
});
