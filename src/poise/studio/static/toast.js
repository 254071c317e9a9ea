// A note at the foot of any screen about what has just happened to several items, with a way back.

import { button, byId, element } from "./dom.js";

const STAYS = 10_000; // milliseconds

let place = null;
let going = null;

function hide() {
  clearTimeout(going);
  // Whoever is about to press the button must find it there.
  if (place.matches(":hover, :focus-within")) going = setTimeout(hide, STAYS);
  else place.hidden = true;
}

export function toast(words, undo) {
  place = byId("toast");
  const parts = [element("span", {}, words)];
  if (undo) {
    const onclick = () => {
      place.hidden = true;
      undo();
    };
    parts.push(button({ onclick }, "Undo ", element("kbd", {}, "u")));
  }
  place.replaceChildren(...parts);
  place.hidden = false;
  clearTimeout(going);
  going = setTimeout(hide, STAYS);
}
