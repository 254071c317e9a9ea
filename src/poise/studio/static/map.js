// The map: every item a point, near those that resemble it. Drag to move, wheel or pinch to come
// closer, rest on a point to see it, click to open it, lasso to label many or to ask only there.

import * as geometry from "./geometry.js";
import { watchGestures } from "./map-gestures.js";
import { button, element } from "./dom.js";
import { items, percent } from "./format.js";
import { keyOf } from "./keys.js";
import { fillBar, fillLegend, known, placeCard, segments } from "./map-parts.js";
import { View } from "./map-view.js";

const MODES = [["label", "Label"], ["prediction", "Prediction"], ["uncertainty", "Uncertainty"]];
const BINS = ["Well known", "Mostly known", "Half known", "Little known", "Hardly known"];
const HINT =
  "Arrow keys move it, plus and minus zoom, f shows all, l turns the lasso on. Enter opens the item at the " +
  "cross; with the lasso on it takes every item in view.";
const POLL = 1000; // milliseconds, as the next one
const REST = 60;
const REACH = 8; // pixels, as the next two
const CROSS_REACH = 48;
const THIN = 3;
const STEP = 0.15; // of the plot, for an arrow key
const MAGNIFY = 1.6;
const KEPT = 200;

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// Mounts the map in `container`; `host` fetches, shows items and records answers. `update` wants every new
// state of the server; `resize` is for changes of size that no observer sees.
export function mountMap(container, host) {
  const screen = new MapScreen(container, host);
  screen.choose(null);
  return {
    update: (state) => screen.update(state),
    resize: () => screen.view.resize(),
    close: () => screen.close(),
  };
}

class MapScreen {
  constructor(container, host) {
    this.container = container;
    this.host = host;
    this.state = null;
    this.mode = "label";
    this.hidden = Object.fromEntries(MODES.map(([mode]) => [mode, new Set()]));
    this.layout = null;
    this.turn = 0; // grows with every choice of a layout: answers to an earlier one are dropped
    this.forget(0);
    this.pointed = null; // the item under the pointer or the cross
    this.drawing = null; // the lasso while it is drawn
    this.chosen = null; // { polygon, indices } while the bar is open
    this.lassoing = false;
    this.closing = new AbortController();
    const { signal } = this.closing;
    this.build();
    this.recolour();
    // Before the page's own keys, which must not hear what is meant for the map.
    document.addEventListener("keydown", (event) => this.press(event), { signal, capture: true });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour(), { signal });
  }

  close() {
    this.closing.abort();
    clearTimeout(this.resting);
    clearTimeout(this.later);
    this.view.close();
    this.container.replaceChildren();
    delete this.container.poise;
    delete this.container.dataset.ready;
    delete this.container.dataset.renderer;
  }

  // The page's parts -------------------------------------------------------------------------------

  build() {
    const top = element("div", "map-top");
    const title = element("span", "quiet", "Colour by");
    title.setAttribute("aria-hidden", "true");
    this.layoutPlace = element("div");
    this.lassoButton = button({ className: "map-toggle", onclick: () => this.setLasso(!this.lassoing) }, "Lasso");
    this.lassoButton.setAttribute("aria-pressed", "false");
    this.lassoButton.title = "Draw round points to choose them; Shift and drag does the same";
    this.chip = button({ className: "map-chip", onclick: () => this.askEverywhere() });
    this.chip.hidden = true;
    top.append(title, segments("Colour by", "map-mode", MODES, this.mode, (mode) => this.setMode(mode)));
    top.append(this.layoutPlace, this.lassoButton, this.chip);
    this.legend = element("div", "map-legend");
    this.legend.setAttribute("role", "group");
    const root = element("div", "map");
    root.append(element("h1", "map-unseen", "Map"), top, this.legend, this.buildPlot());
    this.container.replaceChildren(root);
    this.view = new View(this.plot, {
      webgl: new URLSearchParams(location.search).get("webgl") !== "off",
      fresh: (canvas) => this.prepare(canvas),
      moved: () => this.point(null),
      settled: () => this.canvas.matches(":focus-visible") && this.pointAtCross(),
    });
    this.container.dataset.renderer = this.view.renderer.name;
    const corner = () => this.plot.getBoundingClientRect();
    this.container.poise = {
      project: (index) => [this.view.at(index)[0] + corner().left, this.view.at(index)[1] + corner().top],
      hits: (x, y) => this.view.hit(x - corner().left, y - corner().top, REACH),
      frameTimes: this.view.frameTimes,
    };
  }

  buildPlot() {
    this.plot = element("div", "map-plot");
    this.ring = element("div", "map-ring");
    this.spot = element("div", "map-spot");
    this.card = element("div", "map-card");
    this.bar = element("div", "map-chosen");
    for (const part of [this.ring, this.spot, this.card, this.bar]) part.hidden = true;
    this.bar.tabIndex = -1;
    this.bar.setAttribute("role", "group");
    this.note = element("p", "map-note", "Loading the map…");
    this.note.setAttribute("role", "status");
    this.spoken = element("p", "map-unseen");
    this.spoken.setAttribute("aria-live", "polite");
    const zoom = element("div", "map-zoom");
    const tools = [
      ["+", "Zoom in", () => this.view.glideZoom(MAGNIFY)],
      ["−", "Zoom out", () => this.view.glideZoom(1 / MAGNIFY)],
      ["Fit", "Fit all items", () => this.view.fit()],
    ];
    for (const [sign, name, work] of tools) {
      zoom.append(button({ onclick: work, "aria-label": name }, sign));
    }
    const cross = element("div", "map-cross");
    this.plot.append(this.ring, this.spot, cross, this.card, zoom, this.bar, this.note, this.spoken);
    return this.plot;
  }

  // A canvas has come, the first or the plain one that takes over from WebGL.
  prepare(canvas) {
    this.canvas = canvas;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    this.nameCanvas();
    if (this.view) this.container.dataset.renderer = this.view.renderer.name;
    const heard = {
      pan: (right, down) => this.view.pan(right, down),
      zoom: (factor, left, top) => this.view.zoom(factor, left, top),
      hover: (left, top) => this.point(this.view.hit(left, top, REACH)),
      leave: () => this.point(null),
      click: (left, top, kind) => this.click(this.view.hit(left, top, REACH), kind),
      wantsLasso: (event) => this.lassoing || event.shiftKey,
      lasso: (left, top, first) => this.extendLasso(left, top, first),
      lassoEnd: () => this.endLasso(),
      lassoCancel: () => this.setDrawing(null),
    };
    for (const [name, work] of Object.entries(heard)) {
      heard[name] = (...given) => {
        const start = performance.now();
        const made = work(...given);
        this.view.handled += performance.now() - start;
        return made;
      };
    }
    watchGestures(canvas, heard, this.closing.signal);
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
    this.looked = new Map();
  }

  // Shows a layout, by default the first that is ready; one that is not is begun and waited for.
  async choose(name) {
    this.turn += 1;
    const { turn } = this;
    const stale = () => turn !== this.turn || this.closing.signal.aborted;
    try {
      for (let begun = false; ; begun = true) {
        const { n, layouts } = await this.host.get("api/map");
        if (stale()) return;
        const wanted = layouts.find((one) => one.name === name) ?? layouts.find((one) => one.ready) ?? layouts[0];
        this.showLayouts(layouts, wanted.name);
        if (wanted.error) throw new Error(wanted.error);
        const path = `api/map/points?layout=${encodeURIComponent(wanted.name)}`;
        if (wanted.ready) {
          const bytes = await this.host.bytes(path);
          if (!stale()) await this.show(wanted.name, n, bytes);
          return;
        }
        const share = wanted.progress == null ? "" : ` ${percent(wanted.progress)}`;
        this.tell(`Working out the layout “${wanted.title}”…${share}`);
        if (!begun) await this.host.bytes(path);
        await pause(POLL);
        if (stale()) return;
      }
    } catch (error) {
      if (stale()) return;
      this.tell(`Could not load the map: ${error.message}. `, button({ onclick: () => this.choose(name) }, "Try again"));
    }
  }

  async show(layout, n, bytes) {
    if (bytes.byteLength !== 8 * n) throw new Error(`${items(n)} expected, ${bytes.byteLength / 8} sent`);
    if (n !== this.n) this.forget(n);
    this.closeBar();
    this.point(null);
    this.view.setPoints(new Float32Array(bytes));
    if (layout !== this.layout) this.view.fitAtOnce();
    this.layout = layout;
    this.nameCanvas();
    this.tell(n ? "" : "There is nothing to show yet.");
    this.recolour();
    await this.fetchValues();
    if (this.closing.signal.aborted) return;
    this.view.draw();
    this.container.dataset.ready = "yes";
  }

  update(state) {
    const before = JSON.stringify(this.state?.classes);
    const names = (known) => JSON.stringify(known?.classes.map((one) => one.name));
    // What was fetched counts the classes in their old order.
    if (this.state && this.layout !== null && names(this.state) !== names(state)) this.values = geometry.noValues(this.n);
    this.state = state;
    this.chip.hidden = state.only == null;
    if (state.only != null) {
      const words = `Asking only among ${items(state.only)}`;
      this.chip.textContent = `${words} ✕`;
      this.chip.setAttribute("aria-label", `${words}: ask everywhere again`);
    }
    this.view.mark(this.ring, state.question?.index);
    if (this.layout !== null && state.items !== this.n) this.choose(this.layout);
    else this.fetchValues();
    if (JSON.stringify(state.classes) !== before) this.recolour();
  }

  // Labels, guesses and certainties: only if something has changed, and at most once a second.
  async fetchValues() {
    if (this.fetching || this.layout === null || !this.state || this.state.last === this.fetched) return;
    this.fetching = true;
    const { n, state } = this;
    try {
      const bytes = await this.host.bytes("api/map/values");
      // Nothing is sent while the model computes: the next turn asks again.
      if (bytes && n === this.n && !this.closing.signal.aborted) {
        this.values = geometry.readValues(bytes, n);
        this.fetched = state.last;
        this.looked.clear();
        this.recolour();
        if (this.outdated) this.tell("");
        this.outdated = false;
      }
    } catch (error) {
      this.outdated = true;
      this.tell(`Could not read the labels: ${error.message}. The map shows those it had.`);
    }
    if (this.closing.signal.aborted) return;
    this.later = setTimeout(() => {
      this.fetching = false;
      this.fetchValues();
    }, POLL);
  }

  showLayouts(layouts, chosen) {
    const key = JSON.stringify([layouts.map((one) => one.name), chosen]);
    if (layouts.length < 2 || this.layoutPlace.dataset.key === key) return;
    this.layoutPlace.dataset.key = key;
    const focused = this.layoutPlace.contains(document.activeElement);
    const choices = layouts.map((one) => [one.name, one.title]);
    this.layoutPlace.replaceChildren(
      segments("Layout", "map-layout", choices, chosen, (name) => this.choose(name)),
    );
    if (focused) this.layoutPlace.querySelector(":checked").focus();
  }

  // Colours and legend -------------------------------------------------------------------------------

  // Any CSS colour as red, green and blue, in the present theme.
  rgb(colour) {
    this.probe ??= element("canvas").getContext("2d", { willReadFrequently: true });
    this.plot.style.color = colour;
    this.probe.fillStyle = getComputedStyle(this.plot).color;
    this.plot.style.color = "";
    this.probe.fillRect(0, 0, 1, 1);
    return [...this.probe.getImageData(0, 0, 1, 1).data].slice(0, 3);
  }

  palette() {
    if (this.mode !== "uncertainty") {
      const colours = ["var(--map-none)", ...this.host.classes().map((one) => one.colour)];
      return Uint8Array.from(colours.flatMap((one) => this.rgb(one)));
    }
    const scale = ["var(--map-known)", "var(--map-half)", "var(--map-unknown)"].map((one) => this.rgb(one));
    const shades = Array.from({ length: 256 }, (_, k) => geometry.between(scale, k / 255));
    return Uint8Array.from(shades.flat());
  }

  recolour() {
    const palette = this.palette();
    const hidden = this.hidden[this.mode];
    this.dressed = geometry.dress(this.mode, this.values, palette, hidden, this.base);
    this.view.dress(this.dressed, this.rgb("var(--surface)"));
    const title = this.mode === "uncertainty" ? "How well known" : MODES.find(([mode]) => mode === this.mode)[1];
    const rows = this.groups(palette).map((row) => (
      { ...row, count: this.dressed.counts[row.group], shown: !hidden.has(row.group) }));
    this.legend.classList.toggle("map-scale", this.mode === "uncertainty");
    fillLegend(this.legend, title, rows, (group, only) => this.filter(group, only));
  }

  // The legend's rows: classes, or steps of the scale.
  groups(palette) {
    if (this.mode === "uncertainty") {
      const shade = (bin) => {
        const k = Math.min(Math.round((256 * bin) / BINS.length), 255);
        return `rgb(${palette.slice(3 * k, 3 * k + 3).join(" ")})`;
      };
      return BINS.map((name, group) => (
        { group, name, colour: `linear-gradient( ${shade(group)}, ${shade(group + 1)})` }));
    }
    const none = { group: 0, name: `No ${this.mode}`, colour: "var(--map-none)" };
    return [...this.host.classes().map((one, code) => ({ ...one, group: code + 1 })), none];
  }

  filter(group, only) {
    const hidden = this.hidden[this.mode];
    if (group === null) hidden.clear();
    else if (only) {
      this.dressed.counts.forEach((_, other) => hidden.add(other));
      hidden.delete(group);
    } else if (!hidden.delete(group)) hidden.add(group);
    this.point(null);
    this.recolour();
    this.spoken.textContent = `${items(this.dressed.all.order.length)} shown`;
  }

  setMode(mode) {
    this.mode = mode;
    this.recolour();
  }

  // Looking at items ---------------------------------------------------------------------------------

  // The item under the pointer has changed, or the pointer has moved on it and is not at rest yet.
  point(index, hint = "") {
    if (index === this.pointed && (index === null || !this.card.hidden)) return;
    clearTimeout(this.resting);
    this.pointed = index;
    this.card.hidden = true;
    this.canvas.style.cursor = index === null || this.lassoing ? "" : "pointer";
    if (index !== null) this.resting = setTimeout(() => this.reveal(index, hint), REST);
    this.view.mark(this.spot, index);
  }

  pointAtCross() {
    const { width, height } = this.view.size;
    this.point(this.view.hit(width / 2, height / 2, CROSS_REACH), "Enter opens it");
  }

  about(index) {
    if (!this.looked.has(index)) {
      const found = this.host.get(`api/map/item?index=${index}`);
      found.catch(() => this.looked.delete(index));
      this.looked.set(index, found);
      if (this.looked.size > KEPT) this.looked.delete(this.looked.keys().next().value);
    }
    return this.looked.get(index);
  }

  async reveal(index, hint) {
    const parts = [];
    let words;
    let about = null;
    try {
      about = await this.about(index);
      words = known(about);
      parts.push(await this.host.content(about.item));
    } catch (error) {
      words = `Could not show this item: ${error.message}. Move away and back to try again.`;
    }
    if (this.pointed !== index || this.closing.signal.aborted) return;
    parts.push(element("p", {}, words));
    if (about) parts.push(element("p", "quiet", about.source));
    if (hint) parts.push(element("p", "quiet", hint));
    this.card.replaceChildren(...parts);
    this.card.hidden = false;
    placeCard(this.card, ...this.view.at(index), this.view.size);
    if (hint) this.spoken.textContent = `${words}. ${hint}.`;
  }

  // A finger cannot hover: its first tap shows, the second opens.
  click(index, kind) {
    if (kind === "touch" && index !== this.pointed) this.point(index, "Tap it again to open it");
    else if (index !== null) this.open(index);
  }

  async open(index) {
    try {
      this.host.open((await this.about(index)).item);
    } catch (error) {
      this.host.say(`Could not open the item: ${error.message}. Click it again.`);
    }
  }

  // Lasso --------------------------------------------------------------------------------------------

  setLasso(on) {
    this.lassoing = on;
    this.lassoButton.setAttribute("aria-pressed", String(on));
    this.plot.classList.toggle("map-lassoing", on);
    this.canvas.style.cursor = "";
    if (on) this.host.say("Draw a line round the items you want.");
  }

  setDrawing(line) {
    this.drawing = line;
    this.view.setLine(line ?? this.chosen?.polygon);
  }

  extendLasso(left, top, first) {
    if (first) {
      this.closeBar();
      this.point(null);
    } else if (!this.drawing || Math.hypot(left - this.corner[0], top - this.corner[1]) < THIN) return;
    this.corner = [left, top];
    this.setDrawing([...(first ? [] : this.drawing), ...this.view.under(left, top)]);
  }

  endLasso() {
    const line = this.drawing;
    this.setDrawing(null);
    if (line?.length >= 6) this.take(line);
  }

  takeView() {
    const { width, height } = this.view.size;
    const corners = [[0, 0], [width, 0], [width, height], [0, height]];
    this.take(corners.flatMap((corner) => this.view.under(...corner)));
  }

  take(polygon) {
    const indices = this.view.inside(polygon);
    if (!indices.length) {
      this.host.say("No item is inside that line. Draw it round some points.");
      return;
    }
    this.chosen = { polygon, indices };
    const labelled = indices.filter((i) => this.values.labels[i]).length;
    fillBar(this.bar, indices.length, labelled, this.host.classes(), {
      label: (name) => this.label(name),
      restrict: () => this.restrict(),
      cancel: () => this.closeBar(),
    });
    this.bar.setAttribute("aria-label", `${items(indices.length)} chosen`);
    this.bar.hidden = false;
    this.bar.focus();
    this.view.setLine(polygon);
  }

  closeBar() {
    if (!this.chosen) return;
    this.chosen = null;
    if (this.bar.contains(document.activeElement)) this.canvas.focus();
    this.bar.hidden = true;
    this.view.setLine(null);
  }

  label(name) {
    const total = items(this.chosen.indices.length);
    this.act("label them", (items) => this.host.label(items, name), `Labelled ${total} as ${name}.`);
  }

  restrict() {
    const total = items(this.chosen.indices.length);
    this.act("ask only here", (items) => this.host.restrict(items), `Asking only among ${total}.`);
  }

  // Does `work` with the ids of the chosen items; the bar stays until it is done.
  async act(what, work, done) {
    const { chosen } = this;
    if (chosen.acting) return;
    chosen.acting = true;
    const buttons = this.bar.querySelectorAll("button");
    for (const one of buttons) one.disabled = true;
    try {
      const { items } = await this.host.post("api/map/items", { indices: chosen.indices });
      await work(items);
      if (this.closing.signal.aborted) return;
      this.host.say(done);
      if (this.chosen === chosen) this.closeBar();
    } catch (error) {
      chosen.acting = false;
      for (const one of buttons) one.disabled = false;
      this.bar.querySelector(".map-problem").textContent = `Could not ${what}: ${error.message}. Try again.`;
    }
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
    const free = event.target === this.canvas || event.target === document.body;
    if (document.querySelector("dialog[open]") || !this.handle(keyOf(event, this.chosen ? this.host.classes() : []), free)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Whether the key meant something here. `free`: no control has the focus that wants it itself.
  handle(key, free) {
    const meant = this.chosen && this.host.classes().find((one) => one.key === key);
    const ways = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (meant) this.label(meant.name);
    else if (key === "Escape") return this.escape();
    else if (key === "+" || key === "=") this.view.glideZoom(MAGNIFY);
    else if (key === "-") this.view.glideZoom(1 / MAGNIFY);
    else if (key === "f") this.view.fit();
    else if (key === "l") this.setLasso(!this.lassoing);
    else if (free && key in ways) {
      const far = STEP * Math.min(this.view.size.width, this.view.size.height);
      this.view.glideBy(far * ways[key][0], far * ways[key][1]);
    } else if (free && key === "Enter" && this.lassoing) this.takeView();
    else if (free && key === "Enter" && this.pointed !== null) this.open(this.pointed);
    else return false;
    return true;
  }

  escape() {
    if (this.drawing) this.setDrawing(null);
    else if (this.chosen) this.closeBar();
    else if (this.lassoing) this.setLasso(false);
    else if (this.pointed !== null) this.point(null);
    else return false;
    return true;
  }
}
