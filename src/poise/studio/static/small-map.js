// The small map: where a sample of the items lies, the labelled ones in their colours, a ring round the
// question. Labels need no solve, so nothing waits for it.

import { bytes, get } from "./api.js";
import { colourName } from "./classes.js";
import { byId } from "./dom.js";
import { lacks } from "./lacking.js";

const MAX_POINTS = 4000; // drawn
const MAX_ITEMS = 200000; // with more, loading their positions is not worth it

const small = { points: null, labels: [], classes: [], shownFor: "", items: 0, loading: false };

export async function showSmallMap(state) {
  const canvas = byId("small-map").querySelector("canvas");
  byId("small-map").hidden = state.items > MAX_ITEMS || lacks(state, "map");
  if (canvas.offsetParent === null || small.loading) return;
  if (small.items !== state.items) Object.assign(small, { points: null, items: state.items });
  const { classes } = state;
  const shownFor = JSON.stringify([state.answers, classes.map(({ name, colour }) => [name, colour])]);
  if (small.points && small.shownFor === shownFor) {
    draw(canvas, state);
    return;
  }
  small.loading = true;
  try {
    if (!small.points) {
      const points = new Float32Array(await bytes("api/map/points?layout=pca"));
      if (points.length !== 2 * state.items) return; // more items have arrived since
      small.points = points;
    }
    Object.assign(small, { shownFor, classes });
    small.labels = (await get("api/map/labels")).labels;
  } catch {
    return; // the label screen works without this picture
  } finally {
    small.loading = false;
  }
  draw(canvas, state);
}

function draw(canvas, state) {
  const { points } = small;
  const style = getComputedStyle(canvas);
  const scale = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = canvas.clientHeight * scale;
  const pen = canvas.getContext("2d");
  const half = Math.min(canvas.width, canvas.height) / 2 - 8 * scale;
  const position = (node) => [
    canvas.width / 2 + half * points[2 * node],
    canvas.height / 2 - half * points[2 * node + 1],
  ];
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = style.getPropertyValue("--dot");
  const stride = Math.max(1, Math.floor(state.items / MAX_POINTS));
  for (let node = 0; node < state.items; node += stride) {
    const [x, y] = position(node);
    pen.fillRect(x, y, scale, scale);
  }
  for (const [node, code] of small.labels) {
    const [x, y] = position(node);
    pen.fillStyle = style.getPropertyValue(colourName(small.classes[code]));
    pen.beginPath();
    pen.arc(x, y, 3 * scale, 0, 7);
    pen.fill();
  }
  const ring = byId("ring");
  ring.hidden = !state.question;
  if (!state.question) return;
  const [x, y] = position(state.question.node);
  ring.style.left = `${x / scale}px`;
  ring.style.top = `${y / scale}px`;
}
