// The card in which classes are renamed, merged, deleted, coloured, ordered and described. Every change
// is an event like any other: the line at the foot takes it back, and so does u later on.

import { colourName, described, dot } from "./classes.js";
import { button, element } from "./dom.js";
import { counted, number } from "./format.js";

const COLOURS = 12;
const labels = (count) => counted(count, "label");

export class ClassEditor {
  // `host`: state(), change(kind, data) -> number of the event, or throws why not; make() a new class.
  constructor(dialog, host) {
    Object.assign(this, { dialog, host, selected: null, place: 0 });
    const part = (name) => dialog.querySelector(`.${name}`);
    this.parts = { filter: part("filter"), list: part("list"), about: part("about"), moves: part("moves"), status: part("status") };
    this.parts.filter.addEventListener("input", () => this.showList());
    this.parts.list.addEventListener("keydown", (event) => this.press(event));
    dialog.addEventListener("close", () => this.keepNote());
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
    const now = JSON.stringify([classes, this.selected]);
    if (now === this.shown) return;
    if (!classes.some((one) => one.name === this.selected)) {
      this.selected = classes[Math.min(this.place, classes.length - 1)]?.name ?? null;
    }
    this.shown = JSON.stringify([classes, this.selected]);
    this.showList();
    this.showAbout();
  }

  select(name) {
    this.keepNote();
    this.selected = name;
    this.update();
  }

  // ---- The list ---------------------------------------------------------------------------------

  showList() {
    const { list, filter } = this.parts;
    const typed = filter.value.trim().toLowerCase();
    const focused = list.contains(document.activeElement);
    const fitting = this.classes.filter((one) => one.name.toLowerCase().includes(typed));
    this.place = Math.max(0, this.classes.findIndex((one) => one.name === this.selected));
    list.replaceChildren(...fitting.map((one) => this.row(one)));
    if (!fitting.length) list.append(element("li", "quiet", typed ? "No class has these letters." : "There is no class yet."));
    const current = list.querySelector("[aria-current]");
    current?.scrollIntoView({ block: "nearest" });
    if (focused) current?.focus();
    this.showMoves();
  }

  showMoves() {
    const last = this.classes.length - 1;
    const places = { First: 0, Up: this.place - 1, Down: this.place + 1, Last: last };
    const held = document.activeElement?.closest(".moves") ? document.activeElement.textContent : null;
    const moves = Object.entries(places).map(([words, to]) => {
      const made = button({ onclick: () => this.move(this.selected, to) }, words);
      made.disabled = to < 0 || to > last || to === this.place;
      return made;
    });
    const sort = button({ className: "sort", onclick: () => this.sort() }, "Sort by name");
    sort.disabled = last < 1;
    this.parts.moves.replaceChildren(...moves, sort);
    [...this.parts.moves.children].find((made) => made.textContent === held && !made.disabled)?.focus();
  }

  row(one) {
    const made = button({ onclick: () => this.select(one.name) });
    made.draggable = true;
    made.dataset.name = one.name;
    made.title = one.name;
    made.toggleAttribute("aria-current", one.name === this.selected);
    made.tabIndex = one.name === this.selected ? 0 : -1;
    made.append(dot(one), element("span", "name", one.name), element("span", "count", number(one.count)));
    made.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", one.name));
    made.addEventListener("dragover", (event) => event.preventDefault());
    made.addEventListener("drop", (event) => {
      event.preventDefault();
      this.move(event.dataTransfer.getData("text/plain"), this.classes.findIndex((other) => other.name === one.name));
    });
    const row = element("li");
    row.append(made);
    return row;
  }

  // Arrows walk through the list; with Alt they take the class along.
  press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    if (event.altKey) {
      this.move(this.selected, this.place + step);
      return;
    }
    const rows = [...this.parts.list.querySelectorAll("button")];
    const next = rows[rows.findIndex((row) => row.dataset.name === this.selected) + step];
    if (next) this.select(next.dataset.name);
  }

  move(name, to) {
    const names = this.classes.map((one) => one.name);
    if (to < 0 || to >= names.length || !names.includes(name)) return;
    names.splice(names.indexOf(name), 1);
    names.splice(to, 0, name);
    this.selected = name;
    this.change("order", { names }, `Moved “${name}” to place ${to + 1}.`);
  }

  sort() {
    const names = this.classes.map((one) => one.name);
    names.sort(new Intl.Collator(undefined, { numeric: true }).compare);
    if (names.length) this.change("order", { names }, "Sorted the classes by name.");
  }

  // ---- One class --------------------------------------------------------------------------------

  showAbout() {
    const one = this.classes.find((other) => other.name === this.selected);
    const others = this.classes.map(({ name, colour }) => [name, colour]);
    const now = JSON.stringify([others, one && { ...one, note: null }, this.host.state().question?.item]);
    const field = this.parts.about.querySelector("textarea");
    // A button that is being pressed stays in its place, and so does what is being typed.
    if (now === this.about && field) {
      if (field !== document.activeElement) field.value = one.note ?? "";
      return;
    }
    this.about = now;
    const held = document.activeElement?.closest(".about") ? document.activeElement.dataset.control : null;
    this.parts.about.replaceChildren(...(one ? [this.name(one), this.colour(one), this.note(one), this.examples(one), this.end(one)] : []));
    if (held) this.parts.about.querySelector(`[data-control="${CSS.escape(held)}"]`)?.focus();
  }

  section(title, ...parts) {
    const made = element("section");
    made.append(element("h3", {}, title), ...parts);
    return made;
  }

  name(one) {
    const field = element("input");
    Object.assign(field, { value: one.name, maxLength: 200, autocomplete: "off" });
    field.dataset.control = "name";
    field.setAttribute("aria-label", "Name");
    const rename = () => {
      const to = field.value.trim();
      if (!to || to === one.name) return;
      const other = this.classes.find((each) => each.name === to);
      if (other) {
        this.say(`There is a class “${to}” already. To put the two together, merge them below.`);
        return;
      }
      this.selected = to;
      this.change("rename", { name: one.name, to }, `Renamed “${one.name}” to “${to}”.`);
    };
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      rename();
    });
    const row = element("div", "line");
    row.append(field, button({ onclick: rename }, "Rename"));
    return this.section("Name", row);
  }

  colour(one) {
    const row = element("div", "line swatches");
    for (const colour of [...Array(COLOURS).keys(), null]) {
      const owner = colour === null ? null : this.classes.find((other) => other.colour === colour);
      const done = colour === null ? `“${one.name}” has no colour now.` : `Changed the colour of “${one.name}”.`;
      const swatch = button({
        className: colour === null ? "swatch none" : "swatch",
        onclick: () => { if (one.colour !== colour) this.change("colour", { name: one.name, colour }, done); },
      });
      const taken = owner && owner.name !== one.name;
      const words = colour === null ? "No colour" : `Colour ${colour + 1}${taken ? `, now of ${owner.name}: they swap` : ""}`;
      swatch.title = words;
      swatch.setAttribute("aria-label", words);
      swatch.setAttribute("aria-pressed", String(one.colour === colour));
      swatch.dataset.control = `colour ${colour}`;
      if (colour !== null) swatch.style.setProperty("--c", `var(${colourName({ colour })})`);
      if (taken) swatch.classList.add("taken");
      row.append(swatch);
    }
    return this.section("Colour", row);
  }

  note(one) {
    const field = element("textarea");
    Object.assign(field, { value: one.note ?? "", maxLength: 2000, rows: 3, placeholder: "What belongs here, and what does not" });
    field.dataset.control = "note";
    field.dataset.of = one.name;
    field.setAttribute("aria-label", "Note");
    field.addEventListener("change", () => this.keepNote());
    return this.section("Note", field, element("p", "quiet", "Shown when the pointer rests on the class, and under ?."));
  }

  // What was typed is kept, however the field is left.
  keepNote() {
    const field = this.parts.about.querySelector("textarea");
    const one = this.classes.find((other) => other.name === field?.dataset.of);
    const note = field?.value.trim();
    if (!one || note === (one.note ?? "") || note === this.keeping) return;
    this.keeping = note;
    this.change("describe", { name: one.name, note }, `Changed the note of “${one.name}”.`).finally(() => { this.keeping = null; });
  }

  examples(one) {
    const { question, kind } = this.host.state();
    const given = one.examples ?? [];
    const frame = given.length ? described({ ...one, note: "" }, kind)[1] : element("p", "quiet", "None yet.");
    if (given.length) {
      [...frame.children].forEach((shown, place) => {
        const rest = given.filter((_, other) => other !== place);
        const onclick = () => this.exemplify(one, rest, `Took away an example of “${one.name}”.`);
        const gone = button({ onclick }, "✕");
        gone.setAttribute("aria-label", `Take away example ${place + 1}`);
        shown.append(gone);
      });
    }
    const onclick = () => this.exemplify(one, [...given, question.item], `Added an example of “${one.name}”.`);
    const add = button({ onclick }, "Add the item on the screen");
    add.dataset.control = "add";
    add.disabled = !question || given.includes(question.item) || given.length >= 12;
    return this.section("Examples", frame, add);
  }

  exemplify(one, examples, words) {
    this.change("describe", { name: one.name, examples }, words);
  }

  end(one) {
    const others = this.classes.filter((other) => other.name !== one.name);
    const choose = element("select");
    choose.setAttribute("aria-label", "The class to merge into");
    choose.dataset.control = "into";
    for (const other of others) choose.append(new Option(other.name, other.name));
    const merging = element("div", "line");
    const merge = () => {
      const into = choose.value;
      this.selected = into;
      this.change("merge", { name: one.name, into }, `Merged “${one.name}” into “${into}”: ${labels(one.count)} moved.`);
    };
    merging.append(element("span", {}, one.count ? `Give its ${labels(one.count)} to` : "Merge it into"), choose, button({ onclick: merge }, "Merge"));
    merging.hidden = !others.length;
    const deleted = `Deleted “${one.name}”${one.count ? `: ${labels(one.count)} cleared` : ""}.`;
    const remove = button({ className: "bad", onclick: () => this.change("remove", { name: one.name }, deleted) }, "Delete");
    const removing = element("div", "line");
    removing.append(element("span", {}, one.count ? `Clear its ${labels(one.count)}: these items may be asked again` : "It has no labels"), remove);
    return this.section("Merge or delete", merging, removing);
  }

  // ---- What happens -------------------------------------------------------------------------------

  async change(kind, data, words) {
    this.say("");
    try {
      const event = await this.host.change(kind, data);
      const undo = button({ onclick: () => this.takeBack(event) }, "Undo");
      this.parts.status.replaceChildren(element("span", {}, words), undo);
    } catch (error) {
      this.say(`${error.message}.`);
    }
    this.update();
  }

  async takeBack(event) {
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
