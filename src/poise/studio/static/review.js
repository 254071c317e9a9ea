// The review screen: every item with its label or the model's guess, to look through and correct.
// Only what is in sight is in the page, and only some pages of rows are held, so that a million
// items scroll like a hundred.

const PAGE = 100;
const HELD = 100;
const CONTENTS = 600;
// Of the six connections that a browser opens, some stay free for answers.
const AT_ONCE = 3;
// What one correction may name: its request stays far below the server's bound.
const MOST = 2000;
// Browsers cut elements off from about 16 million pixels on.
const TALLEST = 15_000_000;
const TILE = { wide: 152, gap: 12 };
// Pixels above and below the sight that are drawn as well.
const OVERSCAN = 200;
// In milliseconds: what flies by faster is not asked for; letters typed faster are one search.
const REST = 60;
const TYPING = 200;
const POLL = 500;

const SHOW = {
  all: ["All", "There are no items in this project."],
  labelled: ["Labelled", "Nothing labelled yet. Press Esc and label the first item."],
  predicted: ["Predicted", "No predictions yet: they come with the first labels."],
  unsure: ["Unsure", "Nothing is set aside as unsure. On the label screen, x sets an item aside."],
  skipped: ["Skipped", "Nothing is skipped."],
  suspicious: ["Suspicious first", "No label is suspicious: the others speak for each of them."],
};
const SORT = {
  order: "As in the source",
  confidence: "Least sure first",
  "-confidence": "Surest first",
  suspicion: "Most suspicious first",
  time: "Latest label first",
};
const COLUMNS = {
  mark: "", content: "Item", source: "Source", label: "Label or guess", confidence: "Confidence",
  suspicion: "Suspicion", by: "By", time: "Time",
};
const EVERYTHING = { show: "all", class: "", from: 0, to: 1, sort: "order", text: "" };

const number = new Intl.NumberFormat("en-GB");
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const date = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
const pageOf = (index) => Math.floor(index / PAGE);
const clamp = (value, low, high) => Math.max(low, Math.min(value, high));
const items = (count) => `${number.format(count)} ${count === 1 ? "item" : "items"}`;

// Where the person was, for when they come back from the label screen.
let remembered = { filters: EVERYTHING, tiles: false, top: 0 };

export function mountReview(container, host) {
  const review = new Review(container, host);
  return { update: (state) => review.update(state), close: () => review.close() };
}

function make(name, settings = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(settings)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

const button = (settings, ...children) => make("button", { type: "button", ...settings }, ...children);

function choice(name, options) {
  const made = Object.entries(options).map(([value, text]) => make("option", { value }, text));
  return make("select", { "aria-label": name }, ...made);
}

function percent(share) {
  const whole = Math.round(100 * share);
  return whole === 100 && share < 1 ? ">99%" : `${whole}%`;
}

function shortTime(time) {
  const then = new Date(time);
  const now = new Date();
  if (Number.isNaN(then.getTime())) return "";
  if (then.toDateString() === now.toDateString()) return clock.format(then);
  if (then.getFullYear() === now.getFullYear()) return `${day.format(then)}, ${clock.format(then)}`;
  return date.format(then);
}

function sentence(error) {
  if (error.status === undefined) return "poise does not answer. Is it still running?";
  return `${error.message.replace(/[.\s]+$/, "")}.`;
}

function cells(role, words) {
  return Object.keys(COLUMNS).map((name) => make("span", { className: name, role }, words[name] ?? ""));
}

function dot(name, colours, className = "dot") {
  const made = make("span", { className });
  made.style.setProperty("--c", colours.get(name) ?? "var(--quiet)");
  return made;
}

function wordsFor({ label, guess, state }, colours) {
  const quiet = (...words) => make("span", { className: "quiet" }, ...words);
  const words = state === "unsure" || state === "skipped" ? [make("span", { className: "aside" }, state)] : [];
  if (label !== null) {
    words.push(dot(label, colours), make("b", {}, label));
    if (guess !== null && guess !== label) words.push(quiet(`the model says ${guess}`));
  } else if (guess !== null) {
    words.push(dot(guess, colours, "dot ring"), quiet(make("span", { className: "probably" }, "probably "), guess));
  }
  return words.length ? words : [quiet("not known yet")];
}

// Shows a row in an element; without one, that it is still to come.
function fill(node, row, tiles, colours) {
  node.classList.toggle("waiting", !row);
  if (!row) {
    delete node.dataset.item;
    node.replaceChildren(...cells("presentation", {}));
    return;
  }
  const { source, by, time, confidence, suspicion } = row;
  node.dataset.item = row.item;
  node.replaceChildren(...cells(tiles ? "presentation" : "gridcell", {
    by: by ?? "",
    time: time ? shortTime(time) : "",
    // Where somebody gave a label, how sure the model is of its guess says nothing about it.
    confidence: row.label !== null || confidence === null ? "" : percent(confidence),
    suspicion: suspicion === null ? "" : percent(suspicion),
  }));
  const cell = (name) => node.querySelector(`:scope > .${name}`);
  // The folder gives way first: the end of a path tells more.
  const end = source.lastIndexOf("/") + 1;
  cell("source").append(make("span", {}, source.slice(0, end)), make("span", {}, source.slice(end)));
  cell("source").title = source;
  cell("suspicion").classList.toggle("high", suspicion >= 0.5);
  cell("label").append(...wordsFor(row, colours));
}

function pagesIn(first, last) {
  const length = pageOf(Math.max(last - 1, first)) - pageOf(first) + 1;
  return Array.from({ length }, (_, place) => pageOf(first) + place);
}

// The rows of one list, as far as they are held.
class Listing {
  constructor(get, preparing) {
    Object.assign(this, { get, preparing, filters: EVERYTHING, total: 0, turn: 0, refused: 0 });
    this.pages = new Map();
    this.asked = new Map();
    this.corrected = new Map(); // item -> its row after, and the turn in which the server must know it
  }

  row(index) {
    return this.pages.get(pageOf(index))?.[index % PAGE];
  }

  address(page) {
    const { show, sort, from, to, text } = this.filters;
    const query = new URLSearchParams({ offset: page * PAGE, limit: PAGE, show, sort });
    if (this.filters.class) query.set("class", this.filters.class);
    if (from > 0 || to < 1) {
      query.set("from", Math.min(from, to));
      query.set("to", Math.max(from, to));
    }
    if (text) query.set("text", text);
    return `/api/review?${query}`;
  }

  // One page, or null where the list was asked for anew in the meantime.
  async fetch(page, turn) {
    for (;;) {
      const found = await this.get(this.address(page));
      if (turn !== this.turn) return null;
      if (!found.preparing) return found;
      this.preparing();
      await new Promise((done) => setTimeout(done, POLL));
    }
  }

  load(page) {
    const { asked } = this;
    if (!asked.has(page)) {
      const again = () => (this.closed ? null : this.load(page));
      const loading = this.fetch(page, this.turn).then((found) => (found ? this.hold(page, found) : again()));
      asked.set(page, loading.finally(() => asked.delete(page)));
    }
    return asked.get(page);
  }

  // The pages that `wanted` names, anew and together; the old rows stay until then. False if overtaken.
  async refresh(filters, wanted) {
    const turn = (this.turn += 1);
    this.filters = filters;
    this.asked = new Map();
    const found = new Map();
    const missing = () => wanted().filter((page) => !found.has(page));
    // The person may have gone on to other pages in the meantime.
    for (let pages = missing(); pages.length; pages = missing()) {
      await Promise.all(pages.map(async (page) => found.set(page, await this.fetch(page, turn))));
      if (turn !== this.turn) return false;
    }
    this.pages.clear();
    found.forEach((one, page) => this.hold(page, one));
    // Of what was answered and is not among these rows nothing more is expected.
    for (const [item, { until }] of this.corrected) if (until <= turn) this.corrected.delete(item);
    return true;
  }

  hold(page, { rows, total }) {
    this.total = total;
    this.pages.set(page, rows.map((row) => this.asCorrected(row)));
    if (this.pages.size > HELD) {
      const away = (other) => Math.abs(other - page);
      this.pages.delete([...this.pages.keys()].reduce((a, b) => (away(b) > away(a) ? b : a)));
    }
  }

  // A correction is shown until the server shows it too, or had its say and shows something else.
  asCorrected(row) {
    const correction = this.corrected.get(row.item);
    if (!correction) return row;
    const same = row.label === correction.row.label;
    if (!same && this.turn < correction.until) return correction.row;
    if (!same) this.refused += 1;
    this.corrected.delete(row.item);
    return row;
  }

  correct({ index, row }, change) {
    // The version after the change is the server's to say.
    const after = { ...row, ...change, suspicion: null, version: undefined };
    this.corrected.set(row.item, { row: after, until: Infinity });
    if (this.row(index)?.item === row.item) this.pages.get(pageOf(index))[index % PAGE] = after;
    return { index, row: after };
  }

  answered(rows) {
    for (const row of rows) {
      const correction = this.corrected.get(row.item);
      if (correction?.row === row) correction.until = this.turn + 1;
    }
  }

  close() {
    this.closed = true;
    this.turn += 1;
  }
}

// A long list of which only what is in sight is in the page. A line is a row of the table, or a row
// of tiles.
class Wall {
  // `head` stays above the rows, which stand in `space`; both are in `list`, which scrolls. `total`
  // gives the number of rows, `dress` shows the row of an index in an element, `moved` comes after.
  constructor(list, head, space, hooks) {
    Object.assign(this, { list, head, space, ...hooks, tiles: false, top: 0, scrollTop: 0 });
    this.nodes = new Map();
  }

  measure() {
    const wide = this.space.clientWidth;
    const gap = this.tiles ? TILE.gap : 0;
    this.across = this.tiles ? Math.max(1, Math.floor((wide + gap) / (TILE.wide + gap))) : 1;
    this.step = (wide + gap) / this.across;
    this.wide = this.step - gap;
    this.line = parseFloat(getComputedStyle(this.list).getPropertyValue("--row")) + gap;
    this.view = Math.max(1, this.list.clientHeight - this.head.offsetHeight);
    this.measured = this.total();
    this.full = Math.ceil(this.measured / this.across) * this.line;
    const tall = Math.min(this.full, TALLEST);
    this.space.style.height = `${tall}px`;
    this.factor = this.full > tall ? (this.full - this.view) / (tall - this.view) : 1;
  }

  // In another shape or size, with the same row at the top.
  reshape(tiles) {
    const first = this.line ? Math.round(this.top / this.line) * this.across : 0;
    if (tiles !== this.tiles) {
      this.nodes.forEach((node) => node.remove());
      this.nodes.clear();
    }
    this.tiles = tiles;
    this.measure();
    this.moveTo(Math.floor(first / this.across) * this.line);
  }

  sight() {
    const first = Math.max(0, Math.floor((this.top - OVERSCAN) / this.line)) * this.across;
    const last = Math.ceil((this.top + this.view + OVERSCAN) / this.line) * this.across;
    return [Math.min(first, this.measured), Math.min(last, this.measured)];
  }

  moveTo(top) {
    this.top = clamp(top, 0, Math.max(0, this.full - this.view));
    this.list.scrollTop = this.top / this.factor;
    this.scrollTop = this.list.scrollTop;
    this.draw();
  }

  reveal(index) {
    const top = Math.floor(index / this.across) * this.line;
    this.moveTo(clamp(this.top, top + this.line - this.view, top));
  }

  scrolled() {
    // What was set here comes back rounded.
    if (Math.abs(this.list.scrollTop - this.scrollTop) < 1) return;
    this.scrollTop = this.list.scrollTop;
    this.top = this.scrollTop * this.factor;
    this.draw();
  }

  // Where the scroll position is scaled, a turn of the wheel still moves by as many rows.
  wheel(event) {
    if (this.factor === 1 || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    this.moveTo(this.top + event.deltaY * [1, this.line, this.view][event.deltaMode]);
  }

  draw() {
    if (this.measured !== this.total()) this.measure();
    const [first, last] = this.sight();
    for (const [index, node] of this.nodes) {
      if (index >= first && index < last) continue;
      node.remove();
      this.nodes.delete(index);
    }
    let place = this.space.firstChild;
    for (let index = first; index < last; index += 1) {
      const node = this.node(index);
      if (node === place) place = place.nextSibling;
      else this.space.insertBefore(node, place);
    }
    this.moved();
  }

  node(index) {
    const node = this.nodes.get(index) ?? make("div", { className: "row", id: `review-${index}` });
    this.nodes.set(index, node);
    const down = Math.floor(index / this.across) * this.line - this.top + this.scrollTop;
    node.style.transform = `translate(${(index % this.across) * this.step}px, ${down}px)`;
    node.style.width = `${this.wide}px`;
    this.dress(node, index);
    return node;
  }

  // How far each key goes.
  steps() {
    const { across } = this;
    const page = across * Math.max(1, Math.floor(this.view / this.line));
    const steps = { ArrowUp: -across, ArrowDown: across, PageUp: -page, PageDown: page };
    const sideways = this.tiles ? { ArrowLeft: -1, ArrowRight: 1 } : {};
    return { ...steps, ...sideways, Home: -Infinity, End: Infinity };
  }
}

// Which items, in which order; `changed` comes after every change.
class Filters {
  constructor(values, changed, views) {
    Object.assign(this, { values, changed });
    const share = (name) => make("input", { type: "number", min: 0, max: 100, step: 5, "aria-label": name });
    this.fields = {
      class: make("select", { "aria-label": "Class" }),
      from: share("Confidence from, in per cent"),
      to: share("Confidence to, in per cent"),
      sort: choice("Order", SORT),
      text: make("input", { type: "search", placeholder: "Search", "aria-label": "Search in source" }),
    };
    const { from, to, sort, text } = this.fields;
    const range = make("span", { className: "range" }, "Confidence", from, "to", to, "%");
    const rest = make("div", { className: "rest", id: "review-rest" }, this.fields.class, range, sort, text);
    this.chips = Object.entries(SHOW).map(([value, [words]]) => button({ className: "chip", value }, words));
    this.more = button({ className: "chip more", "aria-expanded": "false", "aria-controls": rest.id }, "Filters");
    this.root = make("div", { className: "filters" },
      make("div", { className: "chips", role: "group", "aria-label": "Show" }, ...this.chips), rest,
      make("div", { className: "view", role: "group", "aria-label": "Show as" }, this.more, ...views));
    this.listen();
    this.show();
  }

  listen() {
    for (const chip of this.chips) chip.addEventListener("click", () => this.set({ show: chip.value }));
    for (const name of ["class", "sort"]) {
      this.fields[name].addEventListener("change", () => this.set({ [name]: this.fields[name].value }));
    }
    for (const name of ["from", "to", "text"]) this.fields[name].addEventListener("input", () => this.typed());
    this.more.addEventListener("click", () => {
      this.more.setAttribute("aria-expanded", this.root.classList.toggle("open"));
    });
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
    this.typing = setTimeout(() => {
      const { from, to, text } = this.fields;
      this.set({ from: share(from, 0), to: share(to, 1), text: text.value.trim() });
    }, TYPING);
  }

  show() {
    const { show, from, to } = this.values;
    for (const chip of this.chips) chip.setAttribute("aria-pressed", chip.value === show);
    const shown = { ...this.values, from: Math.round(100 * from), to: Math.round(100 * to) };
    for (const [name, field] of Object.entries(this.fields)) {
      // Nobody's typing is overwritten, except by emptying.
      if (field !== document.activeElement || shown[name] === "") field.value = shown[name];
    }
  }

  showClasses(names) {
    const options = ["", ...names].map((value) => make("option", { value }, value || "Any class"));
    this.fields.class.replaceChildren(...options);
    this.fields.class.value = this.values.class;
  }

  get narrowed() {
    return ["class", "from", "to", "text"].some((name) => this.values[name] !== EVERYTHING[name]);
  }

  close() {
    clearTimeout(this.typing);
  }
}

class Review {
  constructor(container, host) {
    Object.assign(this, { container, host, starting: remembered.top, fetching: 0 });
    Object.assign(this, { cursor: -1, anchor: -1, adrift: false });
    this.contents = new Map(); // item -> element, null while it is fetched
    this.selected = new Map(); // item -> its place and row
    this.build();
    this.listing = new Listing((path) => host.get(path), () => this.tell("The model is computing."));
    this.wall = new Wall(this.list, this.head, this.space, {
      total: () => this.listing.total,
      dress: (node, index) => this.dress(node, index),
      moved: () => this.moved(),
    });
    this.showClasses();
    this.showAs(remembered.tiles);
    this.listen();
    this.list.focus();
    this.reload(true);
  }

  build() {
    this.views = ["Table", "Tiles"].map((words) => button({ className: "chip" }, words));
    this.filters = new Filters(remembered.filters, () => this.reload(true), this.views);
    this.head = make("div", { className: "head", role: "row", "aria-rowindex": 1 });
    this.head.append(...cells("columnheader", COLUMNS));
    this.head.querySelector(".confidence").title = "The model's own, not a measured accuracy";
    this.head.querySelector(".suspicion").title = "How much the other labels speak against this one";
    this.space = make("div", { className: "space", role: "presentation" });
    this.list = make("div", { className: "list", tabIndex: 0, "aria-label": "Items" }, this.head, this.space);
    this.list.setAttribute("aria-multiselectable", "true");
    this.empty = make("div", { className: "empty", hidden: true });
    this.trouble = make("div", { className: "trouble", role: "alert" });
    this.count = make("p", { className: "count", role: "status" });
    this.note = make("p", { className: "note", role: "status" });
    this.classes = make("div", { className: "classes", role: "group", "aria-label": "Label the selection as" });
    this.clearing = button({}, make("kbd", {}, "⌫"), " Clear label");
    this.opening = button({}, make("kbd", {}, "Enter"), " Open");
    this.container.tabIndex = -1;
    this.container.replaceChildren(make("div", { className: "review" },
      this.filters.root,
      this.trouble,
      make("div", { className: "frame" }, this.list, this.empty, this.note),
      make("div", { className: "bar" }, this.count, this.classes, this.clearing, this.opening)));
  }

  listen() {
    this.ending = new AbortController();
    const { signal } = this.ending;
    const on = (target, kind, act, more) => target.addEventListener(kind, act, { signal, ...more });
    on(this.container, "keydown", (event) => this.key(event));
    on(this.container, "focus", () => this.list.focus());
    on(this.list, "scroll", () => this.wall.scrolled());
    on(this.list, "wheel", (event) => this.wall.wheel(event), { passive: false });
    // Shift and click mean a range of items here, not of letters.
    on(this.space, "mousedown", (event) => event.shiftKey && event.preventDefault());
    on(this.space, "click", (event) => this.click(event));
    on(this.space, "dblclick", () => this.open());
    on(this.clearing, "click", () => this.correct(null));
    on(this.opening, "click", () => this.open());
    this.views.forEach((view, place) => on(view, "click", () => this.showAs(place === 1)));
    this.resizing = new ResizeObserver(() => this.wall.reshape(this.wall.tiles));
    this.resizing.observe(this.list);
  }

  close() {
    remembered = { filters: this.filters.values, tiles: this.wall.tiles, top: this.wall.top };
    this.closed = true;
    this.listing.close();
    this.ending.abort();
    this.resizing.disconnect();
    this.filters.close();
    clearTimeout(this.resting);
    delete this.container.dataset.ready;
    this.container.replaceChildren();
  }

  update(state) {
    this.showClasses();
    const news = this.last !== undefined && this.last !== state.last;
    this.last = state.last;
    if (news) this.reload();
  }

  // What is in sight and what is selected, from the server. An update waits for the one under way;
  // new filters do not.
  async reload(anew = false) {
    if (this.closed) return;
    if (this.reloading && !anew) {
      this.stale = true;
      return;
    }
    const mine = (this.reloading = {});
    this.stale = false;
    if (anew) delete this.container.dataset.ready;
    this.list.setAttribute("aria-busy", "true");
    const wanted = anew ? () => [0] : () => this.wanted();
    const done = await this.listing.refresh(this.filters.values, wanted).catch((error) => error);
    if (this.reloading !== mine || this.closed) return;
    if (done === true) this.settle(anew);
    else this.fail(done, anew);
    this.reloading = null;
    this.list.removeAttribute("aria-busy");
    if (this.stale) this.reload();
    else this.wall.draw();
  }

  wanted() {
    const chosen = [...this.selected.values()].map(({ index }) => pageOf(index));
    return [...new Set([...pagesIn(...this.wall.sight()), ...chosen])];
  }

  // The selection and the cursor follow their items. An item that left the list is not selected any
  // more, so that no key reaches what nobody sees.
  settle(anew) {
    const places = new Map();
    for (const [page, rows] of this.listing.pages) {
      rows.forEach(({ item }, place) => places.set(item, page * PAGE + place));
    }
    const kept = [...this.selected.keys()].filter((item) => !anew && places.has(item));
    this.selected = new Map(kept.map((item) => [item, this.entry(places.get(item))]));
    this.adrift = this.cursor >= 0 && !this.choosing && !places.has(this.cursorItem);
    if (anew) this.cursor = this.anchor = -1;
    else this.cursor = Math.min(places.get(this.cursorItem) ?? this.cursor, this.listing.total - 1);
    if (!this.choosing) this.anchor = places.get(this.anchorItem) ?? this.cursor;
    this.tell("");
    if (this.failed) this.fail(null);
    if (this.listing.refused) this.showRefusal();
    this.list.setAttribute("aria-rowcount", this.listing.total + 1);
    this.wall.measure();
    this.wall.moveTo(anew ? this.starting : this.wall.top);
    this.starting = 0;
    this.showEmpty();
    this.container.dataset.ready = "yes";
  }

  entry(index) {
    return { index, row: this.listing.row(index) };
  }

  // After every step of a scroll: what is missing is asked for now and then.
  moved() {
    const current = this.space.querySelector(".current");
    if (current) this.list.setAttribute("aria-activedescendant", current.id);
    else this.list.removeAttribute("aria-activedescendant");
    this.showCount();
    this.resting ??= setTimeout(() => {
      this.resting = null;
      this.want();
    }, REST);
  }

  dress(node, index) {
    const row = this.listing.row(index);
    const { tiles } = this.wall;
    if (node.row !== row || !node.firstChild) {
      fill(node, row, tiles, this.colours);
      node.querySelector(".content").append(this.contents.get(row?.item) ?? "");
      node.row = row;
    }
    node.dataset.index = index;
    node.setAttribute("role", tiles ? "option" : "row");
    node.setAttribute(tiles ? "aria-posinset" : "aria-rowindex", tiles ? index + 1 : index + 2);
    if (tiles) node.setAttribute("aria-setsize", this.listing.total);
    node.setAttribute("aria-selected", row !== undefined && this.selected.has(row.item));
    node.classList.toggle("current", index === this.cursor && !this.adrift);
  }

  // Asks for the rows and contents in sight that are not there.
  want() {
    if (this.closed || this.reloading || this.failed) return;
    const missing = this.missing(...this.wall.sight());
    if (missing.length) this.load(missing);
    for (const { row } of this.wall.nodes.values()) {
      if (row && this.fetching < AT_ONCE && !this.contents.has(row.item)) this.fetchContent(row.item);
    }
  }

  missing(first, last) {
    return pagesIn(first, last).filter((page) => !this.listing.pages.has(page));
  }

  async load(pages) {
    try {
      await Promise.all(pages.map((page) => this.listing.load(page)));
      if (!this.closed) this.wall.draw();
    } catch (error) {
      this.fail(error);
    }
  }

  async fetchContent(item) {
    this.fetching += 1;
    this.contents.set(item, null);
    if (this.contents.size > CONTENTS) this.contents.delete(this.contents.keys().next().value);
    const made = await this.host.content(item).catch(() => make("p", { className: "gone" }, "cannot be shown"));
    this.fetching -= 1;
    this.contents.set(item, made);
    if (made.classList.contains("text")) this.list.dataset.kind = "text";
    for (const node of this.wall.nodes.values()) {
      if (node.row?.item === item) node.querySelector(".content").replaceChildren(made);
    }
    this.want();
  }

  key(event) {
    const { key, target } = event;
    const inField = target.closest("input, select");
    const act = inField ? this.keyInField(key, target) : this.keyInList(event, target.closest("button"));
    if (act) {
      event.preventDefault();
      act();
    }
    // What is typed into a field is not for the rest of the page; Esc is.
    if (act || (inField && key !== "Escape")) event.stopPropagation();
  }

  keyInField(key, field) {
    if (field !== this.filters.fields.text) return null;
    if (key === "Escape" && field.value) return () => this.filters.set({ text: "" });
    return key === "Enter" || key === "ArrowDown" ? () => this.list.focus() : null;
  }

  keyInList(event, control) {
    const { key, shiftKey } = event;
    if (event.altKey) return null;
    if (event.ctrlKey || event.metaKey) return key === "a" ? () => this.select(0, this.listing.total - 1) : null;
    if (control && (key === "Enter" || key === " ")) return null;
    const steps = this.wall.steps();
    if (key in steps) return () => this.walk(steps[key], shiftKey);
    if (key === "Enter") return () => this.open();
    if (key === " ") return () => this.toggle(this.cursor);
    if (key === "Backspace" || key === "Delete") return () => event.repeat || this.correct(null);
    const chosen = this.host.classes().find((one) => one.key && one.key === key);
    return chosen ? () => event.repeat || this.correct(chosen.name) : null;
  }

  walk(step, extend) {
    if (!this.listing.total) return;
    let from = this.cursor;
    // With no cursor, or none any more, the next row is the one that stands in its place.
    if (from < 0) from = Math.ceil(this.wall.top / this.wall.line) * this.wall.across - (step > 0 ? step : -1);
    else if (this.adrift && step > 0) from -= 1;
    const to = clamp(Number.isFinite(step) ? from + step : step, 0, this.listing.total - 1);
    this.choose(to, extend);
    this.wall.reveal(to);
    this.list.focus();
  }

  click(event) {
    const node = event.target.closest("[data-item]");
    if (!node) return;
    const index = Number(node.dataset.index);
    if (event.ctrlKey || event.metaKey || event.target.closest(".mark")) this.toggle(index);
    else this.choose(index, event.shiftKey);
    this.list.focus();
  }

  choose(index, extend) {
    this.cursor = index;
    this.adrift = false;
    if (!extend || this.anchor < 0) this.anchor = index;
    this.select(this.anchor, index);
  }

  toggle(index) {
    const row = this.listing.row(index);
    if (!row || this.choosing) return;
    Object.assign(this, { cursor: index, cursorItem: row.item, anchor: index, anchorItem: row.item, adrift: false });
    if (!this.selected.delete(row.item) && this.selected.size < MOST) this.selected.set(row.item, { index, row });
    this.wall.draw();
  }

  // From one place to another, as soon as the rows between them are there.
  select(from, to) {
    const end = clamp(to, from - MOST + 1, from + MOST - 1);
    if (end !== to) this.host.say(`A selection holds at most ${items(MOST)}.`);
    this.selected.clear();
    const mine = (this.choosing = {});
    mine.done = this.gather(mine, Math.min(from, end), Math.max(from, end));
    if (this.choosing) this.wall.draw();
  }

  async gather(mine, low, high) {
    const missing = () => this.missing(low, high + 1);
    const going = () => this.choosing === mine && !this.closed;
    while (missing().length && going() && !this.failed) await this.load(missing());
    if (!going()) return;
    this.choosing = null;
    const there = !missing().length;
    for (let index = low; there && index <= high; index += 1) {
      const entry = this.entry(index);
      if (entry.row) this.selected.set(entry.row.item, entry);
    }
    this.cursorItem = this.listing.row(this.cursor)?.item;
    this.anchorItem = this.listing.row(this.anchor)?.item;
    this.wall.draw();
  }

  // Labels what is selected, or with null takes its labels away; it is shown at once.
  correct(name) {
    this.list.focus();
    if (this.choosing) return this.choosing.done.then(() => this.correct(name));
    const labelled = ({ row }) => row.label !== null || row.state === "unsure" || row.state === "skipped";
    const chosen = [...this.selected.values()].filter((entry) => name !== null || labelled(entry));
    if (!chosen.length) {
      const nothing = "Nothing is selected. Click an item, or walk to it.";
      return this.host.say(this.selected.size ? "There is no label to clear." : nothing);
    }
    const seen = chosen.filter(({ row }) => row.version !== undefined);
    const versions = Object.fromEntries(seen.map(({ row }) => [row.item, row.version]));
    const change = name === null
      ? { label: null, by: null, time: null, state: "unknown" }
      : { label: name, by: "you", time: new Date().toISOString(), state: "labelled" };
    const after = chosen.map((entry) => this.listing.correct(entry, change));
    for (const entry of after) this.selected.set(entry.row.item, entry);
    this.fail(null);
    this.wall.draw();
    return this.send(after.map(({ row }) => row), name, versions);
  }

  async send(rows, name, versions) {
    const names = rows.map(({ item }) => item);
    try {
      if (name === null) await this.host.clear(names, versions);
      else await this.host.label(names, name, "review", versions);
    } catch (error) {
      this.reason = `: ${sentence(error)}`;
    }
    this.listing.answered(rows);
    this.reload();
  }

  open() {
    if (this.cursorItem && !this.adrift && this.cursor >= 0) this.host.open(this.cursorItem);
  }

  showAs(tiles) {
    this.head.hidden = tiles;
    this.list.classList.toggle("tiles", tiles);
    this.list.setAttribute("role", tiles ? "listbox" : "grid");
    this.views.forEach((view, place) => view.setAttribute("aria-pressed", tiles === (place === 1)));
    this.wall.reshape(tiles);
  }

  showClasses() {
    const classes = this.host.classes();
    const shown = JSON.stringify(classes.map(({ name, key, colour }) => [name, key, colour]));
    if (shown === this.shownClasses) return;
    this.shownClasses = shown;
    this.colours = new Map(classes.map(({ name, colour }) => [name, colour]));
    this.filters.showClasses(this.colours.keys());
    this.classes.replaceChildren(...classes.map(({ name, key }) => {
      const cap = key ? [make("kbd", {}, key)] : [];
      return button({ onclick: () => this.correct(name) }, ...cap, dot(name, this.colours), name);
    }));
  }

  showCount() {
    const { size } = this.selected;
    const words = `${items(this.listing.total)}${size ? ` · ${number.format(size)} selected` : ""}`;
    if (this.count.textContent !== words) this.count.textContent = words;
    for (const one of [...this.classes.children, this.clearing, this.opening]) one.disabled = !size;
  }

  showEmpty() {
    this.empty.hidden = this.listing.total > 0;
    const { narrowed } = this.filters;
    const words = narrowed ? "No item fits these filters." : SHOW[this.filters.values.show][1];
    const clear = button({ className: "chip", onclick: () => this.filters.set(EVERYTHING) }, "Clear filters");
    this.empty.replaceChildren(make("p", {}, words), ...(narrowed ? [clear] : []));
  }

  tell(words) {
    if (this.note.textContent !== words) this.note.textContent = words;
  }

  showRefusal() {
    const what = `Could not change ${items(this.listing.refused)}${this.reason ?? "."}`;
    this.trouble.replaceChildren(`${what} The list shows what is saved: look, and press the key again.`);
    this.listing.refused = 0;
    this.reason = undefined;
  }

  fail(error, anew = false) {
    this.failed = error !== null;
    if (!this.failed) return this.trouble.replaceChildren();
    const again = button({ className: "chip", onclick: () => (this.fail(null), this.reload(anew)) }, "Try again");
    this.trouble.replaceChildren(`Could not read the items: ${sentence(error)} `, again);
  }
}
