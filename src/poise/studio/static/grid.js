// Twelve items that the model believes alike: one key labels all that are not excluded.

import { content } from "./content.js";
import { button, byId } from "./dom.js";

export class Grid {
  constructor(place, { answer }) {
    this.place = place;
    this.answer = answer;
    this.open = false;
  }

  show(items, kind) {
    if (!items.length) return;
    this.open = true;
    this.items = items;
    this.out = new Set();
    this.at = 0;
    this.place.hidden = false;
    byId("stage").hidden = true;
    this.tiles = items.map(({ item }, index) => {
      const tile = button({ className: "tile", role: "option", onclick: () => this.toggle(index) });
      tile.dataset.item = item;
      if (kind === "text") for (const when of ["focus", "mouseenter"]) tile.addEventListener(when, () => this.read(index));
      content(item, kind, 320).then((shown) => tile.prepend(shown));
      return tile;
    });
    this.place.replaceChildren(...this.tiles);
    this.place.classList.toggle("texts", kind === "text");
    this.mark();
    this.tiles[0].focus();
  }

  mark() {
    this.tiles.forEach((tile, index) => {
      tile.setAttribute("aria-selected", String(!this.out.has(index)));
      tile.tabIndex = index === this.at ? 0 : -1;
      tile.setAttribute("aria-label", `Item ${index + 1} of ${this.tiles.length}, ${this.out.has(index) ? "left out" : "selected"}`);
    });
  }

  // The whole text of a tile, which has room for its beginning alone.
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
    this.at = index;
    if (!this.out.delete(index)) this.out.add(index);
    this.mark();
  }

  // Whether the key was for the grid.
  press(key) {
    const columns = getComputedStyle(this.place).gridTemplateColumns.split(" ").length;
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[key];
    if (step) {
      this.at = Math.min(Math.max(this.at + step, 0), this.tiles.length - 1);
      this.mark();
      this.tiles[this.at].focus();
    } else if (key === " ") {
      if (document.activeElement !== this.tiles[this.at]) this.toggle(this.at); // else the button does
    } else if (key === "g" || key === "d") {
      this.close();
    } else {
      return ["s", "x", "a", "m", "v", "e", "l", "i", "o", "/"].includes(key);
    }
    return true;
  }

  label(name, client) {
    const chosen = this.items.filter((_, index) => !this.out.has(index));
    this.close();
    if (chosen.length) this.answer(chosen, name, client);
  }

  close() {
    if (!this.open) return;
    this.open = false;
    this.place.hidden = true;
    this.place.replaceChildren();
    byId("reading").hidden = true;
    byId("stage").hidden = false;
  }
}
