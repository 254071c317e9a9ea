// The keys and clicks of the review screen.

import { clamp } from "./geometry.js";
import { keyOf } from "./keys.js";

export class ReviewInput {
  // `review` has the list, its selection and what can be done with it.
  constructor(review) {
    this.review = review;
  }

  press(event) {
    const { key, target } = event;
    const inField = target.closest("input, select");
    const act = inField ? this.inField(key, target) : this.inList(event, target.closest("button"));
    if (act) {
      event.preventDefault();
      act();
    }
    // What is typed into a field is not for the rest of the page; Esc is.
    if (act || (inField && key !== "Escape")) event.stopPropagation();
  }

  inField(key, field) {
    const { filters } = this.review;
    if (field !== filters.fields.text) return null;
    if (key === "Escape" && field.value) return () => filters.set({ text: "" });
    return key === "Enter" || key === "ArrowDown" ? () => this.review.enter() : null;
  }

  click(event) {
    const node = event.target.closest("[data-item]");
    if (!node) return;
    const { list, selection } = this.review;
    const index = Number(node.dataset.index);
    if (event.ctrlKey || event.metaKey || event.target.closest(".mark")) selection.toggle(index);
    else selection.choose(index, event.shiftKey);
    list.focus();
  }

  // What the key does, or null. `control` is the button that has the focus.
  inList(event, control) {
    const { filters, host, listing, selection, wall } = this.review;
    const key = keyOf(event, host.classes());
    if (event.altKey) return null;
    if (event.ctrlKey || event.metaKey) return key === "a" ? () => selection.select(0, listing.total - 1) : null;
    if (control && (key === "Enter" || key === " ")) return null;
    const steps = wall.steps();
    if (key in steps) return () => this.walk(steps[key], event.shiftKey);
    if (key === "Enter") return () => this.review.open();
    if (key === " ") return () => selection.toggle(selection.cursor);
    if (key === "Backspace" || key === "Delete") return () => event.repeat || this.review.correct(null);
    const labelClass = host.classes().find((candidate) => candidate.key && candidate.key === key);
    if (labelClass) return () => event.repeat || this.review.correct(labelClass.name);
    const own = { l: () => this.review.showSimilar(), u: () => host.undo(), "/": () => filters.search() }[key];
    return own ? () => event.repeat || own() : null;
  }

  walk(step, extend) {
    const { list, listing, selection, wall } = this.review;
    if (!listing.total) return;
    let from = selection.cursor;
    // Without a cursor, or if its item is gone, the next row is the one that took its place.
    if (from < 0) from = Math.ceil(wall.top / wall.line) * wall.across - (step > 0 ? step : -1);
    else if (selection.adrift && step > 0) from -= 1;
    const to = clamp(Number.isFinite(step) ? from + step : step, 0, listing.total - 1);
    selection.choose(to, extend);
    wall.reveal(to);
    list.focus();
  }
}
