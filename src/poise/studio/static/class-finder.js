// A class by a few letters of its name: type, Enter gives the best one to the item on the screen.

import { dot } from "./classes.js";
import { element } from "./dom.js";

const LISTED = 60; // more is no choice any more, and takes time to draw

const plain = (words) => words.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

// How well letters fit a name, the best first: it begins so, a word in it does, they stand in it
// together, they stand in it in this order. Infinity if they do not.
export function fit(typed, name) {
  const letters = plain(typed.trim());
  const words = plain(name);
  if (words === letters) return 0;
  if (words.startsWith(letters)) return 1;
  const place = words.indexOf(letters);
  if (place > 0) return /[\p{L}\p{N}]/u.test(words[place - 1]) ? 3 : 2;
  let from = 0;
  for (const letter of letters.replaceAll(" ", "")) {
    from = words.indexOf(letter, from) + 1;
    if (!from) return Infinity;
  }
  return 4;
}

// The classes that fit, the best first; among equals the shorter name, then the order of the column.
// With nothing typed, what the model guesses comes first.
export function found(typed, classes, guess) {
  if (!typed.trim()) return [...classes].sort((a, b) => (b.name === guess) - (a.name === guess));
  return classes
    .map((one) => [fit(typed, one.name), one])
    .filter(([fits]) => fits < Infinity)
    .sort(([a, one], [b, other]) => a - b || (a < 4 ? one.name.length - other.name.length : 0))
    .map(([, one]) => one);
}

export class ClassFinder {
  // `choose(name)` gives a class, `make(name)` a new one.
  constructor(dialog, { choose, make }) {
    Object.assign(this, { dialog, choose, make, options: [], at: 0 });
    this.field = dialog.querySelector("input");
    this.list = dialog.querySelector("ul");
    this.words = dialog.querySelector("p");
    this.field.addEventListener("input", () => this.search());
    this.field.addEventListener("keydown", (event) => this.press(event));
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  }

  open(classes, guess, purpose) {
    Object.assign(this, { classes, guess });
    this.field.value = "";
    this.field.setAttribute("aria-label", purpose);
    this.field.placeholder = purpose;
    this.dialog.showModal();
    this.search();
  }

  search() {
    const typed = this.field.value.trim();
    const fitting = found(typed, this.classes, this.guess);
    const exact = this.classes.some((one) => one.name === typed);
    const offer = typed && !exact ? [{ make: typed }] : [];
    this.options = [...fitting.slice(0, LISTED), ...offer];
    // A new class is never made by the Enter that was meant for one that is there.
    this.at = fitting.length ? 0 : -1;
    const more = fitting.length - LISTED;
    this.words.textContent = more > 0 ? `and ${more} more: type on`
      : fitting.length || !typed ? "" : "No class has such a name. Enter offers to make it.";
    this.list.replaceChildren(...this.options.map((one, place) => this.row(one, place)));
    this.mark();
  }

  row(one, place) {
    const row = element("li");
    row.id = `finder-${place}`;
    row.setAttribute("role", "option");
    if (one.make) row.append(element("span", "name", `Make “${one.make}” a new class`));
    else row.append(element("kbd", {}, one.key || one.code || " "), dot(one), element("span", "name", one.name), element("span", "count", String(one.count)));
    row.title = one.note ? `${one.name}\n${one.note}` : one.name ?? "";
    row.addEventListener("click", () => this.take(one));
    return row;
  }

  mark() {
    [...this.list.children].forEach((row, place) => row.setAttribute("aria-selected", String(place === this.at)));
    const row = this.list.children[this.at];
    row?.scrollIntoView({ block: "nearest" });
    this.field.setAttribute("aria-activedescendant", row?.id ?? "");
  }

  press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.options.length) {
      event.preventDefault();
      this.at = Math.min(Math.max(this.at + step, 0), this.options.length - 1);
      this.mark();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (event.repeat || event.isComposing) return;
      if (this.at >= 0) this.take(this.options[this.at]);
      else if (this.options.length) {
        this.at = 0;
        this.words.textContent = "Press Enter again to make it.";
        this.mark();
      }
    }
  }

  take(one) {
    this.dialog.close();
    if (one.make) this.make(one.make);
    else this.choose(one.name);
  }
}
