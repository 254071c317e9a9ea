// The rows of the review screen: fetched a page at a time; a corrected row is shown at once.

export const PAGE = 100;
const MAX_PAGES_KEPT = 100;
const POLL_MS = 500;
export const EVERYTHING = { show: "all", class: "", from: 0, to: 1, sort: "order", text: "", like: "", assistant: "" };

export const pageOf = (index) => Math.floor(index / PAGE);

export function pagesIn(first, last) {
  const length = pageOf(Math.max(last - 1, first)) - pageOf(first) + 1;
  return Array.from({ length }, (_, offset) => pageOf(first) + offset);
}

// The rows of one list, as far as they are loaded.
export class Listing {
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
    const { show, sort, from, to, text, like, assistant } = this.filters;
    const query = new URLSearchParams({ offset: page * PAGE, limit: PAGE, show, sort });
    if (this.filters.class) query.set("class", this.filters.class);
    if (from > 0 || to < 1) {
      query.set("from", Math.min(from, to));
      query.set("to", Math.max(from, to));
    }
    if (text) query.set("text", text);
    if (like) query.set("like", like);
    if (show === "assisted") query.set("assistant", assistant);
    return `api/review?${query}`;
  }

  // One page, or null if the list was refreshed in the meantime.
  async fetch(page, turn) {
    for (;;) {
      const response = await this.get(this.address(page));
      if (turn !== this.turn) return null;
      if (!response.preparing) return response;
      this.preparing(response.words);
      await new Promise((done) => {
        setTimeout(done, POLL_MS);
      });
    }
  }

  load(page) {
    const { asked } = this;
    if (!asked.has(page)) {
      const again = () => (this.closed ? null : this.load(page));
      const loading = this.fetch(page, this.turn).then((response) => (response ? this.keep(page, response) : again()));
      asked.set(
        page,
        loading.finally(() => asked.delete(page)),
      );
    }
    return asked.get(page);
  }

  // Fetches the pages that `wanted` names, together; the old rows stay until then. False if another refresh
  // overtook this one.
  async refresh(filters, wanted) {
    this.turn += 1;
    const { turn } = this;
    this.filters = filters;
    this.asked = new Map();
    const fetched = new Map();
    const missing = () => wanted().filter((page) => !fetched.has(page));
    // The person may have gone on to other pages in the meantime.
    for (let pages = missing(); pages.length; pages = missing()) {
      await Promise.all(pages.map(async (page) => fetched.set(page, await this.fetch(page, turn))));
      if (turn !== this.turn) return false;
    }
    this.pages.clear();
    for (const [page, response] of fetched) this.keep(page, response);
    // Nothing more is expected of corrections that the server has decided on and whose rows are not here.
    for (const [item, { until }] of this.corrected) if (until <= turn) this.corrected.delete(item);
    return true;
  }

  keep(page, { rows, total, like, said: summary, agreement, fresh }) {
    Object.assign(this, { total, summary, agreement, fresh });
    this.like = like;
    this.pages.set(
      page,
      rows.map((row) => this.asCorrected(row)),
    );
    if (this.pages.size > MAX_PAGES_KEPT) {
      const distance = (other) => Math.abs(other - page);
      this.pages.delete([...this.pages.keys()].reduce((a, b) => (distance(b) > distance(a) ? b : a)));
    }
  }

  // A correction is shown until the server shows it too, or has decided and shows something else.
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
    // The server decides which version the item has after the change.
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
