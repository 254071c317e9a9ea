// The review screen: every item with its label or the model's guess, to look through and correct.
// Only what is in sight is in the page, and only some pages of rows are kept, so that a million items
// scroll like a hundred.

import { button, element } from "./dom.js";
import { Bar } from "./review-bar.js";
import { Contents } from "./review-contents.js";
import { Corrections } from "./review-corrections.js";
import { Filters, SHOW } from "./review-filters.js";
import { ReviewInput } from "./review-input.js";
import { EVERYTHING, Listing, PAGE, pageOf, pagesIn } from "./review-listing.js";
import { Notes } from "./review-notes.js";
import { COLUMNS, cells, fill } from "./review-rows.js";
import { NOTHING_SELECTED, Selection } from "./review-selection.js";
import { Wall } from "./review-wall.js";

const REST_MS = 60; // rows that fly by faster are not fetched
const RENEWAL_POLL_MS = 1000; // until the guesses include the last answers
const OUTDATED = "These predictions do not include your last answers yet. New ones are being computed.";

// Where the person was, for when they come back from the label screen.
let remembered = { filters: EVERYTHING, tiles: false, top: 0 };

// With `wanted.search` it begins at the search field, with `wanted.like` at the items similar to that one.
export function mountReview(container, host, wanted) {
  if (wanted)
    remembered = { filters: { ...EVERYTHING, like: wanted.like ?? "" }, tiles: host.kind() !== "text", top: 0 };
  const review = new Review(container, host);
  if (wanted?.search) review.filters.search(wanted.typed);
  else if (wanted) review.entering = true;
  if (wanted?.entered) review.enter();
  return {
    update: (state) => review.update(state),
    close: () => review.close(),
    want: ({ search, like }) => (search ? review.filters.search() : review.showSimilar(like)),
  };
}

class Review {
  constructor(container, host) {
    Object.assign(this, { container, host, starting: remembered.top });
    this.contents = new Contents(
      (item) => host.content(item),
      (item, made) => this.showContent(item, made),
    );
    this.input = new ReviewInput(this);
    this.build();
    this.listing = new Listing(
      (path) => host.get(path),
      (words) => this.notes.tell(words ?? "The model is computing."),
    );
    const rows = {
      row: (index) => this.listing.row(index),
      missing: (first, last) => this.missing(first, last),
      load: (pages) => this.load(pages),
      stopped: () => this.failed || this.closed,
    };
    const changed = () => {
      if (!this.closed) this.wall.draw();
    };
    this.selection = new Selection(rows, changed, (words) => host.say(words));
    this.corrections = new Corrections(this.listing, this.selection, host, {
      shown: () => {
        this.fail(null);
        this.wall.draw();
      },
      answered: () => this.reload(),
    });
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
    this.head.querySelector(".confidence").title =
      "How often such guesses are right, estimated from labels that were held out; not a measured accuracy";
    this.head.querySelector(".suspicion").title =
      "Probability that this label is wrong, judging by the other labels; from 50% it is suspicious";
    this.space = element("div", { className: "space", role: "presentation" });
    this.list = element("div", { className: "list", tabIndex: 0, "aria-label": "Items" }, this.head, this.space);
    this.list.setAttribute("aria-multiselectable", "true");
    this.notes = new Notes();
    this.bar = new Bar({
      label: (name) => this.correct(name),
      clear: () => this.correct(null),
      open: () => this.open(),
      showSimilar: () => this.showSimilar(),
    });
    this.container.tabIndex = -1;
    this.container.replaceChildren(
      element(
        "div",
        "review",
        element("h1", "unseen", "Review"),
        this.filters.root,
        this.notes.trouble,
        element("div", "frame", this.list, this.notes.empty, this.notes.note),
        this.bar.root,
      ),
    );
  }

  listen() {
    this.ending = new AbortController();
    const { signal } = this.ending;
    const on = (target, kind, act, more) => target.addEventListener(kind, act, { signal, ...more });
    on(this.container, "keydown", (event) => this.input.press(event));
    on(this.container, "focus", () => this.list.focus());
    on(this.list, "scroll", () => this.wall.scrolled());
    on(this.list, "wheel", (event) => this.wall.wheel(event), { passive: false });
    // A click with Shift selects a range of items here, not of text.
    on(this.space, "mousedown", (event) => event.shiftKey && event.preventDefault());
    on(this.space, "click", (event) => this.input.click(event));
    on(this.space, "dblclick", () => this.open());
    const [table, tiles] = this.views;
    on(table, "click", () => this.showAs(false));
    on(tiles, "click", () => this.showAs(true));
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
    this.filters.assistants.offer(state.assistants, (name) => this.host.discard(name));
    const seen = `${state.last} ${state.items}`;
    const news = this.seen !== undefined && this.seen !== seen;
    this.seen = seen;
    if (news) this.reload();
  }

  // Fetches what is in sight and what is selected. An update waits for the one under way; new filters do
  // not wait.
  async reload(anew = false) {
    if (this.closed) return;
    if (this.reloading && !anew) {
      this.stale = true;
      return;
    }
    const mine = {};
    this.reloading = mine;
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
    const selected = [...this.selection.entries.values()].map(({ index }) => pageOf(index));
    return [...new Set([...pagesIn(...this.wall.sight()), ...selected])];
  }

  settle(anew) {
    const positions = new Map();
    for (const [page, rows] of this.listing.pages) {
      for (const [offset, { item }] of rows.entries()) positions.set(item, page * PAGE + offset);
    }
    this.selection.follow(positions, this.listing.total, anew);
    this.notes.tell(this.listing.fresh ? "" : OUTDATED);
    if (!this.listing.fresh) this.renewing ??= setTimeout(() => this.renew(), RENEWAL_POLL_MS);
    if (this.failed) this.fail(null);
    if (this.listing.refused) this.corrections.showRefusal(this.notes);
    this.countRows();
    this.wall.measure();
    this.wall.moveTo(anew ? this.starting : this.wall.top);
    this.starting = 0;
    this.filters.showLike(this.listing.like);
    this.showEmpty();
    if (this.entering && this.listing.total) this.selection.choose(0);
    this.entering = false;
    this.container.dataset.ready = "yes";
  }

  renew() {
    this.renewing = null;
    this.reload();
  }

  // After every step of a scroll; what is missing is fetched after a short rest.
  moved() {
    const current = this.space.querySelector(".current");
    if (current) this.list.setAttribute("aria-activedescendant", current.id);
    else this.list.removeAttribute("aria-activedescendant");
    this.showCount();
    this.resting ??= setTimeout(() => {
      this.resting = null;
      this.want();
    }, REST_MS);
  }

  dress(node, index) {
    const row = this.listing.row(index);
    const { tiles } = this.wall;
    if (node.row !== row || !node.firstChild) {
      fill(node, row, tiles, this.colours);
      node.querySelector(".content").append(this.contents.get(row?.item));
      node.row = row;
    }
    node.dataset.index = index;
    node.setAttribute("role", tiles ? "option" : "row");
    node.setAttribute(tiles ? "aria-posinset" : "aria-rowindex", tiles ? index + 1 : index + 2);
    if (tiles) node.setAttribute("aria-setsize", this.listing.total);
    node.setAttribute("aria-selected", row !== undefined && this.selection.has(row.item));
    node.classList.toggle("current", this.selection.isCurrent(index));
  }

  // Fetches the rows and contents in sight that are missing.
  want() {
    if (this.closed || this.reloading || this.failed) return;
    const missing = this.missing(...this.wall.sight());
    if (missing.length) this.load(missing);
    for (const { row } of this.wall.nodes.values()) {
      if (row) this.contents.want(row.item);
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

  showContent(item, made) {
    if (made.classList.contains("text")) this.list.dataset.kind = "text";
    for (const node of this.wall.nodes.values()) {
      if (node.row?.item === item) node.querySelector(".content").replaceChildren(made);
    }
    this.want();
  }

  // From the search field to the first row that it finds.
  enter() {
    this.filters.settle();
    this.list.focus();
    this.entering = Boolean(this.reloading);
    if (!this.entering && this.listing.total && this.selection.cursor < 0) this.selection.choose(0);
  }

  // The items most similar to the one at the cursor, or to another one.
  showSimilar(item = this.selection.current) {
    if (!item) return this.host.say(NOTHING_SELECTED);
    this.list.focus();
    this.entering = true;
    return this.filters.set({ ...EVERYTHING, like: item });
  }

  // Labels the selection, or clears its labels if the name is null.
  correct(name) {
    this.list.focus();
    return this.corrections.make(name);
  }

  open() {
    const { current } = this.selection;
    if (current) this.host.open(current);
  }

  showAs(tiles) {
    this.head.hidden = tiles;
    this.list.classList.toggle("tiles", tiles);
    this.list.setAttribute("role", tiles ? "listbox" : "grid");
    const [tableChip, tilesChip] = this.views;
    tableChip.setAttribute("aria-pressed", !tiles);
    tilesChip.setAttribute("aria-pressed", tiles);
    this.wall.reshape(tiles);
    this.countRows();
  }

  // A list of tiles has no rows; each tile has its own position.
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
    this.bar.showClasses(classes, this.colours);
  }

  showCount() {
    const { total, agreement, summary } = this.listing;
    this.filters.offer("disagreed", Boolean(agreement));
    this.bar.show(total, this.selection.size, summary);
  }

  showEmpty() {
    const { narrowed, values } = this.filters;
    const words = narrowed ? "No items match these filters." : SHOW[values.show][1];
    const clear = narrowed ? () => this.filters.set(EVERYTHING) : null;
    this.notes.showEmpty(this.listing.total === 0, words, clear);
  }

  // Null: reading works again.
  fail(error, anew = false) {
    this.failed = error !== null;
    if (!this.failed) {
      this.notes.clearTrouble();
      return;
    }
    this.notes.showFailure(error, () => {
      this.fail(null);
      this.reload(anew);
    });
  }
}
