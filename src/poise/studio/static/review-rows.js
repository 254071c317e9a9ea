// How a row of the review screen looks, and what all its parts use.

export const COLUMNS = {
  mark: "", content: "Item", source: "Source", label: "Label or guess", confidence: "Confidence",
  suspicion: "Suspicion", by: "By", time: "Time",
};

export const number = new Intl.NumberFormat("en-GB");
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const date = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
export const clamp = (value, low, high) => Math.max(low, Math.min(value, high));
export const items = (count) => `${number.format(count)} ${count === 1 ? "item" : "items"}`;

export function make(name, settings = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(settings)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export const button = (settings, ...children) => make("button", { type: "button", ...settings }, ...children);

export function choice(name, options) {
  const made = Object.entries(options).map(([value, text]) => make("option", { value }, text));
  return make("select", { "aria-label": name }, ...made);
}

export function percent(share) {
  const whole = Math.round(100 * share);
  return whole === 100 && share < 1 ? ">99%" : `${whole}%`;
}

export function shortTime(time) {
  const then = new Date(time);
  const now = new Date();
  if (Number.isNaN(then.getTime())) return "";
  if (then.toDateString() === now.toDateString()) return clock.format(then);
  if (then.getFullYear() === now.getFullYear()) return `${day.format(then)}, ${clock.format(then)}`;
  return date.format(then);
}

export function sentence(error) {
  if (error.status === undefined) return "poise does not answer. Is it still running?";
  return `${error.message.replace(/[.\s]+$/, "")}.`;
}

export function cells(role, words) {
  return Object.keys(COLUMNS).map((name) => make("span", { className: name, role }, words[name] ?? ""));
}

export function dot(name, colours, className = "dot") {
  const made = make("span", { className });
  made.style.setProperty("--c", colours.get(name) ?? "var(--quiet)");
  return made;
}

export function wordsFor({ label, guess, state }, colours) {
  const quiet = (...words) => make("span", { className: "quiet" }, ...words);
  const words = state === "unsure" || state === "skipped" ? [make("span", { className: "aside" }, state)] : [];
  if (label !== null) {
    words.push(dot(label, colours), make("b", {}, label));
    if (guess !== null && guess !== label) words.push(quiet(`the model says ${guess}`));
  } else if (guess !== null) {
    words.push(dot(guess, colours, "dot ring"), quiet(make("span", { className: "probably" }, "probably "), guess));
  }
  return words.length ? words : [quiet("not known yet")];
}

// Shows a row in an element; without one, that it is still to come.
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
  node.replaceChildren(...cells(tiles ? "presentation" : "gridcell", {
    by: votes.length > 1 ? votes.map(([who, label]) => `${who}: ${label}`).join(", ") : by ?? "",
    time: time ? shortTime(time) : "",
    // Where somebody gave a label, how sure the model is of its guess says nothing about it.
    confidence: row.label !== null || confidence === null ? "" : percent(confidence),
    suspicion: suspicion === null ? "" : percent(suspicion),
  }));
  const cell = (name) => node.querySelector(`:scope > .${name}`);
  // The folder gives way first: the end of a path tells more.
  const end = source.lastIndexOf("/") + 1;
  cell("source").append(make("span", {}, source.slice(0, end)), make("span", {}, source.slice(end)));
  cell("source").title = source;
  cell("suspicion").classList.toggle("high", suspicion >= 0.5);
  cell("label").append(...wordsFor(row, colours));
}
