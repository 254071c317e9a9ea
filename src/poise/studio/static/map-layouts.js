// The layouts of the map: which there are, which one is shown, and waiting for one that is computed.

import { button, element } from "./dom.js";
import { percent } from "./format.js";
import { segments } from "./map-parts.js";

const POLL_MS = 1000;

export class Layouts {
  // `map` has the host; `choice` is the element in which a person chooses.
  constructor(map) {
    Object.assign(this, { map, choice: element("div") });
    this.turn = 0; // grows with every choice of a layout: answers to an earlier one are dropped
  }

  // Shows a layout, by default the first that is ready; one that is not is started and waited for.
  async choose(name) {
    this.turn += 1;
    const { map, turn } = this;
    const stale = () => turn !== this.turn || map.closed;
    try {
      for (let started = false; ; started = true) {
        const { n, layouts } = await map.host.map.layouts();
        if (stale()) return;
        const wanted =
          layouts.find((layout) => layout.name === name) ?? layouts.find(({ ready }) => ready) ?? layouts[0];
        this.offer(layouts, wanted.name);
        if (wanted.error) throw new Error(wanted.error);
        if (wanted.ready) {
          const bytes = await map.host.map.points(wanted.name);
          if (!stale()) await map.show(wanted.name, n, bytes);
          return;
        }
        const share = wanted.progress == null ? "" : ` ${percent(wanted.progress)}`;
        map.tell(`Computing the layout “${wanted.title}”…${share}`);
        if (!started) await map.host.map.points(wanted.name);
        await new Promise((done) => {
          setTimeout(done, POLL_MS);
        });
        if (stale()) return;
      }
    } catch (error) {
      if (stale()) return;
      map.tell(`Could not load the map: ${error.message}. `, button({ onclick: () => this.choose(name) }, "Try again"));
    }
  }

  offer(layouts, chosen) {
    const key = JSON.stringify([layouts.map((layout) => layout.name), chosen]);
    if (layouts.length < 2 || this.choice.dataset.key === key) return;
    this.choice.dataset.key = key;
    const focused = this.choice.matches(":focus-within");
    const choices = layouts.map((layout) => [layout.name, layout.title]);
    this.choice.replaceChildren(segments("Layout", "map-layout", choices, chosen, (name) => this.choose(name)));
    if (focused) this.choice.querySelector(":checked").focus();
  }
}
