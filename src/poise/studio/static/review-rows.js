// How a row of the review screen looks.

import { element } from "./dom.js";
import { probability, shortTime } from "./format.js";

export const COLUMNS = {
  mark: "Selected",
  content: "Item",
  source: "Source",
  label: "Label or guess",
  confidence: "Confidence",
  suspicion: "Suspicion",
  by: "By",
  time: "Time",
};

export function cells(role, words) {
  return Object.keys(COLUMNS).map((name) => element("span", { className: name, role }, words[name] ?? ""));
}

export function dot(name, colours, className = "dot") {
  const made = element("span", { className });
  made.style.setProperty("--c", colours.get(name) ?? "var(--quiet)");
  return made;
}

export function wordsFor({ label, guess, state, assistant }, colours) {
  const quiet = (...words) => element("span", "quiet", ...words);
  const words = state === "unsure" || state === "skipped" ? [element("span", "aside", state)] : [];
  if (label !== null) {
    words.push(dot(label, colours), element("b", {}, label));
    if (guess !== null && guess !== label) words.push(quiet(`the model predicts ${guess}`));
  } else if (guess !== null) {
    words.push(dot(guess, colours, "dot ring"), quiet(element("span", "probably", "probably "), guess));
  }
  if (!words.length) words.push(quiet("unknown yet"));
  if (assistant) words.push(quiet(`${assistant.by} says ${assistant.label}`));
  return words;
}

// Shows a row in an element; a row that is not loaded yet is empty.
export function fill(node, row, tiles, colours) {
  node.classList.toggle("waiting", !row);
  if (!row) {
    delete node.dataset.item;
    node.replaceChildren(...cells("presentation", {}));
    return;
  }
  const { source, by, time, confidence, suspicion } = row;
  const votes = Object.entries(row.votes ?? {});
  node.dataset.item = row.item;
  node.replaceChildren(
    ...cells(tiles ? "presentation" : "gridcell", {
      by: votes.length > 1 ? votes.map(([who, label]) => `${who}: ${label}`).join(", ") : (by ?? ""),
      time: time ? shortTime(time) : "",
      // The confidence of a guess says nothing about a label that somebody gave.
      confidence: row.label !== null || confidence === null ? "" : probability(confidence),
      suspicion: suspicion === null ? "" : probability(suspicion),
    }),
  );
  const cell = (name) => node.querySelector(`:scope > .${name}`);
  // The folder is cut off first: the end of a path says more.
  const end = source.lastIndexOf("/") + 1;
  cell("source").append(element("span", {}, source.slice(0, end)), element("span", {}, source.slice(end)));
  cell("source").title = source;
  cell("suspicion").classList.toggle("high", suspicion >= 0.5);
  cell("label").append(...wordsFor(row, colours));
}
