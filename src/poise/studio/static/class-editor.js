// The card in which classes are renamed, merged, deleted, coloured, ordered and described. Every change
// is an event like any other: the line at the bottom undoes it, and so does u later on.

import { ClassForm } from "./class-form.js";
import { dot } from "./classes.js";
import { button, element } from "./dom.js";
import { number } from "./format.js";

export class ClassEditor {
  // `host`: state(), and change(kind, data), which resolves with the number of the event or throws the
  // reason why the server refuses it.
  constructor(dialog, host) {
    Object.assign(this, { dialog, host, selected: null, position: 0 });
    const part = (name) => dialog.querySelector(`.${name}`);
    this.parts = { filter: part("filter"), list: part("list"), moves: part("moves"), status: part("status") };
    this.form = new ClassForm(part("about"), this);
    this.parts.filter.addEventListener("input", () => this.showList());
    this.parts.list.addEventListener("keydown", (event) => this.press(event));
    dialog.addEventListener("close", () => this.form.saveNote());
  }

  open(name) {
    this.selected = name ?? this.classes[0]?.name ?? null;
    this.parts.filter.value = "";
    this.parts.status.replaceChildren();
    this.dialog.showModal();
    this.shown = "";
    this.update();
    (this.parts.list.querySelector("[aria-current]") ?? this.parts.filter).focus();
  }

  get classes() {
    return this.host.state().classes;
  }

  // After any change of the state.
  update() {
    if (!this.dialog.open) return;
    const { classes } = this;
    const key = () => JSON.stringify([classes, this.selected]);
    if (key() === this.shown) return;
    if (!classes.some(({ name }) => name === this.selected)) {
      this.selected = classes[Math.min(this.position, classes.length - 1)]?.name ?? null;
    }
    this.shown = key();
    this.showList();
    this.form.show(classes.find(({ name }) => name === this.selected));
  }

  select(name) {
    this.form.saveNote();
    this.selected = name;
    this.update();
  }

  // ---- The list ---------------------------------------------------------------------------------

  showList() {
    const { list, filter } = this.parts;
    const typed = filter.value.trim().toLowerCase();
    const focused = list.contains(document.activeElement);
    const matching = this.classes.filter(({ name }) => name.toLowerCase().includes(typed));
    this.position = Math.max(
      0,
      this.classes.findIndex(({ name }) => name === this.selected),
    );
    list.replaceChildren(...matching.map((labelClass) => this.row(labelClass)));
    if (!matching.length)
      list.append(element("li", "quiet", typed ? "No class matches." : "There are no classes yet."));
    const current = list.querySelector("[aria-current]");
    current?.scrollIntoView({ block: "nearest" });
    if (focused) current?.focus();
    this.showMoves();
  }

  showMoves() {
    const last = this.classes.length - 1;
    const targets = { First: 0, Up: this.position - 1, Down: this.position + 1, Last: last };
    const { moves } = this.parts;
    const focused = moves.contains(document.activeElement) ? document.activeElement.textContent : null;
    const buttons = Object.entries(targets).map(([words, to]) => {
      const disabled = to < 0 || to > last || to === this.position;
      return button({ disabled, onclick: () => this.move(this.selected, to) }, words);
    });
    moves.replaceChildren(
      ...buttons,
      button({ className: "sort", disabled: last < 1, onclick: () => this.sort() }, "Sort by name"),
    );
    [...moves.children].find((control) => control.textContent === focused && !control.disabled)?.focus();
  }

  row(labelClass) {
    const { name, count } = labelClass;
    const isSelected = name === this.selected;
    const control = button(
      { draggable: true, title: name, tabIndex: isSelected ? 0 : -1, onclick: () => this.select(name) },
      dot(labelClass),
      element("span", "name", name),
      element("span", "count", number(count)),
    );
    control.dataset.name = name;
    control.toggleAttribute("aria-current", isSelected);
    control.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", name));
    control.addEventListener("dragover", (event) => event.preventDefault());
    control.addEventListener("drop", (event) => {
      event.preventDefault();
      this.move(
        event.dataTransfer.getData("text/plain"),
        this.classes.findIndex((other) => other.name === name),
      );
    });
    return element("li", {}, control);
  }

  // Arrows move through the list; with Alt they move the class.
  press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    if (event.altKey) {
      this.move(this.selected, this.position + step);
      return;
    }
    const rows = [...this.parts.list.querySelectorAll("button")];
    const next = rows[rows.findIndex((row) => row.dataset.name === this.selected) + step];
    if (next) this.select(next.dataset.name);
  }

  move(name, to) {
    const names = this.classes.map((labelClass) => labelClass.name);
    if (to < 0 || to >= names.length || !names.includes(name)) return;
    names.splice(names.indexOf(name), 1);
    names.splice(to, 0, name);
    this.selected = name;
    this.change("order", { names }, `Moved “${name}” to position ${to + 1}.`);
  }

  sort() {
    const names = this.classes.map(({ name }) => name);
    names.sort(new Intl.Collator(undefined, { numeric: true }).compare);
    if (names.length) this.change("order", { names }, "Sorted the classes by name.");
  }

  // ---- Changes ----------------------------------------------------------------------------------

  async change(kind, data, words) {
    this.say("");
    try {
      const event = await this.host.change(kind, data);
      this.parts.status.replaceChildren(
        element("span", {}, words),
        button({ onclick: () => this.undo(event) }, "Undo"),
      );
    } catch (error) {
      this.say(`${error.message}.`);
    }
    this.update();
  }

  async undo(event) {
    this.say("");
    try {
      await this.host.change("undo", { event });
      this.say("Undone.");
    } catch (error) {
      this.say(`${error.message}.`);
    }
  }

  say(words) {
    this.parts.status.replaceChildren(words);
  }
}
