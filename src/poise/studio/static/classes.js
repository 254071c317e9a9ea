// The column of classes: keys, colours, names, counts; groups of names such as "bird/owl"; notes and
// examples; the width of the column.

import { button, element } from "./dom.js";
import { number } from "./format.js";
import { clamp } from "./geometry.js";

const WIDTH = "poise-classes-width";
const FOLDED = "poise-folded-groups";
const USUAL_WIDTH = 240; // pixels, as in classes.css, like the next three
const MIN_WIDTH = 160;
const MAX_WIDTH = 560;
const WIDTH_STEP = 16; // for an arrow key
const MANY_CLASSES = 20; // with more, rows are lower
const HOVER_MS = 350; // before the card of a class is shown
const CARD_GAP_PIXELS = 8;

// The name of a class's colour in the style sheet. Classes beyond the palette have none: what must be
// painted all the same, such as a point on the map, is painted in the colour of text.
export const colourName = (labelClass) => (labelClass?.colour == null ? "--text" : `--c${labelClass.colour}`);

export function dot(labelClass) {
  const made = element("span", labelClass.colour == null ? "dot none" : "dot");
  if (labelClass.colour != null) made.style.setProperty("--c", `var(${colourName(labelClass)})`);
  return made;
}

// "bird/owl" is the owl in the group bird; a name that begins or ends with a slash is just a name.
export function splitName(name) {
  const cut = name.lastIndexOf("/");
  return cut > 0 && cut < name.length - 1 ? [name.slice(0, cut), name.slice(cut + 1)] : ["", name];
}

// Name -> group, for groups of at least two classes: "24/7" alone is no group.
export function groupsOf(classes) {
  const pairs = classes.map(({ name }) => [name, splitName(name)[0]]).filter(([, group]) => group);
  const sizes = new Map();
  for (const [, group] of pairs) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  return new Map(pairs.filter(([, group]) => sizes.get(group) > 1));
}

function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

export class ClassColumn {
  // `choose(name)` labels what is on the screen; `thumbnail(item, kind)` resolves to an element.
  constructor(list, { choose, thumbnail }) {
    Object.assign(this, { list, choose, thumbnail, rows: new Map(), shown: "", folded: new Set(read(FOLDED) ?? []) });
    this.card = element("div", { id: "class-card", role: "tooltip", hidden: true });
    list.addEventListener("scroll", () => this.hideCard());
  }

  show(state) {
    this.kind = state.kind;
    const { classes } = state;
    const looks = JSON.stringify(classes.map(({ count, ...rest }) => rest));
    if (looks !== this.shown) this.build(classes);
    this.shown = looks;
    const highest = Math.max(1, ...classes.map(({ count }) => count));
    const sums = new Map();
    for (const { name, count } of classes) {
      const { row, counter } = this.rows.get(name);
      const words = number(count);
      if (counter.textContent !== words) counter.textContent = words;
      row.style.setProperty("--share", `${(100 * count) / highest}%`);
      row.toggleAttribute("aria-current", name === state.question?.label);
      const group = this.groups.get(name);
      sums.set(group, (sums.get(group) ?? 0) + count);
    }
    for (const [group, counter] of this.counters) counter.textContent = number(sums.get(group));
  }

  build(classes) {
    this.hideCard();
    this.rows.clear();
    this.counters = new Map();
    this.groups = groupsOf(classes);
    const lists = new Map();
    const parts = [];
    for (const labelClass of classes) {
      const { name } = labelClass;
      const group = this.groups.get(name);
      const row = element("li", {}, this.row(labelClass, group ? splitName(name)[1] : name));
      if (!group) {
        parts.push(row);
        continue;
      }
      if (!lists.has(group)) {
        const [made, list] = this.group(group);
        lists.set(group, list);
        parts.push(made);
      }
      lists.get(group).append(row);
    }
    const { scrollTop } = this.list;
    this.list.replaceChildren(...parts);
    this.list.scrollTop = scrollTop;
    this.list.classList.toggle("many", classes.length > MANY_CLASSES);
  }

  row(labelClass, shortName) {
    const { name, key, code, colour, note, examples } = labelClass;
    const counter = element("span", "count");
    const row = button(
      { className: colour == null ? "class plain" : "class" },
      element("kbd", {}, key || code || " "),
      dot(labelClass),
      element("span", "name", shortName),
      counter,
    );
    row.dataset.name = name;
    row.style.setProperty("--c", colour == null ? "var(--dot)" : `var(${colourName(labelClass)})`);
    row.addEventListener("click", () => {
      this.hideCard();
      this.choose(name);
    });
    this.rows.set(name, { row, counter });
    if (note || examples) this.describe(row, labelClass);
    else row.title = name;
    return row;
  }

  // Shows the card of the class while the pointer or the keyboard is on its row.
  describe(row, labelClass) {
    row.classList.add("described");
    row.addEventListener("pointerenter", (event) => {
      if (event.pointerType === "mouse") this.hovering = setTimeout(() => this.showCard(labelClass, row), HOVER_MS);
    });
    row.addEventListener("focus", () => {
      if (row.matches(":focus-visible")) this.showCard(labelClass, row);
    });
    for (const event of ["pointerleave", "blur"]) row.addEventListener(event, () => this.hideCard());
  }

  group(name) {
    const counter = element("span", "count");
    const title = element("summary", { title: name }, element("span", "name", name), counter);
    const list = element("ul");
    const details = element("details", { open: !this.folded.has(name) }, title, list);
    details.addEventListener("toggle", () => {
      if (details.open) this.folded.delete(name);
      else this.folded.add(name);
      localStorage.setItem(FOLDED, JSON.stringify([...this.folded]));
    });
    this.counters.set(name, counter);
    return [element("li", "group", details), list];
  }

  showCard(labelClass, row) {
    document.body.append(this.card);
    this.card.replaceChildren(...described(labelClass, (item) => this.thumbnail(item, this.kind)));
    this.card.hidden = false;
    const { right, top } = row.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.card;
    const within = (wanted, size, room) =>
      `${Math.max(CARD_GAP_PIXELS, Math.min(wanted, room - size - CARD_GAP_PIXELS))}px`;
    this.card.style.left = within(right + CARD_GAP_PIXELS, offsetWidth, innerWidth);
    this.card.style.top = within(top, offsetHeight, innerHeight);
  }

  hideCard() {
    clearTimeout(this.hovering);
    this.card.hidden = true;
  }
}

// What people wrote about a class: its name, the note, the examples, as `thumbnail(item)` shows them.
export function described({ name, note, examples }, thumbnail) {
  const parts = [element("b", {}, name)];
  if (note) parts.push(element("p", "note", note));
  if (examples) {
    const frames = examples.map((item) => {
      const frame = element("div");
      thumbnail(item).then((shown) => frame.append(shown));
      return frame;
    });
    parts.push(element("div", "examples", ...frames));
  }
  return parts;
}

// The edge of the column can be dragged or moved by the arrow keys. The width is remembered.
export function makeAdjustable(edge) {
  const column = edge.parentElement;
  const set = (width) => {
    const pixels = Math.round(clamp(width, MIN_WIDTH, MAX_WIDTH));
    document.documentElement.style.setProperty("--classes-width", `${pixels}px`);
    edge.setAttribute("aria-valuenow", pixels);
    localStorage.setItem(WIDTH, pixels);
  };
  edge.setAttribute("aria-valuemin", MIN_WIDTH);
  edge.setAttribute("aria-valuemax", MAX_WIDTH);
  const remembered = read(WIDTH);
  if (remembered) set(remembered);
  else edge.setAttribute("aria-valuenow", USUAL_WIDTH);
  edge.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    edge.setPointerCapture(event.pointerId);
  });
  edge.addEventListener("pointermove", (event) => {
    if (edge.hasPointerCapture(event.pointerId)) set(event.clientX - column.getBoundingClientRect().left);
  });
  edge.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -WIDTH_STEP, ArrowRight: WIDTH_STEP }[event.key];
    if (!step) return;
    event.stopPropagation(); // the same keys lead to earlier answers
    event.preventDefault();
    set(column.getBoundingClientRect().width + step);
  });
  edge.addEventListener("dblclick", () => {
    localStorage.removeItem(WIDTH);
    document.documentElement.style.removeProperty("--classes-width");
    edge.setAttribute("aria-valuenow", USUAL_WIDTH);
  });
}
