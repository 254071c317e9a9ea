// Labels that are changed on the review screen: shown at once, then sent.

import { reason } from "./api.js";
import { NOTHING_SELECTED } from "./review-selection.js";

const SET_ASIDE = ["unsure", "skipped"];

export class Corrections {
  // `shown()` is called when the list has the new labels, `answered()` when the server has decided.
  constructor(listing, selection, host, { shown, answered }) {
    Object.assign(this, { listing, selection, host, shown, answered, refusal: undefined });
  }

  // Labels the selection, or clears its labels if the name is null.
  make(name) {
    const { entries, gathering } = this.selection;
    if (gathering) return gathering.done.then(() => this.make(name));
    const isLabelled = ({ row }) => row.label !== null || SET_ASIDE.includes(row.state);
    const changed = [...entries.values()].filter((entry) => name !== null || isLabelled(entry));
    if (!changed.length) return this.host.say(entries.size ? "There is no label to clear." : NOTHING_SELECTED);
    const known = changed.filter(({ row }) => row.version !== undefined);
    const versions = Object.fromEntries(known.map(({ row }) => [row.item, row.version]));
    const change =
      name === null
        ? { label: null, by: null, time: null, state: "unknown" }
        : { label: name, by: "you", time: new Date().toISOString(), state: "labelled" };
    const after = changed.map((entry) => this.listing.correct(entry, change));
    for (const entry of after) entries.set(entry.row.item, entry);
    this.shown();
    return this.send(
      after.map(({ row }) => row),
      name,
      versions,
    );
  }

  async send(rows, name, versions) {
    const items = rows.map(({ item }) => item);
    try {
      if (name === null) await this.host.clear(items, versions);
      else await this.host.label(items, name, "review", versions);
    } catch (error) {
      this.refusal = `: ${reason(error)}`;
    }
    this.listing.answered(rows);
    this.answered();
  }

  showRefusal(notes) {
    notes.showRefusal(this.listing.refused, this.refusal);
    this.listing.refused = 0;
    this.refusal = undefined;
  }
}
