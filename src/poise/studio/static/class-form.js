// One class in the class editor: its name, colour, note and examples; merging and deleting it.

import { colourName, described } from "./classes.js";
import { thumbnail } from "./content.js";
import { button, element } from "./dom.js";
import { counted } from "./format.js";

const COLOURS = 12; // as many as studio.css has
const MAX_EXAMPLES = 12; // the server takes no more
const MAX_NAME_LENGTH = 200;
const MAX_NOTE_LENGTH = 2000;

const labels = (count) => counted(count, "label");
const section = (title, ...parts) => element("section", {}, element("h3", {}, title), ...parts);

// A control that keeps the keyboard focus when the form is built again.
function named(control, name) {
  control.dataset.control = name;
  return control;
}

export class ClassForm {
  // `editor` has the classes, the state and change(kind, data, words).
  constructor(panel, editor) {
    Object.assign(this, { panel, editor, shown: "", savingNote: null });
  }

  // `labelClass` is undefined where there are no classes.
  show(labelClass) {
    const { panel } = this;
    const others = this.editor.classes.map(({ name, colour }) => [name, colour]);
    const { question } = this.editor.host.state();
    const key = JSON.stringify([others, labelClass && { ...labelClass, note: null }, question?.item]);
    const field = panel.querySelector("textarea");
    // A button that is being pressed stays where it is, and so does what is being typed.
    if (key === this.shown && field) {
      if (field !== document.activeElement) field.value = labelClass.note ?? "";
      return;
    }
    this.shown = key;
    const focused = panel.contains(document.activeElement) ? document.activeElement.dataset.control : null;
    const sections = [this.name, this.colour, this.note, this.examples, this.removal];
    panel.replaceChildren(...(labelClass ? sections.map((make) => make.call(this, labelClass)) : []));
    if (focused) panel.querySelector(`[data-control="${CSS.escape(focused)}"]`)?.focus();
  }

  name({ name }) {
    const settings = { value: name, maxLength: MAX_NAME_LENGTH, autocomplete: "off", "aria-label": "Name" };
    const field = named(element("input", settings), "name");
    const rename = () => this.rename(name, field.value.trim());
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      rename();
    });
    return section("Name", element("div", "line", field, button({ onclick: rename }, "Rename")));
  }

  rename(name, to) {
    if (!to || to === name) return;
    if (this.editor.classes.some((other) => other.name === to)) {
      this.editor.say(`There is a class “${to}” already. To combine the two, merge them below.`);
      return;
    }
    this.editor.selected = to;
    this.editor.change("rename", { name, to }, `Renamed “${name}” to “${to}”.`);
  }

  colour(labelClass) {
    const swatches = [...Array(COLOURS).keys(), null].map((colour) => this.swatch(labelClass, colour));
    return section("Colour", element("div", "line swatches", ...swatches));
  }

  swatch({ name, colour: current }, colour) {
    const owner =
      colour === null ? null : this.editor.classes.find((other) => other.colour === colour && other.name !== name);
    const words = colour === null ? "No colour" : `Colour ${colour + 1}${owner ? `, swap with ${owner.name}` : ""}`;
    const done = colour === null ? `Removed the colour of “${name}”.` : `Changed the colour of “${name}”.`;
    const onclick = () => {
      if (current !== colour) this.editor.change("colour", { name, colour }, done);
    };
    const settings = {
      className: "swatch",
      title: words,
      onclick,
      "aria-label": words,
      "aria-pressed": current === colour,
    };
    const made = named(button(settings), `colour ${colour}`);
    if (colour === null) made.classList.add("none");
    else made.style.setProperty("--c", `var(${colourName({ colour })})`);
    if (owner) made.classList.add("taken");
    return made;
  }

  note({ name, note }) {
    const field = named(
      element("textarea", {
        value: note ?? "",
        maxLength: MAX_NOTE_LENGTH,
        rows: 3,
        placeholder: "What belongs to this class, and what does not",
        onchange: () => this.saveNote(),
        "aria-label": "Note",
      }),
      "note",
    );
    field.dataset.of = name;
    return section("Note", field, element("p", "quiet", "Shown when you hover over the class, and in the help (?)."));
  }

  // The note is saved however the field is left.
  saveNote() {
    const field = this.panel.querySelector("textarea");
    const labelClass = this.editor.classes.find(({ name }) => name === field?.dataset.of);
    const note = field?.value.trim();
    if (!labelClass || note === (labelClass.note ?? "") || note === this.savingNote) return;
    const { name } = labelClass;
    this.savingNote = note;
    const saved = this.editor.change("describe", { name, note }, `Changed the note of “${name}”.`);
    saved.finally(() => {
      this.savingNote = null;
    });
  }

  examples(labelClass) {
    const { question, kind } = this.editor.host.state();
    const { name } = labelClass;
    const examples = labelClass.examples ?? [];
    const set = (items, words) => this.editor.change("describe", { name, examples: items }, words);
    const frame = examples.length
      ? described({ ...labelClass, note: "" }, (item) => thumbnail(item, kind))[1]
      : element("p", "quiet", "None yet.");
    for (const [index, item] of examples.entries()) {
      const rest = examples.filter((other) => other !== item);
      const onclick = () => set(rest, `Removed an example of “${name}”.`);
      frame.children[index].append(button({ onclick, "aria-label": `Remove example ${index + 1}` }, "✕"));
    }
    const add = named(
      button(
        {
          disabled: !question || examples.includes(question.item) || examples.length >= MAX_EXAMPLES,
          onclick: () => set([...examples, question.item], `Added an example of “${name}”.`),
        },
        "Add the item on the screen",
      ),
      "add",
    );
    return section("Examples", frame, add);
  }

  removal({ name, count }) {
    const { editor } = this;
    const others = editor.classes.filter((other) => other.name !== name);
    const options = others.map((other) => new Option(other.name, other.name));
    const select = named(element("select", { "aria-label": "Class to merge into" }, ...options), "into");
    const merge = () => {
      const into = select.value;
      editor.selected = into;
      editor.change("merge", { name, into }, `Merged “${name}” into “${into}”: ${labels(count)} moved.`);
    };
    const remove = () =>
      editor.change("remove", { name }, `Deleted “${name}”${count ? `: ${labels(count)} cleared` : ""}.`);
    const merging = element(
      "div",
      { className: "line", hidden: !others.length },
      element("span", {}, count ? `Move its ${labels(count)} to` : "Merge it into"),
      select,
      button({ onclick: merge }, "Merge"),
    );
    const removing = element(
      "div",
      "line",
      element(
        "span",
        {},
        count ? `Clear its ${labels(count)}: these items may be asked about again` : "It has no labels",
      ),
      button({ className: "bad", onclick: remove }, "Delete"),
    );
    return section("Merge or delete", merging, removing);
  }
}
