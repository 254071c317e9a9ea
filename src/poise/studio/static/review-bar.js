// The bar below the review list: how many items, a button for each class, what else a selection can do.

import { button, element } from "./dom.js";
import { items, number } from "./format.js";
import { dot } from "./review-rows.js";

export class Bar {
  // `label(name)`, `clear()`, `open()` and `showSimilar()` act on the selection.
  constructor({ label, clear, open, showSimilar }) {
    this.label = label;
    this.count = element("p", { className: "count", role: "status" });
    this.classes = element("div", { className: "classes", role: "group", "aria-label": "Label the selection as" });
    this.actions = [
      button({ onclick: () => showSimilar() }, element("kbd", {}, "l"), " Similar"),
      button({ onclick: () => clear() }, element("kbd", {}, "⌫"), " Clear label"),
      button({ onclick: () => open() }, element("kbd", {}, "Enter"), " Open"),
    ];
    this.root = element("div", "bar", this.count, this.classes, ...this.actions);
  }

  showClasses(classes, colours) {
    this.classes.replaceChildren(
      ...classes.map(({ name, key }) => {
        const cap = key ? [element("kbd", {}, key)] : [];
        return button({ onclick: () => this.label(name) }, ...cap, dot(name, colours), name);
      }),
    );
  }

  // `summary`: what the server says about the whole list.
  show(total, selected, summary) {
    const words = [items(total), selected ? `${number(selected)} selected` : "", summary].filter(Boolean).join(" · ");
    if (this.count.textContent !== words) this.count.textContent = words;
    for (const control of [...this.classes.children, ...this.actions]) control.disabled = !selected;
  }
}
