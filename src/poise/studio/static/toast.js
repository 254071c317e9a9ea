// A note at the bottom of any screen about what has just happened to several items, with an undo.

import { button, byId, element } from "./dom.js";

const SHOWN_MS = 10_000;

let hiding = null;

function hide() {
  clearTimeout(hiding);
  const toast = byId("toast");
  // The button must not disappear under somebody who is about to press it.
  if (toast.matches(":hover, :focus-within")) hiding = setTimeout(hide, SHOWN_MS);
  else toast.hidden = true;
}

export function toast(words, undo) {
  const note = byId("toast");
  const onclick = () => {
    note.hidden = true;
    undo();
  };
  const actions = undo ? [button({ onclick }, "Undo ", element("kbd", {}, "u"))] : [];
  note.replaceChildren(element("span", {}, words), ...actions);
  note.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(hide, SHOWN_MS);
}
