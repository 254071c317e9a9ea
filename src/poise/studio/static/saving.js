// Whether what was done is on disk: a word in the top bar, and a banner on every screen if it is not.

import { at, count } from "./panels.js";

export function saved(words) {
  at("saved").textContent = words === "saved" ? "✓ saved" : words;
  at("saved").className = words === "saved" ? "" : "waiting";
}

function banner(words) {
  at("unsaved").hidden = !words;
  if (at("unsaved").textContent !== words) at("unsaved").textContent = words;
}

export function saving() {
  if (at("unsaved").hidden) saved("saving…");
}

// The server has decided about everything that was sent.
export function settled(words) {
  saved(words);
  banner("");
}

export function notSaved(error, n) {
  const waits = n === 1 ? "what you did last waits" : `${count(n)} answers wait`;
  const why = error.status === 403
    ? "poise was started again: open the address that it printed, and it is sent"
    : "poise does not answer: start it again, and it is sent by itself";
  saved("not saved");
  banner(`Not saved yet: ${waits} in this browser. ${why}.`);
}
