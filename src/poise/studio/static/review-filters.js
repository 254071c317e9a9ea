import { button, element, select } from "./dom.js";
import { clamp } from "./geometry.js";
import { EVERYTHING } from "./review-listing.js";

export const SHOW = {
  all: ["All", "There are no items in this project."],
  labelled: ["Labelled", "Nothing labelled yet. Press Esc and label the first item."],
  predicted: ["Predicted", "No predictions yet: they come with the first labels."],
  unsure: ["Unsure", "Nothing is set aside as unsure. On the label screen, x sets an item aside."],
  skipped: ["Skipped", "Nothing is skipped."],
  suspicious: ["Suspicious", "No label is suspicious: none is more likely wrong than right."],
  disagreed: ["Disagreed", "Nobody disagrees about the items that several people were asked about."],
};
const SORT = {
  order: "As in the source",
  confidence: "Least sure first",
  "-confidence": "Surest first",
  suspicion: "Most suspicious first",
  time: "Latest label first",
};
// In milliseconds: letters typed faster are one search.
const TYPING = 120;

// Which items, in which order; `changed` comes after every change.
export class Filters {
  constructor(values, changed, views) {
    Object.assign(this, { values, changed });
    const share = (name) => element("input", { type: "number", min: 0, max: 100, step: 5, "aria-label": name });
    this.fields = {
      class: element("select", { "aria-label": "Class" }),
      from: share("Confidence from, in per cent"),
      to: share("Confidence to, in per cent"),
      sort: select("Order", SORT),
      text: element("input", { type: "search", placeholder: "Search texts and names", "aria-label": "Search texts and names", maxLength: 1000 }),
    };
    const { from, to, sort, text } = this.fields;
    const range = element("span", "range", "Confidence", from, "to", to, "%");
    const rest = element("div", { className: "rest", id: "review-rest" }, this.fields.class, range, sort, text);
    this.chips = Object.entries(SHOW).map(([value, [words]]) => button({ className: "chip", value }, words));
    this.offer("disagreed", false);
    this.like = button({ className: "chip", hidden: true });
    this.more = button({ className: "chip more", "aria-expanded": "false", "aria-controls": rest.id }, "Filters");
    this.root = element("div", "filters",
      element("div", { className: "chips", role: "group", "aria-label": "Show" }, ...this.chips, this.like), rest,
      element("div", { className: "view", role: "group", "aria-label": "Show as" }, this.more, ...views));
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

  // What is not worth a chip is not shown, unless it is being looked at.
  offer(show, is) {
    const chip = this.chips.find(({ value }) => value === show);
    chip.hidden = !is && this.values.show !== show;
  }

  open(is) {
    this.root.classList.toggle("open", is);
    this.more.setAttribute("aria-expanded", is);
  }

  // `typed`: what was typed before the field was there.
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
    // Suspicious labels come in their own order, and it goes with them.
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
    this.typing = setTimeout(() => this.late?.(), TYPING);
  }

  // What was typed counts now.
  settle() {
    clearTimeout(this.typing);
    this.late?.();
  }

  show() {
    const { show, from, to, text, like } = this.values;
    this.fields.sort.options[0].textContent = like ? "Nearest first" : text ? "Best fit first" : SORT.order;
    this.like.hidden = !like;
    for (const chip of this.chips) chip.setAttribute("aria-pressed", chip.value === show);
    const shown = { ...this.values, from: Math.round(100 * from), to: Math.round(100 * to) };
    for (const [name, field] of Object.entries(this.fields)) {
      // Nobody's typing is overwritten, except by emptying.
      if (field !== document.activeElement || shown[name] === "") field.value = shown[name];
    }
  }

  showLike(name) {
    const words = `Like ${name ?? "this item"}`;
    this.like.replaceChildren(element("span", "name", words), element("span", { "aria-hidden": "true" }, " ✕"));
    this.like.title = `${words}: click to see all items again`;
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
