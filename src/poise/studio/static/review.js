// The review screen: every item with its label or the model's guess, to look through and correct.
// Only what is in sight is in the page, and only some pages of rows are held, so that a million
// items scroll like a hundred.

import { reason } from "./api.js";
import { button, element } from "./dom.js";
import { items, number } from "./format.js";
import { clamp } from "./geometry.js";
import { keyOf } from "./keys.js";
import { Filters, SHOW } from "./review-filters.js";
import { EVERYTHING, Listing, PAGE, pageOf, pagesIn } from "./review-listing.js";
import { COLUMNS, cells, dot, fill } from "./review-rows.js";
import { Wall } from "./review-wall.js";

const CONTENTS = 600;
// Of the six connections that a browser opens, some stay free for answers.
const AT_ONCE = 3;
// What one correction may name: its request stays far below the server's bound.
const MOST = 2000;
// In milliseconds: what flies by faster is not asked for.
const REST = 60;
// Likewise: between two looks whether there are guesses that know the last answers.
const RENEW = 1000;

// Where the person was, for when they come back from the label screen.
let remembered = { filters: EVERYTHING, tiles: false, top: 0 };

// With `wanted.search` it begins at the search field, with `wanted.like` at what is like that item.
export function mountReview(container, host, wanted) {
  if (wanted) remembered = { filters: { ...EVERYTHING, like: wanted.like ?? "" }, tiles: host.kind() !== "text", top: 0 };
  const review = new Review(container, host);
  if (wanted?.search) review.filters.search(wanted.typed);
  else if (wanted) review.entering = true;
  if (wanted?.entered) review.enter();
  return {
    update: (state) => review.update(state),
    close: () => review.close(),
    want: ({ search, like }) => (search ? review.filters.search() : review.showLike(like)),
  };
}

class Review {
  constructor(container, host) {
    Object.assign(this, { container, host, starting: remembered.top, fetching: 0 });
    Object.assign(this, { cursor: -1, anchor: -1, adrift: false });
    this.contents = new Map(); // item -> element, null while it is fetched
    this.selected = new Map(); // item -> its place and row
    this.build();
    this.listing = new Listing((path) => host.get(path), (words) => this.tell(words ?? "The model is computing."));
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
    this.head = element("div", { className: "head", role: "row", "aria-rowindex": 1 });
    this.head.append(...cells("columnheader", COLUMNS));
    this.head.querySelector(".confidence").title = "How often such guesses are right, judged by labels held out; not a measured accuracy";
    this.head.querySelector(".suspicion").title = "Probability that this label is wrong, by what the other labels say; from 50% on it is suspicious";
    this.space = element("div", { className: "space", role: "presentation" });
    this.list = element("div", { className: "list", tabIndex: 0, "aria-label": "Items" }, this.head, this.space);
    this.list.setAttribute("aria-multiselectable", "true");
    this.empty = element("div", { className: "empty", hidden: true });
    this.trouble = element("div", { className: "trouble", role: "alert" });
    this.count = element("p", { className: "count", role: "status" });
    this.note = element("p", { className: "note", role: "status" });
    this.classes = element("div", { className: "classes", role: "group", "aria-label": "Label the selection as" });
    this.clearing = button({}, element("kbd", {}, "⌫"), " Clear label");
    this.opening = button({}, element("kbd", {}, "Enter"), " Open");
    this.more = button({}, element("kbd", {}, "l"), " Like this");
    this.container.tabIndex = -1;
    this.container.replaceChildren(element("div", "review",
      element("h1", "unseen", "Review"),
      this.filters.root,
      this.trouble,
      element("div", "frame", this.list, this.empty, this.note),
      element("div", "bar", this.count, this.classes, this.more, this.clearing, this.opening)));
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
    on(this.more, "click", () => this.showLike());
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
    clearTimeout(this.renewing);
    delete this.container.dataset.ready;
    this.container.replaceChildren();
  }

  update(state) {
    this.showClasses();
    const seen = `${state.last} ${state.items}`;
    const news = this.seen !== undefined && this.seen !== seen;
    this.seen = seen;
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
    this.tell(this.listing.fresh ? "" : "The guesses do not know your last answers yet: new ones are being computed.");
    if (!this.listing.fresh) this.renewing ??= setTimeout(() => this.renew(), RENEW);
    if (this.failed) this.fail(null);
    if (this.listing.refused) this.showRefusal();
    this.countRows();
    this.wall.measure();
    this.wall.moveTo(anew ? this.starting : this.wall.top);
    this.starting = 0;
    this.filters.showLike(this.listing.like);
    this.showEmpty();
    if (this.entering && this.listing.total) this.choose(0);
    this.entering = false;
    this.container.dataset.ready = "yes";
  }

  renew() {
    this.renewing = null;
    this.reload();
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
    const made = await this.host.content(item).catch(() => element("p", "gone", "cannot be shown"));
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
    return key === "Enter" || key === "ArrowDown" ? () => this.enter() : null;
  }

  // From the search field to the first of what it finds.
  enter() {
    this.filters.settle();
    this.list.focus();
    this.entering = Boolean(this.reloading);
    if (!this.entering && this.listing.total && this.cursor < 0) this.choose(0);
  }

  // What is like the item at the cursor, or like another.
  showLike(item = this.adrift || this.cursor < 0 ? null : this.cursorItem) {
    if (!item) return this.host.say("Nothing is selected. Click an item, or walk to it.");
    this.list.focus();
    this.entering = true;
    return this.filters.set({ ...EVERYTHING, like: item });
  }

  keyInList(event, control) {
    const { shiftKey } = event;
    const key = keyOf(event, this.host.classes());
    if (event.altKey) return null;
    if (event.ctrlKey || event.metaKey) return key === "a" ? () => this.select(0, this.listing.total - 1) : null;
    if (control && (key === "Enter" || key === " ")) return null;
    const steps = this.wall.steps();
    if (key in steps) return () => this.walk(steps[key], shiftKey);
    if (key === "Enter") return () => this.open();
    if (key === " ") return () => this.toggle(this.cursor);
    if (key === "Backspace" || key === "Delete") return () => event.repeat || this.correct(null);
    const chosen = this.host.classes().find((one) => one.key && one.key === key);
    if (chosen) return () => event.repeat || this.correct(chosen.name);
    const own = { l: () => this.showLike(), u: () => this.host.undo(), "/": () => this.filters.search() }[key];
    return own ? () => event.repeat || own() : null;
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
      this.reason = `: ${reason(error)}`;
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
    this.countRows();
  }

  // A list of tiles has no rows; each tile says its place itself.
  countRows() {
    if (this.wall.tiles) this.list.removeAttribute("aria-rowcount");
    else this.list.setAttribute("aria-rowcount", this.listing.total + 1);
  }

  showClasses() {
    const classes = this.host.classes();
    const shown = JSON.stringify(classes.map(({ name, key, colour }) => [name, key, colour]));
    if (shown === this.shownClasses) return;
    this.shownClasses = shown;
    this.colours = new Map(classes.map(({ name, colour, plain }) => [name, plain ? "transparent" : colour]));
    this.filters.showClasses(this.colours.keys());
    this.classes.replaceChildren(...classes.map(({ name, key }) => {
      const cap = key ? [element("kbd", {}, key)] : [];
      return button({ onclick: () => this.correct(name) }, ...cap, dot(name, this.colours), name);
    }));
  }

  showCount() {
    const { size } = this.selected;
    const { total, said, agreement } = this.listing;
    const words = [items(total), size ? `${number(size)} selected` : "", said].filter(Boolean).join(" · ");
    this.filters.offer("disagreed", Boolean(agreement));
    if (this.count.textContent !== words) this.count.textContent = words;
    for (const one of [...this.classes.children, this.more, this.clearing, this.opening]) one.disabled = !size;
  }

  showEmpty() {
    this.empty.hidden = this.listing.total > 0;
    const { narrowed } = this.filters;
    const words = narrowed ? "No item fits these filters." : SHOW[this.filters.values.show][1];
    const clear = button({ className: "chip", onclick: () => this.filters.set(EVERYTHING) }, "Clear filters");
    this.empty.replaceChildren(element("p", {}, words), ...(narrowed ? [clear] : []));
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
    this.trouble.replaceChildren(`Could not read the items: ${reason(error)} `, again);
  }
}
