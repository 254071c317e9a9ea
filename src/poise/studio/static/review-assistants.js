// The filters of the review screen that list what an assistant answered.

import { button, element } from "./dom.js";

export const ASSISTED = "assisted";

export class AssistantChips {
  // `choose(name)` lists the answers of an assistant.
  constructor(choose) {
    Object.assign(this, { choose, assistants: [], values: {}, discard: null });
    this.root = element("span", "assistant-chips");
  }

  offer(assistants, discard) {
    Object.assign(this, { assistants, discard });
    this.show(this.values);
  }

  show(values) {
    this.values = values;
    const chosen = values.show === ASSISTED ? values.assistant : null;
    const key = JSON.stringify([chosen, this.assistants.map(({ name, answered }) => [name, answered])]);
    if (key === this.shown) return;
    this.shown = key;
    const focused = [...this.root.children].indexOf(document.activeElement);
    const chips = this.assistants
      .filter(({ name, answered }) => answered || name === chosen)
      .map(({ name }) =>
        button(
          { className: "chip", "aria-pressed": name === chosen, onclick: () => this.choose(name) },
          `By assistant ${name}`,
        ),
      );
    const any = this.assistants.some(({ name, answered }) => name === chosen && answered);
    const discarding = { className: "chip", onclick: () => this.discard(chosen) };
    this.root.replaceChildren(...chips, ...(any ? [button(discarding, "Discard its answers")] : []));
    this.root.children[focused]?.focus();
  }
}
