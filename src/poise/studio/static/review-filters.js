import { button, element, select } from "./dom.js";
import { clamp } from "./geometry.js";
import { ASSISTED, AssistantChips } from "./review-assistants.js";
import { EVERYTHING } from "./review-listing.js";

export const SHOW = {
  all: ["All", "There are no items in this project."],
  labelled: ["Labelled", "Nothing labelled yet. Press Esc to label the first item."],
  predicted: ["Predicted", "No predictions yet. They need a few labels first."],
  unsure: ["Unsure", "No item is set aside as unsure. Press x on the label screen to set one aside."],
  skipped: ["Skipped", "No items are skipped."],
  suspicious: ["Suspicious", "No label is more likely wrong than right."],
  disagreed: ["Disagreed", "People agree on all items that several of them were asked about."],
  [ASSISTED]: ["By assistants", "This assistant has no answers."],
};
const SORT = {
  order: "Source order",
  confidence: "Least confident first",
  "-confidence": "Most confident first",
  suspicion: "Most suspicious first",
  time: "Newest label first",
};
const TYPING_MS = 120; // letters typed faster are one search

// Which items are listed, in which order. `changed()` is called after every change.
export class Filters {
  constructor(values, changed, views) {
    Object.assign(this, { values, changed });
    const share = (name) => element("input", { type: "number", min: 0, max: 100, step: 5, "aria-label": name });
    this.fields = {
      class: element("select", { "aria-label": "Class" }),
      from: share("Minimum confidence in per cent"),
      to: share("Maximum confidence in per cent"),
      sort: select("Order", SORT),
      text: element("input", {
        type: "search",
        placeholder: "Search texts and names",
        "aria-label": "Search texts and names",
        maxLength: 1000,
      }),
    };
    const { from, to, sort, text } = this.fields;
    const range = element("span", "range", "Confidence", from, "to", to, "%");
    const rest = element("div", { className: "rest", id: "review-rest" }, this.fields.class, range, sort, text);
    const shows = Object.entries(SHOW).filter(([value]) => value !== ASSISTED);
    this.chips = shows.map(([value, [words]]) => button({ className: "chip", value }, words));
    this.assistants = new AssistantChips((assistant) => this.set({ show: ASSISTED, assistant }));
    this.offer("disagreed", false);
    this.like = button({ className: "chip", hidden: true });
    this.more = button({ className: "chip more", "aria-expanded": "false", "aria-controls": rest.id }, "Filters");
    this.root = element(
      "div",
      "filters",
      element(
        "div",
        { className: "chips", role: "group", "aria-label": "Show" },
        ...this.chips,
        this.assistants.root,
        this.like,
      ),
      rest,
      element("div", { className: "view", role: "group", "aria-label": "Show as" }, this.more, ...views),
    );
    this.listen();
    this.show();
  }

  listen() {
    for (const chip of this.chips) chip.addEventListener("click", () => this.set({ show: chip.value }));
    for (const name of ["class", "sort"]) {
      this.fields[name].addEventListener("change", () => this.set({ [name]: this.fields[name].value }));
    }
    for (const name of ["from", "to", "text"]) this.fields[name].addEventListener("input", () => this.typed());
    this.like.addEventListener("click", () => this.set({ like: "" }));
    this.more.addEventListener("click", () => this.open(!this.root.classList.contains("open")));
  }

  // Shows a chip only if it is of use, or chosen.
  offer(show, is) {
    const chip = this.chips.find(({ value }) => value === show);
    chip.hidden = !is && this.values.show !== show;
  }

  open(is) {
    this.root.classList.toggle("open", is);
    this.more.setAttribute("aria-expanded", is);
  }

  // `typed`: what was typed before the field existed.
  search(typed) {
    this.open(true);
    this.fields.text.focus();
    this.fields.text.select();
    if (!typed) return;
    this.fields.text.value = typed;
    this.typed();
  }

  set(change) {
    const was = this.values.show;
    const show = change.show ?? was;
    this.values = { ...this.values, ...change };
    // Suspicious labels have an order of their own.
    if (show !== was && show === "suspicious") this.values.sort = "suspicion";
    else if (show !== was && was === "suspicious") this.values.sort = "order";
    this.show();
    this.changed();
  }

  typed() {
    clearTimeout(this.typing);
    const share = ({ value }, empty) => (value === "" ? empty : clamp(Number(value) / 100, 0, 1));
    this.late = () => {
      this.late = null;
      const { from, to, text } = this.fields;
      this.set({ from: share(from, 0), to: share(to, 1), text: text.value.trim() });
    };
    this.typing = setTimeout(() => this.late?.(), TYPING_MS);
  }

  // Searches for what was typed without waiting.
  settle() {
    clearTimeout(this.typing);
    this.late?.();
  }

  show() {
    const { show, from, to, text, like } = this.values;
    this.fields.sort.options[0].textContent = like ? "Most similar first" : text ? "Best match first" : SORT.order;
    this.like.hidden = !like;
    for (const chip of this.chips) chip.setAttribute("aria-pressed", chip.value === show);
    this.assistants.show(this.values);
    const shown = { ...this.values, from: Math.round(100 * from), to: Math.round(100 * to) };
    for (const [name, field] of Object.entries(this.fields)) {
      // A field in which somebody types is only ever emptied.
      if (field !== document.activeElement || shown[name] === "") field.value = shown[name];
    }
  }

  showLike(name) {
    const words = `Similar to ${name ?? "this item"}`;
    this.like.replaceChildren(element("span", "name", words), element("span", { "aria-hidden": "true" }, " ✕"));
    this.like.title = `${words}. Click to see all items`;
    this.like.setAttribute("aria-label", `${words}. Remove`);
    this.like.setAttribute("aria-pressed", "true");
  }

  showClasses(names) {
    const options = ["", ...names].map((value) => element("option", { value }, value || "Any class"));
    this.fields.class.replaceChildren(...options);
    this.fields.class.value = this.values.class;
  }

  get narrowed() {
    return ["class", "from", "to", "text", "like"].some((name) => this.values[name] !== EVERYTHING[name]);
  }

  close() {
    clearTimeout(this.typing);
  }
}
