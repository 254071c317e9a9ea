// The item's file, or the rest of its row in the table: shown under it as long as somebody wants it.

import { get } from "./api.js";
import { element } from "./dom.js";

export class About {
  constructor(place) {
    this.place = place;
    this.wanted = false;
    this.item = null;
  }

  toggle(item) {
    this.wanted = !this.wanted;
    this.show(item);
  }

  async show(item) {
    this.item = item;
    this.place.hidden = !this.wanted || !item;
    if (this.place.hidden) return;
    let rows;
    try {
      const { source, details } = await get(`api/about?item=${encodeURIComponent(item)}`);
      rows = details.some(([name]) => name === "File") ? details : [["Name", source], ...details];
    } catch (error) {
      rows = [["Not known", error.message]];
    }
    if (this.item !== item) return; // another one is shown by now
    const list = element("dl");
    for (const [name, value] of rows) {
      const pair = element("div");
      pair.append(element("dt", {}, name), element("dd", {}, value || "–"));
      list.append(pair);
    }
    this.place.replaceChildren(list);
  }
}
