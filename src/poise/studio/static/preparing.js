// The screen that is shown while a source is prepared, and how much of it has arrived afterwards.

import { thumbnail } from "./content.js";
import { byId, element } from "./dom.js";
import { counted, duration, items, number } from "./format.js";

const STEPS = ["reading", "embedding", "joining neighbours", "ready"];
const KINDS = { image: "image", text: "text", vector: "vector" };

export function showPreparing({ name, error, steps, glimpses, found: contents }) {
  byId("prepare-name").textContent = name;
  byId("prepare-problem").textContent = error ? `Could not prepare it: ${error}` : "";
  byId("prepare-again").hidden = !error;
  byId("steps").replaceChildren(
    ...STEPS.map((title) =>
      stepRow(
        title,
        steps.findLast((step) => step.name === title),
      ),
    ),
  );
  showGlimpses(glimpses);
  if (!contents) return;
  const { kind, unreadable, reasons, few } = contents;
  const failed = unreadable ? `, ${number(unreadable)} could not be read` : "";
  byId("found").textContent = `${counted(contents.items, KINDS[kind])}${failed}`;
  byId("unreadable").hidden = !unreadable;
  byId("unreadable").querySelector("summary").textContent = "See why";
  byId("unreadable")
    .querySelector("ul")
    .replaceChildren(...reasons.map((why) => element("li", {}, why)));
  if (glimpsed) return;
  glimpsed = few.length;
  for (const item of few) thumbnail(item, kind).then((shown) => byId("few").append(shown));
}

function stepRow(title, step) {
  const bar = element("progress", { max: 1, "aria-label": title });
  if (!step) bar.value = 0;
  else if (step.share !== null) bar.value = step.share;
  return element("li", {}, element("span", {}, title), bar, element("span", "quiet", step ? timeLeft(step) : ""));
}

function timeLeft({ left, share }) {
  if (left) return `about ${duration(left)} left`;
  return share === 1 ? "done" : "…";
}

// Images appear as they are read; texts and vectors once all of them are.
let glimpsed = 0;
function showGlimpses(count) {
  for (; glimpsed < count; glimpsed++) {
    byId("few").append(element("img", { src: `api/glimpses/${glimpsed}`, alt: "" }));
  }
}

// How many items there are; while more are read, of how many, and for how long.
export function arrived({ items: count, coming }) {
  if (!coming) return items(count);
  return `${number(count)} of ${items(coming.total)} are ready, ${arrivalNews(coming)}`;
}

function arrivalNews({ trouble, left }) {
  if (trouble) return `no more will come: ${trouble}`;
  return left ? `about ${duration(left)} left` : "almost done";
}
