// The map's drawing: a canvas with the points as a camera sees them, marks that follow them, and which point is
// where. It knows positions and colours, but not what the points stand for.

import { element, svgElement } from "./dom.js";
import * as geometry from "./geometry.js";
import { makePlain, makeWebgl } from "./map-points.js";

const SETTLE_MS = 150; // after the last movement, everything is drawn
const GLIDE_MS = 120;
const SLOW_FRAME_MS = 50; // with slower frames, a sample is drawn while moving
const MIN_MAGNIFICATION = 0.5; // of the scale that shows all points
const MAX_MAGNIFICATION = 2000;
const MAX_FRAME_TIMES = 240;

export class View {
  // `fresh(canvas)` is called with every new canvas, `moved()` when the camera begins to move and `settled()`
  // when it has stopped.
  constructor(plot, { webgl, fresh, moved, settled }) {
    Object.assign(this, { plot, fresh, moved, settled });
    this.camera = { x: 0, y: 0, scale: 1 };
    this.size = null;
    this.frameTimes = [];
    this.handled = 0; // script time of events since the last frame
    this.marks = new Map();
    const svg = svgElement("svg", { class: "map-lasso", "aria-hidden": "true" });
    this.outline = svgElement("polygon");
    svg.append(this.outline);
    plot.prepend(svg);
    this.makeCanvas(webgl);
    this.setPoints(new Float32Array());
    this.dress(geometry.dress("label", geometry.noValues(0), new Uint8Array(3), new Set(), []), [0, 0, 0]);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(plot);
  }

  close() {
    this.closed = true;
    this.observer.disconnect();
    clearTimeout(this.settling);
    cancelAnimationFrame(this.asked);
    this.renderer.close();
  }

  // A new canvas each time: one that could not give WebGL cannot give a plain context either.
  makeCanvas(webgl) {
    const canvas = element("canvas");
    const renderer = webgl ? makeWebgl(canvas) : makePlain(canvas);
    if (!renderer) {
      this.makeCanvas(false);
      return;
    }
    this.canvas?.remove();
    this.plot.prepend(canvas);
    Object.assign(this, { canvas, renderer });
    canvas.addEventListener("webglcontextlost", () => this.loseWebgl());
    this.fresh(canvas);
  }

  // The graphics card is gone: a plain canvas continues with the same view.
  loseWebgl() {
    if (this.closed || this.renderer.name !== "webgl") return;
    this.makeCanvas(false);
    this.renderer.points(this.points);
    this.renderer.dress(this.dressed);
    this.resize();
  }

  setPoints(points) {
    this.points = points;
    this.grid = geometry.makeGrid(points);
    this.box = geometry.bounds(points);
    this.frameTime = 0; // milliseconds per frame while moving, running mean
    this.renderer.points(points);
  }

  dress(dressed, ground) {
    Object.assign(this, { dressed, ground });
    this.renderer.dress(dressed);
    this.schedule();
  }

  // `part` follows the point `node`, and is hidden if that is null.
  mark(part, node) {
    this.marks.set(part, node);
    this.schedule();
  }

  // A closed line above the points, in their own units: x0, y0, x1, y1, ...
  setLine(line) {
    this.line = line;
    this.schedule();
  }

  // Camera -------------------------------------------------------------------------------------------

  resize() {
    const { width, height } = this.plot.getBoundingClientRect();
    if (!width || !height || this.closed) return;
    const before = this.size;
    this.size = { width, height };
    this.ratio = Math.min(devicePixelRatio || 1, 2);
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    if (!before) this.camera = geometry.fitted(this.box, this.size);
    else this.camera.scale *= Math.min(width / before.width, height / before.height);
    // A change of size empties a canvas: drawn at once, it does not flicker.
    this.draw();
  }

  // Not so far out that the points are a dot, and never off them.
  limited({ x, y, scale }) {
    const { left, right, low, high } = this.box;
    const whole = geometry.fitted(this.box, this.size).scale;
    return {
      x: geometry.clamp(x, left, right),
      y: geometry.clamp(y, low, high),
      scale: geometry.clamp(scale, MIN_MAGNIFICATION * whole, MAX_MAGNIFICATION * whole),
    };
  }

  look(camera) {
    this.gliding = null;
    this.camera = this.limited(camera);
    this.moved();
    this.move();
  }

  pan(right, down) {
    const { x, y, scale } = this.camera;
    this.look({ x: x - right / scale, y: y + down / scale, scale });
  }

  zoom(factor, left, top) {
    this.look(geometry.magnified(this.camera, this.size, factor, left, top));
  }

  // The same in a short movement rather than a jump, unless the person prefers no motion.
  glide(camera) {
    const from = this.camera;
    const to = this.limited(camera);
    this.look(from);
    const start = performance.now();
    const length = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : GLIDE_MS;
    this.gliding = (now) => {
      const share = length ? geometry.clamp((now - start) / length, 0, 1) : 1;
      const scale = from.scale * (to.scale / from.scale) ** share;
      // Follows the scale, not the time: so the fixed point stays fixed.
      const way = to.scale === from.scale ? share : (1 - from.scale / scale) / (1 - from.scale / to.scale);
      this.camera = { x: from.x + way * (to.x - from.x), y: from.y + way * (to.y - from.y), scale };
      if (share === 1) this.gliding = null;
      this.move();
    };
  }

  glideBy(right, down) {
    const { x, y, scale } = this.camera;
    this.glide({ x: x - right / scale, y: y + down / scale, scale });
  }

  glideZoom(factor) {
    this.glide(geometry.magnified(this.camera, this.size, factor, this.size.width / 2, this.size.height / 2));
  }

  fit() {
    this.glide(geometry.fitted(this.box, this.size));
  }

  fitAtOnce() {
    if (this.size) this.camera = geometry.fitted(this.box, this.size);
    this.schedule();
  }

  // While the map moves, a plain canvas draws a sample of the points; a moment later, all of them.
  move() {
    this.moving = true;
    clearTimeout(this.settling);
    this.settling = setTimeout(
      () => {
        this.moving = false;
        this.schedule();
        this.settled();
      },
      Math.max(SETTLE_MS, 3 * this.frameTime),
    );
    this.schedule();
  }

  // Frames -------------------------------------------------------------------------------------------

  schedule() {
    this.asked ??= requestAnimationFrame((now) => {
      this.asked = null;
      this.gliding?.(now);
      this.draw();
      if (this.moving && this.frameTime <= SLOW_FRAME_MS) this.measure(now);
    });
  }

  // A script does not see how long drawing takes, but no frame follows until it is done. Once it is known to
  // be slow, nothing is measured any more: frames with a sample only would look fast.
  measure(now) {
    requestAnimationFrame((next) => {
      this.frameTime = 0.9 * this.frameTime + 0.1 * (next - now);
    });
  }

  draw() {
    if (!this.size || this.closed) return;
    const start = performance.now();
    const { camera, size, ratio, ground, dressed } = this;
    const magnification = camera.scale / geometry.fitted(this.box, size).scale;
    const labelled = dressed.all.order.length - dressed.all.small;
    const radii = geometry.radii(dressed.shown.length, labelled, size, magnification);
    const part = this.moving && (this.frameTime > SLOW_FRAME_MS || this.renderer.name === "canvas") ? "sample" : "all";
    this.renderer.draw({ camera, size, ratio, ground, radii, part });
    for (const [part, node] of this.marks) this.placeMark(part, node);
    this.drawLine();
    this.frameTimes.push(performance.now() - start + this.handled);
    this.handled = 0;
    if (this.frameTimes.length > MAX_FRAME_TIMES) this.frameTimes.shift();
  }

  placeMark(part, node) {
    part.hidden = node == null || node >= this.dressed.shown.length;
    if (part.hidden) return;
    const [left, top] = this.at(node);
    part.style.transform = `translate(${left.toFixed(1)}px, ${top.toFixed(1)}px)`;
  }

  drawLine() {
    const line = this.line ?? [];
    if (!line.length && !this.isLineDrawn) return;
    this.isLineDrawn = line.length > 0;
    const corners = [];
    for (let k = 0; k < line.length; k += 2) {
      const [left, top] = geometry.toScreen(this.camera, this.size, line[k], line[k + 1]);
      corners.push(`${left.toFixed(1)},${top.toFixed(1)}`);
    }
    this.outline.setAttribute("points", corners.join(" "));
  }

  // Which point is where ------------------------------------------------------------------------------------

  // Pixels of the plot, from its top left corner.
  at(node) {
    return geometry.toScreen(this.camera, this.size, this.points[2 * node], this.points[2 * node + 1]);
  }

  under(left, top) {
    return geometry.toMap(this.camera, this.size, left, top);
  }

  hit(left, top, reach) {
    return geometry.nearest(this.grid, ...this.under(left, top), reach / this.camera.scale, this.dressed.shown);
  }

  inside(polygon) {
    return geometry.inside(this.points, polygon, this.dressed.shown);
  }
}
