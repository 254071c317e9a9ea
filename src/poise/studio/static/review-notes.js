// What the review screen says besides its rows: why there are none, what is computed, what went wrong.

import { reason } from "./api.js";
import { button, element } from "./dom.js";
import { items } from "./format.js";

const chip = (words, onclick) => button({ className: "chip", onclick }, words);

export class Notes {
  constructor() {
    this.empty = element("div", { className: "empty", hidden: true });
    this.note = element("p", { className: "note", role: "status" });
    this.trouble = element("div", { className: "trouble", role: "alert" });
  }

  tell(words) {
    if (this.note.textContent !== words) this.note.textContent = words;
  }

  // There are no rows, and why; `clear` removes the filters, if there are any.
  showEmpty(isEmpty, words, clear) {
    this.empty.hidden = !isEmpty;
    this.empty.replaceChildren(element("p", {}, words), ...(clear ? [chip("Clear filters", clear)] : []));
  }

  showRefusal(count, why = ".") {
    const words = `Could not change ${items(count)}${why} The list shows what is saved. Check it and press the key again.`;
    this.trouble.replaceChildren(words);
  }

  showFailure(error, again) {
    this.trouble.replaceChildren(`Could not read the items: ${reason(error)} `, chip("Try again", again));
  }

  clearTrouble() {
    this.trouble.replaceChildren();
  }
}
