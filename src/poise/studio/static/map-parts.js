// Parts of the map screen: built from their arguments, they know nothing of the map itself.

import { button, element } from "./dom.js";
import { items, number, probability } from "./format.js";

// One of several: real radio buttons in a row.
export function segments(title, name, choices, chosen, work) {
  const group = element("fieldset", "map-segments");
  group.append(element("legend", "map-unseen", title));
  for (const [value, text] of choices) {
    const label = element("label");
    const input = element("input");
    Object.assign(input, { type: "radio", name, value, checked: value === chosen });
    input.addEventListener("change", () => work(value));
    label.append(input, element("span", {}, text));
    group.append(label);
  }
  return group;
}

// A class as it is shown everywhere: key, colour, name. `plain`: it has no colour of its own.
export function tag({ key, colour, name, plain }) {
  const dot = element("span", plain ? "map-dot map-plain" : "map-dot");
  if (!plain) dot.style.background = colour;
  return [key ? element("kbd", {}, key) : element("span"), dot, element("span", "map-name", name)];
}

// Rows are { group, key, colour, name, count, shown }. `filter(group, only)` hides or shows one of them, or
// shows only that one; `filter(null)` shows all.
export function fillLegend(legend, title, rows, filter) {
  const focused = [...legend.querySelectorAll("button")].indexOf(legend.getRootNode().activeElement);
  const { scrollTop, scrollLeft } = legend.querySelector(".map-rows") ?? { scrollTop: 0, scrollLeft: 0 };
  const head = element("div", "map-head");
  const all = button({ className: "map-all", onclick: () => filter(null) }, "Show all");
  all.disabled = rows.every((row) => row.shown);
  head.append(element("h2", {}, title), all);
  const list = element("div", "map-rows");
  list.append(
    ...rows.map((row) => {
      const made = button({ className: "map-row", onclick: (event) => filter(row.group, event.shiftKey) });
      made.setAttribute("aria-pressed", String(row.shown));
      made.title = `${row.name}\nClick to hide or show; with Shift, show only this`;
      made.append(...tag(row), element("span", "map-count", number(row.count)));
      return made;
    }),
  );
  legend.setAttribute("aria-label", `${title}: press to hide or show`);
  legend.replaceChildren(head, list);
  list.scrollTop = scrollTop;
  list.scrollLeft = scrollLeft;
  legend.querySelectorAll("button")[focused]?.focus();
}

// The bar under a lasso: `cancel()` and, where they are possible, `label(name)` and `restrict()`.
export function fillBar(bar, total, labelled, classes, { label, restrict, cancel }) {
  const words = element("p");
  const also = labelled ? `, ${number(labelled)} already labelled` : "";
  words.append(element("b", {}, items(total)), `${also}. `);
  if (label)
    words.append(classes.length ? "Label as…" : "There are no classes yet. Press n on the label screen to create one.");
  const choices = element("div", "map-choices");
  choices.append(
    ...(label ? classes : []).map((labelClass) => {
      const { name } = labelClass;
      return button({ className: "map-choice", title: name, onclick: () => label(name) }, ...tag(labelClass));
    }),
  );
  const others = element("div", "map-others");
  const leave = button({ onclick: cancel }, "Cancel ", element("kbd", {}, "Esc"));
  if (restrict) others.append(button({ onclick: restrict }, "Ask only here"));
  others.append(leave);
  const problem = element("p", "map-problem");
  problem.setAttribute("role", "alert");
  bar.replaceChildren(words, choices, others, problem);
}

// What is known of an item, in one line: its label, or the guess and its confidence.
export function status({ label, guess, confidence }) {
  if (label != null) return `${label} · labelled`;
  if (guess == null) return "no label, no prediction yet";
  const share = confidence == null ? "" : ` · ${probability(confidence)}`;
  return `no label · probably ${guess}${share}`;
}

// Beside the point at (left, top), on the side where there is room.
export function placeCard(card, left, top, size) {
  const { offsetWidth: wide, offsetHeight: tall } = card;
  const gap = 16;
  const x = left + gap + wide <= size.width ? left + gap : left - gap - wide;
  const y = Math.min(Math.max(top - tall / 2, 8), size.height - tall - 8);
  card.style.transform = `translate(${Math.max(x, 8).toFixed(0)}px, ${Math.max(y, 8).toFixed(0)}px)`;
}
