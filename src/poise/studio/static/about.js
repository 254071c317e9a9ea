// Details of the item: its file, or the rest of its row in the table. Shown until somebody closes them.

import { get } from "./api.js";
import { element } from "./dom.js";

export class About {
  constructor(panel) {
    Object.assign(this, { panel, isOn: false, item: null });
  }

  toggle(item) {
    this.isOn = !this.isOn;
    this.show(item);
  }

  async show(item) {
    this.item = item;
    this.panel.hidden = !this.isOn || !item;
    if (this.panel.hidden) return;
    const rows = await this.fetch(item);
    if (this.item !== item) return; // another one is shown by now
    this.panel.replaceChildren(
      element(
        "dl",
        {},
        ...rows.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value || "–"))),
      ),
    );
  }

  async fetch(item) {
    try {
      const { source, details } = await get(`api/about?item=${encodeURIComponent(item)}`);
      return details.some(([name]) => name === "File") ? details : [["Name", source], ...details];
    } catch (error) {
      return [["Unknown", error.message]];
    }
  }
}
