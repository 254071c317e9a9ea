// The map's arithmetic, without a page: where a point is on the screen, which one is under the pointer,
// which are inside a polygon, and what each looks like.
//
// Points are x0, y0, x1, y1, ... A camera is the point in the middle of the screen and the pixels per
// unit; y grows upwards on the map and downwards on the screen.

export const BINS = 5; // steps of certainty in the legend
const FILLED_SHARE = 0.92; // of the screen, by all points
const SAMPLE_SIZE = 20000; // points drawn while the map moves, at most about

export const clamp = (value, low, high) => Math.max(low, Math.min(value, high));

export function toScreen(camera, size, x, y) {
  return [size.width / 2 + (x - camera.x) * camera.scale, size.height / 2 - (y - camera.y) * camera.scale];
}

export function toMap(camera, size, left, top) {
  return [camera.x + (left - size.width / 2) / camera.scale, camera.y - (top - size.height / 2) / camera.scale];
}

export function bounds(points) {
  const box = { left: Infinity, right: -Infinity, low: Infinity, high: -Infinity };
  for (let i = 0; i < points.length; i += 2) {
    box.left = Math.min(box.left, points[i]);
    box.right = Math.max(box.right, points[i]);
    box.low = Math.min(box.low, points[i + 1]);
    box.high = Math.max(box.high, points[i + 1]);
  }
  return points.length ? box : { left: -1, right: 1, low: -1, high: 1 };
}

// The camera that shows all of `box`.
export function fitted(box, size) {
  const wide = Math.max(box.right - box.left, 1e-6);
  const tall = Math.max(box.high - box.low, 1e-6);
  return {
    x: (box.left + box.right) / 2,
    y: (box.low + box.high) / 2,
    scale: FILLED_SHARE * Math.max(Math.min(size.width / wide, size.height / tall), 1e-6),
  };
}

// The camera after magnifying by `factor`; what is at (left, top) stays there.
export function magnified(camera, size, factor, left, top) {
  const [x, y] = toMap(camera, size, left, top);
  return {
    x: x + (camera.x - x) / factor,
    y: y + (camera.y - y) / factor,
    scale: camera.scale * factor,
  };
}

// Points by the cell of a uniform grid, about two to a cell.
export function makeGrid(points) {
  const n = points.length / 2;
  const side = Math.min(Math.max(Math.round(Math.sqrt(n / 2)), 1), 1024);
  const box = bounds(points);
  const across = side / Math.max(box.right - box.left, 1e-6);
  const up = side / Math.max(box.high - box.low, 1e-6);
  const column = (x) => Math.min(Math.max(Math.floor((x - box.left) * across), 0), side - 1);
  const row = (y) => Math.min(Math.max(Math.floor((y - box.low) * up), 0), side - 1);
  const starts = new Uint32Array(side * side + 1);
  const cell = new Uint32Array(n);
  for (let i = 0; i < n; i += 1) {
    cell[i] = row(points[2 * i + 1]) * side + column(points[2 * i]);
    starts[cell[i] + 1] += 1;
  }
  for (let c = 0; c < side * side; c += 1) starts[c + 1] += starts[c];
  const next = starts.slice();
  const members = new Uint32Array(n);
  for (let i = 0; i < n; i += 1) members[next[cell[i]]++] = i;
  return { points, side, column, row, starts, members };
}

// The shown point nearest to (x, y) and within `radius`, or null.
export function nearest(grid, x, y, radius, shown) {
  const { points, side, column, row, starts, members } = grid;
  let closest = null;
  let least = radius * radius;
  for (let r = row(y - radius); r <= row(y + radius); r += 1) {
    const first = starts[r * side + column(x - radius)];
    const last = starts[r * side + column(x + radius) + 1];
    for (let k = first; k < last; k += 1) {
      const i = members[k];
      const far = (points[2 * i] - x) ** 2 + (points[2 * i + 1] - y) ** 2;
      if (far <= least && shown[i]) {
        least = far;
        closest = i;
      }
    }
  }
  return closest;
}

// The shown points inside a polygon (x0, y0, x1, y1, ...) that closes itself, by the even-odd rule.
export function inside(points, polygon, shown) {
  const box = bounds(polygon);
  const members = [];
  for (let i = 0; i < shown.length; i += 1) {
    const x = points[2 * i];
    const y = points[2 * i + 1];
    if (!shown[i] || x < box.left || x > box.right || y < box.low || y > box.high) continue;
    let within = false;
    for (let a = 0, b = polygon.length - 2; a < polygon.length; b = a, a += 2) {
      const above = polygon[a + 1] > y;
      if (above === polygon[b + 1] > y) continue;
      const share = (y - polygon[a + 1]) / (polygon[b + 1] - polygon[a + 1]);
      if (x < polygon[a] + share * (polygon[b] - polygon[a])) within = !within;
    }
    if (within) members.push(i);
  }
  return members;
}

// 0 to n - 1 in a fixed random order: otherwise data sorted by class would put the last class on top.
export function shuffled(n) {
  const order = Uint32Array.from({ length: n }, (_, i) => i);
  let seed = 1;
  for (let i = n - 1; i > 0; i -= 1) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((seed / 2 ** 32) * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

// What /api/map/values sends: for each of n items the label's and the guess's code + 1 (0 is none)
// and how well it is known, 0 to 255.
export function readValues(buffer, n) {
  if (buffer.byteLength !== 5 * n) {
    throw new Error(`expected the values of ${n} items, got ${buffer.byteLength} bytes`);
  }
  return {
    labels: new Uint16Array(buffer, 0, n),
    guesses: new Uint16Array(buffer, 2 * n, n),
    known: new Uint8Array(buffer, 4 * n, n),
  };
}

// Values of n items of which nothing is known yet.
export const noValues = (n) => readValues(new ArrayBuffer(5 * n), n);

// The number that colours an item: its label's or guess's code + 1, or how little is known, 0 to 255.
export function shadeOf(mode, values, i) {
  if (mode === "label") return values.labels[i];
  if (mode === "prediction") return values.guesses[i];
  return 255 - values.known[i];
}

// The legend's row for such a number.
export function groupOf(mode, shade) {
  return mode === "uncertainty" ? Math.floor((shade * BINS) / 256) : shade;
}

// What is drawn: four bytes an item (red, green, blue, 255 if labelled); all items that are shown in the order
// of drawing, labelled ones last and on top, and a sample of them; which items are shown; and how many are
// in each group. `palette` holds red, green and blue of each shade.
export function dress(mode, values, palette, hidden, base) {
  const n = base.length;
  const shades = palette.length / 3;
  const looks = new Uint8Array(4 * n);
  const shown = new Uint8Array(n);
  const counts = new Uint32Array(shades);
  const rank = new Uint16Array(n);
  const starts = new Uint32Array(258);
  for (let i = 0; i < n; i += 1) {
    // A class that the page does not know yet is shown as none.
    const sent = shadeOf(mode, values, i);
    const shade = sent < shades ? sent : 0;
    const group = groupOf(mode, shade);
    counts[group] += 1;
    looks[4 * i] = palette[3 * shade];
    looks[4 * i + 1] = palette[3 * shade + 1];
    looks[4 * i + 2] = palette[3 * shade + 2];
    looks[4 * i + 3] = values.labels[i] ? 255 : 0;
    if (hidden.has(group)) continue;
    shown[i] = 1;
    if (values.labels[i]) rank[i] = 256;
    else if (mode === "uncertainty") rank[i] = shade;
    starts[rank[i] + 1] += 1;
  }
  for (let r = 0; r < 257; r += 1) starts[r + 1] += starts[r];
  const order = new Uint32Array(starts[257]);
  const small = starts[256];
  for (const i of base) if (shown[i]) order[starts[rank[i]]++] = i;
  const all = { order, small };
  return { looks, all, sample: thinned(all, SAMPLE_SIZE), shown, counts };
}

// About `most` of an order's items, evenly, and as many of those with a label: these must not flicker. The
// first `small` of an order have none.
function thinned({ order, small }, most) {
  const stride = Math.max(Math.ceil(small / most), 1);
  const step = Math.max(Math.ceil((order.length - small) / most), 1);
  if (stride === 1 && step === 1) return { order, small };
  const kept = order.filter((_, k) => (k < small ? k % stride === 0 : (k - small) % step === 0));
  return { order: kept, small: Math.ceil(small / stride) };
}

// The colour at `share` of the way along colours [red, green, blue], from the first to the last.
export function between(colours, share) {
  const position = share * (colours.length - 1);
  const from = Math.min(Math.floor(position), colours.length - 2);
  const far = position - from;
  return colours[from].map((part, k) => Math.round(part + far * (colours[from + 1][k] - part)));
}

// Radii in pixels of points without and with a label: as large as their number leaves room for.
export function radii(n, labelled, size, magnification) {
  const room = (count) => 0.16 * Math.sqrt((size.width * size.height) / Math.max(count, 1));
  const closer = Math.min(Math.max(magnification, 1) ** 0.35, 4);
  const plain = Math.min(Math.max(room(n), 1), 4) * closer;
  return [plain, Math.max(1.6 * plain, Math.min(room(labelled) * closer, 3.5))];
}
