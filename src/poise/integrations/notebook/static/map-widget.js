// The map in a notebook: the page's own, with Python in place of the server.

import { colourName } from "../../../studio/static/classes.js";
import { element } from "../../../studio/static/dom.js";
import { mountMap } from "../../../studio/static/map.js";
import { Contents } from "../../../studio/static/shown.js";
import { makeFrame, viewer } from "./frame.js";
import { Kernel } from "./kernel.js";

const arrayOf = (nodes) => Uint32Array.from(nodes).buffer;

class MapView {
  constructor(model, host, styles, signal) {
    Object.assign(this, { model, kernel: new Kernel(model) });
    this.contents = new Contents((item) => this.kernel.content(item, true));
    this.root = makeFrame(host, styles, { signal, themed: () => this.map?.recolour() });
    const place = element("div", { className: "map-place" });
    this.spoken = element("p", { className: "unseen", "aria-live": "polite" });
    this.frame = element("div", { className: "map-widget" }, place, this.spoken);
    this.root.append(this.frame);
    this.map = mountMap(place, this.host());
    const show = () => this.map.update(model.get("_state"));
    show();
    model.on("change:_state", show);
    signal.addEventListener("abort", () => {
      model.off("change:_state", show);
      this.map.close();
      this.kernel.close();
    });
  }

  get state() {
    return this.model.get("_state");
  }

  // What the map asks of its surroundings.
  host() {
    const { kernel } = this;
    const only = async (...request) => (await kernel.request(...request))[0];
    const bytes = async (...request) => (await kernel.request(...request))[1][0] ?? null;
    return {
      page: this.root,
      map: {
        layouts: () => only("layouts"),
        points: (layout) => bytes("points", { layout }),
        values: () => bytes("values"),
        item: (node) => only("item", { node }),
        items: async (nodes) => ({ items: nodes }),
      },
      content: (item) => (this.state.content ? this.contents.content(item, null, true) : ""),
      classes: () => this.classes(),
      open: (node) => this.select([node]),
      selected: (nodes) => this.select(nodes),
      label: this.state.learner ? (nodes, label) => only("label", { label }, [arrayOf(nodes)]) : null,
      say: (words) => {
        this.spoken.textContent = words;
      },
      // A notebook is scrolled with the wheel: the map takes it only while it has the focus.
      wantsWheel: (event) => event.ctrlKey || this.frame.matches(":focus-within"),
    };
  }

  classes() {
    const style = getComputedStyle(this.frame);
    return this.state.classes.map((labelClass) => {
      const colour = style.getPropertyValue(colourName(labelClass)).trim();
      return { ...labelClass, colour, plain: labelClass.colour == null };
    });
  }

  select(nodes) {
    return this.kernel.request("selected", {}, [arrayOf(nodes)]);
  }
}

export const widget = viewer((...parts) => new MapView(...parts));
