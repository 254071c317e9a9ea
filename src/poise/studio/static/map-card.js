// The card beside the point under the pointer or the cross: what its item is and what is known of it.

import { element } from "./dom.js";
import { placeCard, status } from "./map-parts.js";

const REST_MS = 60; // a pointer that only passes over points asks for nothing
const KEPT_ITEMS = 200;

export class MapCard {
  // `map` has the view, the host and the mark of the point; `card` is the element.
  constructor(map, card) {
    Object.assign(this, { map, card, node: null, resting: 0 });
    this.items = new Map(); // node -> promise of what is known of its item
  }

  close() {
    clearTimeout(this.resting);
  }

  // What was fetched is out of date.
  forget() {
    this.items.clear();
  }

  // Another point is under the pointer, or none, which is null.
  point(node, hint = "") {
    if (node === this.node && (node === null || !this.card.hidden)) return;
    const { map } = this;
    clearTimeout(this.resting);
    this.node = node;
    this.card.hidden = true;
    map.canvas.style.cursor = node === null || map.lasso.on ? "" : "pointer";
    if (node !== null) this.resting = setTimeout(() => this.show(node, hint), REST_MS);
    map.view.mark(map.spot, node);
  }

  fetch(node) {
    if (!this.items.has(node)) {
      const item = this.map.host.map.item(node);
      item.catch(() => this.items.delete(node));
      this.items.set(node, item);
      if (this.items.size > KEPT_ITEMS) this.items.delete(this.items.keys().next().value);
    }
    return this.items.get(node);
  }

  async show(node, hint) {
    const { host, spoken, view } = this.map;
    const parts = [];
    let words;
    let known = null;
    try {
      known = await this.fetch(node);
      words = status(known);
      parts.push(await host.content(known.item));
    } catch (error) {
      words = `Could not show this item: ${error.message}. Move away and back to try again.`;
    }
    if (this.node !== node || this.map.closed) return;
    parts.push(element("p", {}, words));
    if (known) parts.push(element("p", "quiet", known.source));
    if (hint) parts.push(element("p", "quiet", hint));
    this.card.replaceChildren(...parts);
    this.card.hidden = false;
    placeCard(this.card, ...view.at(node), view.size);
    if (hint) spoken.textContent = `${words}. ${hint}.`;
  }

  // A finger cannot hover: its first tap shows the card, the second opens the item.
  click(node, pointer) {
    if (pointer === "touch" && node !== this.node) this.point(node, "Tap again to open it");
    else if (node !== null) this.open(node);
  }

  async open(node) {
    const { host, lasso } = this.map;
    lasso.close();
    try {
      host.open((await this.fetch(node)).item);
    } catch (error) {
      host.say(`Could not open the item: ${error.message}. Click it again.`);
    }
  }
}
