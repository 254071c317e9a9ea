// The column of classes: keys, colours, names, counts; groups of names such as "bird/owl"; what was
// said about a class; the width of the column.

import { content } from "./content.js";
import { button, element } from "./dom.js";
import { number } from "./format.js";

const WIDTH = "poise-classes-width";
const FOLDED = "poise-folded-groups";
const USUAL = 240; // pixels, as classes.css has it
const NARROWEST = 160;
const WIDEST = 560;
const STEP = 16; // pixels that an arrow key moves the edge
const MANY = 20; // classes from which on rows are low
const RESTING = 350; // milliseconds that the pointer rests on a class before its card is shown

// The name of a class's colour in the style sheet. Classes beyond the palette have none: what must be
// painted all the same, such as a point on the map, is painted in the colour of text.
export const colourName = (one) => (one?.colour == null ? "--text" : `--c${one.colour}`);

export function dot(one) {
  const made = element("span", one.colour == null ? "dot none" : "dot");
  if (one.colour != null) made.style.setProperty("--c", `var(${colourName(one)})`);
  return made;
}

// "bird/owl" is the owl among the birds; a name that begins or ends with a stroke is just a name.
function path(name) {
  const cut = name.lastIndexOf("/");
  return cut > 0 && cut < name.length - 1 ? [name.slice(0, cut), name.slice(cut + 1)] : ["", name];
}

// Name -> its group, of those that are not the only one in it: "24/7" is no group.
function grouped(classes) {
  const pairs = classes.map((one) => [one.name, path(one.name)[0]]).filter(([, group]) => group);
  const sizes = new Map();
  for (const [, group] of pairs) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  return new Map(pairs.filter(([, group]) => sizes.get(group) > 1));
}

const read = (key) => {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
};

export class ClassColumn {
  // `choose(name)` gives the class to what is on the screen.
  constructor(list, edge, { choose }) {
    Object.assign(this, { list, choose, rows: new Map(), shown: "", folded: new Set(read(FOLDED) ?? []) });
    this.card = element("div");
    this.card.id = "class-card";
    this.card.setAttribute("role", "tooltip");
    this.card.hidden = true;
    document.body.append(this.card);
    list.addEventListener("scroll", () => this.hideCard());
    adjustable(edge);
  }

  show(state) {
    this.kind = state.kind;
    const { classes } = state;
    const now = JSON.stringify(classes.map(({ count, ...rest }) => rest));
    if (now !== this.shown) this.build(classes);
    this.shown = now;
    const most = Math.max(1, ...classes.map((one) => one.count));
    const sums = new Map();
    for (const one of classes) {
      const { row, counter } = this.rows.get(one.name);
      const words = number(one.count);
      if (counter.textContent !== words) counter.textContent = words;
      row.style.setProperty("--share", `${(100 * one.count) / most}%`);
      row.toggleAttribute("aria-current", one.name === state.question?.label);
      const group = this.groups.get(one.name);
      sums.set(group, (sums.get(group) ?? 0) + one.count);
    }
    for (const [group, counter] of this.counters) counter.textContent = number(sums.get(group));
  }

  build(classes) {
    this.hideCard();
    this.rows.clear();
    this.counters = new Map();
    this.groups = grouped(classes);
    const groups = new Map();
    const parts = [];
    for (const one of classes) {
      const group = this.groups.get(one.name);
      const row = element("li");
      row.append(this.row(one, group ? path(one.name)[1] : one.name));
      if (!group) {
        parts.push(row);
        continue;
      }
      if (!groups.has(group)) {
        const [made, inside] = this.group(group);
        groups.set(group, inside);
        parts.push(made);
      }
      groups.get(group).append(row);
    }
    const { scrollTop } = this.list;
    this.list.replaceChildren(...parts);
    this.list.scrollTop = scrollTop;
    this.list.classList.toggle("many", classes.length > MANY);
  }

  row(one, last) {
    const counter = element("span", "count");
    const row = button({ className: one.colour == null ? "class plain" : "class" },
      element("kbd", {}, one.key || one.code || " "), dot(one), element("span", "name", last), counter);
    row.dataset.name = one.name;
    row.style.setProperty("--c", one.colour == null ? "var(--dot)" : `var(${colourName(one)})`);
    row.addEventListener("click", () => {
      this.hideCard();
      this.choose(one.name);
    });
    this.rows.set(one.name, { row, counter });
    if (!one.note && !one.examples) {
      row.title = one.name;
      return row;
    }
    row.classList.add("described");
    row.addEventListener("pointerenter", (event) => {
      if (event.pointerType === "mouse") this.resting = setTimeout(() => this.showCard(one, row), RESTING);
    });
    row.addEventListener("focus", () => { if (row.matches(":focus-visible")) this.showCard(one, row); });
    for (const left of ["pointerleave", "blur"]) row.addEventListener(left, () => this.hideCard());
    return row;
  }

  group(name) {
    const made = element("li", "group");
    const details = element("details");
    const counter = element("span", "count");
    const title = element("summary");
    title.append(element("span", "name", name), counter);
    title.title = name;
    const inside = element("ul");
    details.append(title, inside);
    details.open = !this.folded.has(name);
    details.addEventListener("toggle", () => {
      if (details.open) this.folded.delete(name);
      else this.folded.add(name);
      localStorage.setItem(FOLDED, JSON.stringify([...this.folded]));
    });
    made.append(details);
    this.counters.set(name, counter);
    return [made, inside];
  }

  showCard(one, row) {
    this.card.replaceChildren(...described(one, this.kind));
    this.card.hidden = false;
    const { right, top } = row.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.card;
    this.card.style.left = `${Math.max(8, Math.min(right + 8, innerWidth - offsetWidth - 8))}px`;
    this.card.style.top = `${Math.max(8, Math.min(top, innerHeight - offsetHeight - 8))}px`;
  }

  hideCard() {
    clearTimeout(this.resting);
    this.card.hidden = true;
  }
}

// What was said about a class: its name, the note, the examples.
export function described(one, kind) {
  const title = element("b", {}, one.name);
  const parts = [title];
  if (one.note) parts.push(element("p", "note", one.note));
  if (one.examples) {
    const examples = element("div", "examples");
    for (const item of one.examples) {
      const frame = element("div");
      content(item, kind, 160).then((shown) => frame.append(shown));
      examples.append(frame);
    }
    parts.push(examples);
  }
  return parts;
}

// The edge of the column is dragged, or moved by the arrow keys, and stays where it was put.
function adjustable(edge) {
  const set = (width) => {
    const fits = Math.round(Math.min(Math.max(width, NARROWEST), WIDEST));
    document.documentElement.style.setProperty("--classes-width", `${fits}px`);
    edge.setAttribute("aria-valuenow", fits);
    localStorage.setItem(WIDTH, fits);
  };
  const now = () => edge.parentElement.getBoundingClientRect().width;
  edge.setAttribute("aria-valuemin", NARROWEST);
  edge.setAttribute("aria-valuemax", WIDEST);
  const kept = read(WIDTH);
  if (kept) set(kept);
  else edge.setAttribute("aria-valuenow", USUAL);
  edge.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    edge.setPointerCapture(event.pointerId);
  });
  edge.addEventListener("pointermove", (event) => {
    if (edge.hasPointerCapture(event.pointerId)) set(event.clientX - edge.parentElement.getBoundingClientRect().left);
  });
  edge.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
    if (!step) return;
    event.stopPropagation(); // not back to an earlier answer
    event.preventDefault();
    set(now() + step);
  });
  edge.addEventListener("dblclick", () => {
    localStorage.removeItem(WIDTH);
    document.documentElement.style.removeProperty("--classes-width");
    edge.setAttribute("aria-valuenow", USUAL);
  });
}
