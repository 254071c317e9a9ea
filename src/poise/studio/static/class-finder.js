// Finds a class by a few letters of its name: type them, and Enter labels the item with the best match.

import { dot } from "./classes.js";
import { element } from "./dom.js";
import { number } from "./format.js";

const MAX_LISTED = 60; // more are no help in choosing, and take time to draw
const SUBSEQUENCE = 4; // the worst rank of a match

const plain = (words) => words.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

// How well typed letters match a name, 0 for the best: the name is that, begins with it, has a word that
// begins with it, contains it, contains its letters in this order. Infinity if they do not match.
export function rank(typed, name) {
  const letters = plain(typed.trim());
  const words = plain(name);
  if (words === letters) return 0;
  if (words.startsWith(letters)) return 1;
  const start = words.indexOf(letters);
  if (start > 0) return /[\p{L}\p{N}]/u.test(words[start - 1]) ? 3 : 2;
  let from = 0;
  for (const letter of letters.replaceAll(" ", "")) {
    from = words.indexOf(letter, from) + 1;
    if (!from) return Infinity;
  }
  return SUBSEQUENCE;
}

// The classes that match, the best first; among equals the shorter name, then the order of the column.
// With nothing typed, the model's guess comes first.
export function matches(typed, classes, guess) {
  if (!typed.trim()) return [...classes].sort((a, b) => (b.name === guess) - (a.name === guess));
  return classes
    .map((labelClass) => [rank(typed, labelClass.name), labelClass])
    .filter(([order]) => order < Infinity)
    .sort(([a, { name }], [b, other]) => a - b || (a < SUBSEQUENCE ? name.length - other.name.length : 0))
    .map(([, labelClass]) => labelClass);
}

export class ClassFinder {
  // `choose(name)` labels with a class, `make(name)` with a new one.
  constructor(dialog, { choose, make }) {
    Object.assign(this, { dialog, choose, make, options: [], current: 0 });
    this.field = dialog.querySelector("input");
    this.list = dialog.querySelector("ul");
    this.note = dialog.querySelector("p");
    this.field.addEventListener("input", () => this.search());
    this.field.addEventListener("keydown", (event) => this.press(event));
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
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
    const matching = matches(typed, this.classes, this.guess);
    const exact = this.classes.some((labelClass) => labelClass.name === typed);
    const offer = typed && !exact ? [{ make: typed }] : [];
    this.options = [...matching.slice(0, MAX_LISTED), ...offer];
    // The Enter that was meant for an existing class must not create one.
    this.current = matching.length ? 0 : -1;
    const more = matching.length - MAX_LISTED;
    this.note.textContent =
      more > 0
        ? `and ${number(more)} more: type on`
        : matching.length || !typed
          ? ""
          : "No class matches. Press Enter to create it.";
    this.list.replaceChildren(...this.options.map((option, index) => this.row(option, index)));
    this.mark();
  }

  row(option, index) {
    const { make, name, note, key, code, count } = option;
    const parts = make
      ? [element("span", "name", `Create class “${make}”`)]
      : [
          element("kbd", {}, key || code || " "),
          dot(option),
          element("span", "name", name),
          element("span", "count", number(count)),
        ];
    const row = element("li", { id: `finder-${index}`, role: "option" }, ...parts);
    row.title = note ? `${name}\n${note}` : (name ?? "");
    row.addEventListener("click", () => this.take(option));
    return row;
  }

  mark() {
    for (const [index, row] of [...this.list.children].entries()) {
      row.setAttribute("aria-selected", String(index === this.current));
    }
    const row = this.list.children[this.current];
    row?.scrollIntoView({ block: "nearest" });
    this.field.setAttribute("aria-activedescendant", row?.id ?? "");
  }

  press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.options.length) {
      event.preventDefault();
      this.current = Math.min(Math.max(this.current + step, 0), this.options.length - 1);
      this.mark();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (!event.repeat && !event.isComposing) this.enter();
    }
  }

  // The first Enter only marks the offer of a new class, the second creates it.
  enter() {
    if (this.current >= 0) this.take(this.options[this.current]);
    else if (this.options.length) {
      this.current = 0;
      this.note.textContent = "Press Enter again to create it.";
      this.mark();
    }
  }

  take({ make, name }) {
    this.dialog.close();
    if (make) this.make(make);
    else this.choose(name);
  }
}
