// Whether every answer is on disk: a word in the top bar, and a banner on every screen if not.

import { byId } from "./dom.js";
import { number } from "./format.js";

const RESTARTED = 403; // the server does not know this browser any more

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

export function notSaved(error, count) {
  const waiting = count === 1 ? "your last action is" : `${number(count)} actions are`;
  const remedy =
    error.status === RESTARTED
      ? "poise was restarted. Open the address that it printed to save your work"
      : "poise does not answer. Start it again to save your work";
  saved("not saved");
  banner(`Not saved yet: ${waiting} kept in this browser. ${remedy}.`);
}

// The server has ended by itself.
export function ended(words) {
  saved("ended");
  banner(words);
}
