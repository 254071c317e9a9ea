// Pictures and texts of the rows in sight: a few at a time, the latest kept.

import { element } from "./dom.js";

const MAX_KEPT = 600;
// Of the six connections that a browser opens, some stay free for answers.
const MAX_REQUESTS = 3;

export class Contents {
  // `fetch(item)` resolves with an element; `arrived(item, element)` shows it.
  constructor(fetch, arrived) {
    Object.assign(this, { fetch, arrived, requests: 0 });
    this.elements = new Map(); // item -> element, null while it is fetched
  }

  get(item) {
    return this.elements.get(item) ?? "";
  }

  // Fetches it, unless it is there or too much is on its way.
  want(item) {
    if (this.requests < MAX_REQUESTS && !this.elements.has(item)) this.load(item);
  }

  async load(item) {
    this.requests += 1;
    this.elements.set(item, null);
    if (this.elements.size > MAX_KEPT) this.elements.delete(this.elements.keys().next().value);
    const made = await this.fetch(item).catch(() => element("p", "gone", "cannot be shown"));
    this.requests -= 1;
    this.elements.set(item, made);
    this.arrived(item, made);
  }
}
