// Twelve similar items: one key labels all that are not left out.

import { content } from "./content.js";
import { button, byId } from "./dom.js";
import { clamp } from "./geometry.js";

const TILE_PIXELS = 320;
const LABEL_SCREEN_KEYS = ["s", "x", "a", "m", "v", "e", "l", "i", "o", "/"]; // they do nothing here

export class Grid {
  // `answer(questions, label, client)` labels the items that are not left out.
  constructor(panel, { answer }) {
    Object.assign(this, { panel, answer, open: false });
  }

  show(items, kind) {
    if (!items.length) return;
    Object.assign(this, { open: true, items, leftOut: new Set(), current: 0 });
    this.panel.hidden = false;
    byId("stage").hidden = true;
    this.tiles = items.map(({ item }, index) => this.tile(item, index, kind));
    this.panel.replaceChildren(...this.tiles);
    this.panel.classList.toggle("texts", kind === "text");
    this.mark();
    this.tiles[0].focus();
  }

  tile(item, index, kind) {
    const tile = button({ className: "tile", role: "option", onclick: () => this.toggle(index) });
    tile.dataset.item = item;
    if (kind === "text")
      for (const event of ["focus", "mouseenter"]) tile.addEventListener(event, () => this.read(index));
    content(item, kind, TILE_PIXELS).then((shown) => tile.prepend(shown));
    return tile;
  }

  mark() {
    for (const [index, tile] of this.tiles.entries()) {
      const selected = !this.leftOut.has(index);
      tile.setAttribute("aria-selected", String(selected));
      tile.tabIndex = index === this.current ? 0 : -1;
      tile.setAttribute(
        "aria-label",
        `Item ${index + 1} of ${this.tiles.length}, ${selected ? "selected" : "left out"}`,
      );
    }
  }

  // Shows the whole text of a tile, which has room for its beginning only.
  async read(index) {
    this.reading = index;
    const pane = byId("reading");
    const shown = await content(this.items[index].item, "text");
    if (!this.open || this.reading !== index) return;
    pane.replaceChildren(shown);
    pane.scrollTop = 0;
    pane.hidden = false;
  }

  toggle(index) {
    this.current = index;
    if (!this.leftOut.delete(index)) this.leftOut.add(index);
    this.mark();
  }

  // Whether the key was meant for the grid.
  press(key) {
    const columns = getComputedStyle(this.panel).gridTemplateColumns.split(" ").length;
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[key];
    if (step) {
      this.current = clamp(this.current + step, 0, this.tiles.length - 1);
      this.mark();
      this.tiles[this.current].focus();
    } else if (key === " ") {
      // A tile that has the focus is a button: the browser presses it.
      if (document.activeElement !== this.tiles[this.current]) this.toggle(this.current);
    } else if (key === "g" || key === "d") {
      this.close();
    } else {
      return LABEL_SCREEN_KEYS.includes(key);
    }
    return true;
  }

  label(name, client) {
    const chosen = this.items.filter((_, index) => !this.leftOut.has(index));
    this.close();
    if (chosen.length) this.answer(chosen, name, client);
  }

  close() {
    if (!this.open) return;
    this.open = false;
    this.panel.hidden = true;
    this.panel.replaceChildren();
    byId("reading").hidden = true;
    byId("stage").hidden = false;
  }
}
