// Which rows of the review screen are selected, and where the cursor is.

import { items } from "./format.js";
import { clamp } from "./geometry.js";

// One correction names at most so many items: its request stays far below the server's limit.
const MAX_ITEMS = 2000;

export const NOTHING_SELECTED = "Nothing is selected. Click an item, or use the arrow keys.";

export class Selection {
  // `rows` holds them: row(index), missing(first, last) -> pages, load(pages), stopped(). `changed()` is
  // called after every change, `say(words)` when a selection is cut short.
  constructor(rows, changed, say) {
    Object.assign(this, { rows, changed, say });
    this.entries = new Map(); // item -> its index and row
    this.cursor = this.anchor = -1;
    this.adrift = false; // the row at the cursor is another item than before
    this.gathering = null; // while rows between two indices are loaded
  }

  get size() {
    return this.entries.size;
  }

  has(item) {
    return this.entries.has(item);
  }

  // The item at the cursor, or null.
  get current() {
    return this.adrift || this.cursor < 0 ? null : (this.cursorItem ?? null);
  }

  isCurrent(index) {
    return index === this.cursor && !this.adrift;
  }

  entry(index) {
    return { index, row: this.rows.row(index) };
  }

  // After the rows have changed: selection and cursor follow their items. An item that left the list is
  // not selected any more, so that no key changes what nobody sees.
  follow(positions, total, anew) {
    const kept = [...this.entries.keys()].filter((item) => !anew && positions.has(item));
    this.entries = new Map(kept.map((item) => [item, this.entry(positions.get(item))]));
    this.adrift = this.cursor >= 0 && !this.gathering && !positions.has(this.cursorItem);
    if (anew) this.cursor = this.anchor = -1;
    else this.cursor = Math.min(positions.get(this.cursorItem) ?? this.cursor, total - 1);
    if (!this.gathering) this.anchor = positions.get(this.anchorItem) ?? this.cursor;
  }

  choose(index, extend) {
    this.cursor = index;
    this.adrift = false;
    if (!extend || this.anchor < 0) this.anchor = index;
    this.select(this.anchor, index);
  }

  toggle(index) {
    const row = this.rows.row(index);
    if (!row || this.gathering) return;
    Object.assign(this, { cursor: index, cursorItem: row.item, anchor: index, anchorItem: row.item, adrift: false });
    if (!this.entries.delete(row.item) && this.size < MAX_ITEMS) this.entries.set(row.item, { index, row });
    this.changed();
  }

  // From one index to another, as soon as the rows between them are loaded.
  select(from, to) {
    const end = clamp(to, from - MAX_ITEMS + 1, from + MAX_ITEMS - 1);
    if (end !== to) this.say(`You can select at most ${items(MAX_ITEMS)}.`);
    this.entries.clear();
    const mine = {};
    this.gathering = mine;
    mine.done = this.gather(mine, Math.min(from, end), Math.max(from, end));
    if (this.gathering) this.changed();
  }

  async gather(mine, low, high) {
    const missing = () => this.rows.missing(low, high + 1);
    const isOn = () => this.gathering === mine;
    while (missing().length && isOn() && !this.rows.stopped()) await this.rows.load(missing());
    if (!isOn()) return;
    this.gathering = null;
    const complete = !missing().length;
    for (let index = low; complete && index <= high; index += 1) {
      const entry = this.entry(index);
      if (entry.row) this.entries.set(entry.row.item, entry);
    }
    this.cursorItem = this.rows.row(this.cursor)?.item;
    this.anchorItem = this.rows.row(this.anchor)?.item;
    this.changed();
  }
}
