// Whether what was done is on disk: a word in the top bar, and a banner on every screen if it is not.

import { byId } from "./dom.js";
import { number } from "./format.js";

export function saved(words) {
  byId("saved").textContent = words === "saved" ? "✓ saved" : words;
  byId("saved").className = words === "saved" ? "" : "waiting";
}

function banner(words) {
  byId("unsaved").hidden = !words;
  if (byId("unsaved").textContent !== words) byId("unsaved").textContent = words;
}

export function saving() {
  if (byId("unsaved").hidden) saved("saving…");
}

// The server has decided about everything that was sent.
export function settled(words) {
  saved(words);
  banner("");
}

export function notSaved(error, n) {
  const waits = n === 1 ? "what you did last waits" : `${number(n)} answers wait`;
  const why = error.status === 403
    ? "poise was started again: open the address that it printed, and it is sent"
    : "poise does not answer: start it again, and it is sent by itself";
  saved("not saved");
  banner(`Not saved yet: ${waits} in this browser. ${why}.`);
}
