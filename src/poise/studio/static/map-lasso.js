// The lasso: a line drawn round points, and the bar that labels them or restricts questions to them.

import { items } from "./format.js";
import { fillBar } from "./map-parts.js";

const MIN_STEP_PIXELS = 3; // between two corners of the line

export class Lasso {
  // `map` has the view and the host; `bar` is the element; `changed(on)` tells that it was switched.
  constructor(map, bar, changed) {
    Object.assign(this, { map, bar, changed, on: false });
    this.line = null; // while it is drawn, in the map's units
    this.chosen = null; // { polygon, nodes } while the bar is open
  }

  // Those that the chosen items can get now.
  get classes() {
    return this.chosen && this.map.host.label ? this.map.host.classes() : [];
  }

  set(on) {
    this.on = on;
    this.changed(on);
    if (on) this.map.host.say("Draw a line round the items you want.");
  }

  draw(line) {
    this.line = line;
    this.map.view.setLine(line ?? this.chosen?.polygon);
  }

  extend(left, top, first) {
    if (first) {
      this.close();
      this.map.card.point(null);
    } else if (!this.line || Math.hypot(left - this.corner[0], top - this.corner[1]) < MIN_STEP_PIXELS) return;
    this.corner = [left, top];
    this.draw([...(first ? [] : this.line), ...this.map.view.under(left, top)]);
  }

  end() {
    const { line } = this;
    this.draw(null);
    if (line?.length >= 6) this.choose(line);
  }

  cancel() {
    this.draw(null);
  }

  chooseView() {
    const { view } = this.map;
    const { width, height } = view.size;
    const corners = [
      [0, 0],
      [width, 0],
      [width, height],
      [0, height],
    ];
    this.choose(corners.flatMap((corner) => view.under(...corner)));
  }

  choose(polygon) {
    const { host, values, view } = this.map;
    const nodes = view.inside(polygon);
    if (!nodes.length) {
      host.say("No item is inside that line. Draw it round some points.");
      return;
    }
    this.chosen = { polygon, nodes };
    const labelled = nodes.filter((node) => values.labels[node]).length;
    fillBar(this.bar, nodes.length, labelled, host.classes(), {
      label: host.label && ((name) => this.label(name)),
      restrict: host.restrict && (() => this.restrict()),
      cancel: () => this.close(),
    });
    this.bar.setAttribute("aria-label", `${items(nodes.length)} selected`);
    this.bar.hidden = false;
    this.bar.focus();
    view.setLine(polygon);
    host.selected?.(nodes);
  }

  // Closes the bar; nothing is selected any more.
  close() {
    if (!this.chosen) return;
    this.chosen = null;
    if (this.bar.matches(":focus-within")) this.map.canvas.focus();
    this.bar.hidden = true;
    this.map.view.setLine(null);
    this.map.host.selected?.([]);
  }

  label(name) {
    const total = items(this.chosen.nodes.length);
    this.act("label them", (ids) => this.map.host.label(ids, name), `Labelled ${total} as ${name}.`);
  }

  restrict() {
    const total = items(this.chosen.nodes.length);
    this.act("restrict the questions", (ids) => this.map.host.restrict(ids), `Asking only about ${total}.`);
  }

  // Does `work` with the ids of the chosen items; the bar stays until it is done.
  async act(purpose, work, done) {
    const { chosen, map } = this;
    if (chosen.acting) return;
    chosen.acting = true;
    const buttons = this.bar.querySelectorAll("button");
    for (const button of buttons) button.disabled = true;
    try {
      const { items: ids } = await map.host.map.items(chosen.nodes);
      await work(ids);
      if (map.closed) return;
      map.host.say(done);
      if (this.chosen === chosen) this.close();
    } catch (error) {
      chosen.acting = false;
      for (const button of buttons) button.disabled = false;
      this.bar.querySelector(".map-problem").textContent = `Could not ${purpose}: ${error.message}. Try again.`;
    }
  }

  // One step back: the line, the bar, the lasso itself. Whether there was anything to leave.
  leave() {
    if (this.line) this.cancel();
    else if (this.chosen) this.close();
    else if (this.on) this.set(false);
    else return false;
    return true;
  }
}
