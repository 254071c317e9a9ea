// The map: every item is a point, near the items that resemble it. Drag to move, use the wheel or pinch
// to zoom, hover over a point to see it, click to open it, draw a lasso to label many items or to
// restrict the questions to them.

import { button, element } from "./dom.js";
import { items } from "./format.js";
import * as geometry from "./geometry.js";
import { keyOf } from "./keys.js";
import { MapCard } from "./map-card.js";
import { legendRows, legendTitle, MODES, makePalette, makeReader } from "./map-colours.js";
import { watchGestures } from "./map-gestures.js";
import { Lasso } from "./map-lasso.js";
import { Layouts } from "./map-layouts.js";
import { fillLegend, segments } from "./map-parts.js";
import { View } from "./map-view.js";

const HINT =
  "Arrow keys move the map, plus and minus zoom, f shows all, l turns the lasso on. Enter opens the item at the " +
  "cross; with the lasso on it selects every item in view.";
const POLL_MS = 1000;
const REACH_PIXELS = 8; // from the pointer to a point
const CROSS_REACH_PIXELS = 48;
const KEY_STEP = 0.15; // of the plot, for an arrow key
const ZOOM_FACTOR = 1.6; // for a key or a button

// Mounts the map in `container`; `host` fetches, shows items and records answers. `update` takes every new
// state of the server; `resize` is for changes of size that no observer sees, `recolour` for a new theme.
// `host.page` is the root of a widget that shares its document with others.
export function mountMap(container, host) {
  const screen = new MapScreen(container, host);
  screen.layouts.choose(null);
  return {
    update: (state) => screen.update(state),
    resize: () => screen.view.resize(),
    recolour: () => screen.recolour(),
    close: () => screen.close(),
  };
}

class MapScreen {
  constructor(container, host) {
    Object.assign(this, { container, host, page: host.page ?? document });
    this.state = null;
    this.mode = "label";
    this.hidden = Object.fromEntries(MODES.map(([mode]) => [mode, new Set()]));
    this.layouts = new Layouts(this);
    this.layout = null; // name of the one that is shown
    this.forget(0);
    this.closing = new AbortController();
    const { signal } = this.closing;
    this.build();
    this.recolour();
    // Before the page's own keys, which must not get what is meant for the map.
    this.page.addEventListener("keydown", (event) => this.press(event), { signal, capture: true });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour(), { signal });
  }

  get closed() {
    return this.closing.signal.aborted;
  }

  close() {
    this.closing.abort();
    this.card.close();
    clearTimeout(this.later);
    this.view.close();
    this.container.replaceChildren();
    delete this.container.poise;
    delete this.container.dataset.ready;
    delete this.container.dataset.renderer;
  }

  // The page's parts -------------------------------------------------------------------------------

  build() {
    this.lassoButton = button(
      {
        className: "map-toggle",
        onclick: () => this.lasso.set(!this.lasso.on),
        "aria-pressed": "false",
        title: "Draw a line round points to select them; dragging with Shift does the same",
      },
      "Lasso",
    );
    this.chip = button({ className: "map-chip", hidden: true, onclick: () => this.askEverywhere() });
    this.legend = element("div", { className: "map-legend", role: "group" });
    const top = element(
      "div",
      "map-top",
      element("span", { className: "quiet", "aria-hidden": "true" }, "Colour by"),
      segments("Colour by", "map-mode", MODES, this.mode, (mode) => this.setMode(mode)),
      this.layouts.choice,
      this.lassoButton,
      this.chip,
    );
    const plot = this.buildPlot();
    this.container.replaceChildren(element("div", "map", element("h1", "map-unseen", "Map"), top, this.legend, plot));
    this.rgb = makeReader(plot);
    this.view = new View(plot, {
      webgl: new URLSearchParams(location.search).get("webgl") !== "off",
      fresh: (canvas) => this.prepare(canvas),
      moved: () => this.card.point(null),
      settled: () => this.canvas.matches(":focus-visible") && this.pointAtCross(),
    });
    this.container.dataset.renderer = this.view.renderer.name;
    const corner = () => plot.getBoundingClientRect();
    this.container.poise = {
      project: (node) => [this.view.at(node)[0] + corner().left, this.view.at(node)[1] + corner().top],
      hits: (x, y) => this.view.hit(x - corner().left, y - corner().top, REACH_PIXELS),
      frameTimes: this.view.frameTimes,
    };
  }

  buildPlot() {
    const card = element("div", { className: "map-card", hidden: true });
    const bar = element("div", { className: "map-chosen", hidden: true, tabIndex: -1, role: "group" });
    this.ring = element("div", { className: "map-ring", hidden: true });
    this.spot = element("div", { className: "map-spot", hidden: true });
    this.note = element("p", { className: "map-note", role: "status" }, "Loading the map…");
    this.spoken = element("p", { className: "map-unseen", "aria-live": "polite" });
    const tools = [
      ["+", "Zoom in", () => this.view.glideZoom(ZOOM_FACTOR)],
      ["−", "Zoom out", () => this.view.glideZoom(1 / ZOOM_FACTOR)],
      ["Fit", "Fit all items", () => this.view.fit()],
    ].map(([sign, name, onclick]) => button({ onclick, "aria-label": name }, sign));
    const plot = element(
      "div",
      "map-plot",
      this.ring,
      this.spot,
      element("div", "map-cross"),
      card,
      element("div", "map-zoom", ...tools),
      bar,
      this.note,
      this.spoken,
    );
    this.card = new MapCard(this, card);
    this.lasso = new Lasso(this, bar, (on) => {
      this.lassoButton.setAttribute("aria-pressed", String(on));
      plot.classList.toggle("map-lassoing", on);
      this.canvas.style.cursor = "";
    });
    return plot;
  }

  // A canvas has come, the first or the plain one that takes over from WebGL.
  prepare(canvas) {
    this.canvas = canvas;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    this.nameCanvas();
    if (this.view) this.container.dataset.renderer = this.view.renderer.name;
    const { card, lasso } = this;
    const gestures = {
      pan: (right, down) => this.view.pan(right, down),
      zoom: (factor, left, top) => this.view.zoom(factor, left, top),
      hover: (left, top) => card.point(this.view.hit(left, top, REACH_PIXELS)),
      leave: () => card.point(null),
      click: (left, top, pointer) => card.click(this.view.hit(left, top, REACH_PIXELS), pointer),
      wantsLasso: (event) => lasso.on || event.shiftKey,
      wantsWheel: (event) => this.host.wantsWheel?.(event) ?? true,
      lasso: (left, top, first) => lasso.extend(left, top, first),
      lassoEnd: () => lasso.end(),
      lassoCancel: () => lasso.cancel(),
    };
    for (const [name, work] of Object.entries(gestures)) {
      gestures[name] = (...parameters) => {
        const start = performance.now();
        const result = work(...parameters);
        this.view.handled += performance.now() - start;
        return result;
      };
    }
    watchGestures(canvas, gestures, this.closing.signal);
  }

  nameCanvas() {
    this.canvas.setAttribute("aria-label", `Map of ${items(this.n)}. ${HINT}`);
  }

  tell(...parts) {
    this.note.replaceChildren(...parts);
    this.note.hidden = !this.note.textContent;
  }

  // Data -------------------------------------------------------------------------------------------

  // There are n items now, and nothing is known of them yet.
  forget(n) {
    this.n = n;
    this.base = geometry.shuffled(n);
    this.values = geometry.noValues(n);
    this.fetched = null; // `last` of the state whose values are shown
    this.card?.forget();
  }

  async show(layout, n, bytes) {
    if (bytes.byteLength !== 8 * n) throw new Error(`expected ${items(n)}, got ${bytes.byteLength / 8}`);
    if (n !== this.n) this.forget(n);
    this.lasso.close();
    this.card.point(null);
    this.view.setPoints(new Float32Array(bytes));
    if (layout !== this.layout) this.view.fitAtOnce();
    this.layout = layout;
    this.nameCanvas();
    this.tell(n ? "" : "There is nothing to show yet.");
    this.recolour();
    await this.fetchValues();
    if (this.closed) return;
    this.view.draw();
    this.container.dataset.ready = "yes";
  }

  update(state) {
    const before = JSON.stringify(this.state?.classes);
    const names = (known) => JSON.stringify(known?.classes.map((labelClass) => labelClass.name));
    // What was fetched counts the classes in their old order.
    if (this.state && this.layout !== null && names(this.state) !== names(state))
      this.values = geometry.noValues(this.n);
    this.state = state;
    this.showRestriction(state.only);
    this.view.mark(this.ring, state.question?.node);
    if (this.layout !== null && state.items !== this.n) this.layouts.choose(this.layout);
    else this.fetchValues();
    if (JSON.stringify(state.classes) !== before) this.recolour();
  }

  showRestriction(only) {
    this.chip.hidden = only == null;
    if (only == null) return;
    const words = `Asking only about ${items(only)}`;
    this.chip.textContent = `${words} ✕`;
    this.chip.setAttribute("aria-label", `${words}. Ask everywhere again`);
  }

  // Labels, guesses and certainties: only if something has changed, and at most once a second.
  async fetchValues() {
    if (this.fetching || this.layout === null || !this.state || this.state.last === this.fetched) return;
    this.fetching = true;
    const { n, state } = this;
    try {
      const bytes = await this.host.map.values();
      // Nothing is sent while the model computes: the next turn asks again.
      if (bytes && n === this.n && !this.closed) {
        this.values = geometry.readValues(bytes, n);
        this.fetched = state.last;
        this.card.forget();
        this.recolour();
        if (this.outdated) this.tell("");
        this.outdated = false;
      }
    } catch (error) {
      this.outdated = true;
      this.tell(`Could not read the labels: ${error.message}. The map shows the ones it had.`);
    }
    if (this.closed) return;
    this.later = setTimeout(() => {
      this.fetching = false;
      this.fetchValues();
    }, POLL_MS);
  }

  // Colours and legend -------------------------------------------------------------------------------

  recolour() {
    const classes = this.host.classes();
    const palette = makePalette(this.mode, classes, this.rgb);
    const hidden = this.hidden[this.mode];
    this.dressed = geometry.dress(this.mode, this.values, palette, hidden, this.base);
    this.view.dress(this.dressed, this.rgb("var(--surface)"));
    const rows = legendRows(this.mode, classes, palette).map((row) => ({
      ...row,
      count: this.dressed.counts[row.group],
      shown: !hidden.has(row.group),
    }));
    this.legend.classList.toggle("map-scale", this.mode === "uncertainty");
    fillLegend(this.legend, legendTitle(this.mode), rows, (group, only) => this.filter(group, only));
  }

  filter(group, only) {
    const hidden = this.hidden[this.mode];
    if (group === null) hidden.clear();
    else if (only) {
      for (const other of this.dressed.counts.keys()) hidden.add(other);
      hidden.delete(group);
    } else if (!hidden.delete(group)) hidden.add(group);
    this.card.point(null);
    this.recolour();
    this.spoken.textContent = `${items(this.dressed.all.order.length)} shown`;
  }

  setMode(mode) {
    this.mode = mode;
    this.recolour();
  }

  pointAtCross() {
    const { width, height } = this.view.size;
    this.card.point(this.view.hit(width / 2, height / 2, CROSS_REACH_PIXELS), "Enter opens it");
  }

  async askEverywhere() {
    try {
      await this.host.restrict(null);
    } catch (error) {
      this.host.say(`Could not lift the restriction: ${error.message}. Try again.`);
    }
  }

  // Keys ---------------------------------------------------------------------------------------------

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.view.size) return;
    if (event.target.closest?.("dialog, input:not([type=radio]), textarea, select")) return;
    if (this.page.querySelector("dialog[open]")) return;
    const free = event.target === this.canvas || event.target === document.body;
    if (!this.handle(keyOf(event, this.lasso.classes), free)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Whether the key meant something here. `free`: no control has the focus that wants it itself.
  handle(key, free) {
    const { card, lasso, view } = this;
    const labelClass = lasso.classes.find((candidate) => candidate.key === key);
    const directions = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (labelClass) lasso.label(labelClass.name);
    else if (key === "Escape") return this.leave();
    else if (key === "+" || key === "=") view.glideZoom(ZOOM_FACTOR);
    else if (key === "-") view.glideZoom(1 / ZOOM_FACTOR);
    else if (key === "f") view.fit();
    else if (key === "l") lasso.set(!lasso.on);
    else if (free && key in directions) {
      const step = KEY_STEP * Math.min(view.size.width, view.size.height);
      view.glideBy(step * directions[key][0], step * directions[key][1]);
    } else if (free && key === "Enter" && lasso.on) lasso.chooseView();
    else if (free && key === "Enter" && card.node !== null) card.open(card.node);
    else return false;
    return true;
  }

  // One step back. Whether there was anything to leave.
  leave() {
    if (this.lasso.leave()) return true;
    if (this.card.node === null) return false;
    this.card.point(null);
    return true;
  }
}
