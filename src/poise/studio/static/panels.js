// What stands beside the item: progress, reasons, settings, the small map.

import { bytes, get } from "./api.js";
import { colourName } from "./classes.js";
import { content, drawing, element } from "./content.js";

const number = new Intl.NumberFormat("en-GB");
const SMALL_MAP = 4000; // points drawn on the small map
const LARGEST_SMALL_MAP = 200000; // items up to which it is worth loading their places

export const at = (id) => document.getElementById(id);
export const count = (value) => number.format(value);
export const percent = (share) => `${share > 0 && share < 0.1 ? (100 * share).toFixed(1) : Math.round(100 * share)}%`;

export function showProgress(state, audit) {
  const { progress } = state;
  const parts = [];
  if (progress.explored !== null) {
    parts.push(line("Explored", percent(progress.explored), "Share of the items that lie near a labelled one. It grows with every label in a new place."));
  }
  const changes = progress.course.slice(1);
  if (changes.length > 1) {
    const last = changes.at(-1)[2];
    parts.push(line("Changed by the last answer", percent(last), "Share of the items whose predicted class changed."));
    parts.push(curve(changes.map(([, , changed]) => changed)));
  }
  if (state.unsure) parts.push(line("Unsure", count(state.unsure), "Set aside; listed in Review."));
  if (state.skipped) parts.push(line("Skipped", count(state.skipped), "Asked again later."));
  if (!progress.audit) parts.push(element("p", "quiet", "The accuracy is not known: audit some random items to measure it."));
  if (progress.advice && !progress.advice.stop) {
    const words = element("p", "quiet", progress.advice.words);
    words.title = progress.advice.reason;
    parts.push(words);
  }
  const button = element("button", "", "");
  button.type = "button";
  button.append(element("kbd", "", "a"), " Audit");
  button.disabled = state.answers === 0 || state.auditing > 0;
  button.addEventListener("click", audit);
  parts.push(button);
  at("progress-body").replaceChildren(...parts);
}

function line(name, value, title) {
  const row = element("p", "fact");
  row.title = title;
  row.append(element("span", "quiet", name), element("b", "", value));
  return row;
}

function curve(values) {
  const most = Math.max(...values, 1e-9);
  const points = values.map((value, place) => `${((200 * place) / (values.length - 1)).toFixed(1)},${(38 - (36 * value) / most).toFixed(1)}`);
  const made = drawing(200, 40, [["polyline", { points: points.join(" "), fill: "none", stroke: "currentColor", "stroke-width": "1.5" }]],
    `Share of items whose class changed, over ${values.length} answers`);
  made.setAttribute("class", "curve");
  made.setAttribute("preserveAspectRatio", "none");
  return made;
}

export function showDuplicates(question) {
  const n = question?.duplicates?.length ?? 0;
  at("duplicates").hidden = !n;
  at("duplicates-count").textContent = `and ${n} near-duplicate${n === 1 ? "" : "s"}`;
}

export function showGuess(state) {
  const { question } = state;
  const words = at("guess");
  words.title = "";
  if (!question) {
    words.textContent = state.exhausted ? "Everything is labelled or set aside. Export the result." : "";
  } else if (question.purpose === "audit") {
    words.textContent = "What is it?";
  } else if (question.guess) {
    const { confidence } = question;
    const share = confidence === null ? "" : confidence > 0.99 ? "over 99% · " : `${percent(confidence)} · `;
    words.replaceChildren("probably ", element("b", "", question.guess), ` · ${share}`, element("kbd", "", "Enter"));
    words.title = share ? "How often such guesses are right, judged by labels held out." : "Too few labels to say how often such guesses are right.";
  } else if (question.label) {
    words.replaceChildren("labelled ", element("b", "", question.label));
  } else if (!state.answers) {
    words.textContent = state.classes.length
      ? "Nothing labelled yet: press the key of its class."
      : "Nothing labelled yet. Press n to name the first class.";
  } else {
    words.textContent = "";
  }
}

const REASONS = {
  decide: "To decide: two classes are close here.",
  explore: "To explore: the labels so far say little about it.",
  confirm: "To confirm: the labels agree here, but say less about it than they could.",
};

export function showReason(state) {
  const { question } = state;
  const nearest = at("nearest");
  if (!question?.guess || question.purpose === "audit") {
    at("reason").textContent = !question ? "" : reasonWithoutGuess(question, state);
    nearest.replaceChildren();
    return;
  }
  const more = question.worth_more;
  const rank = more === null ? "" : more < 0.0005 ? " No other item is more worth asking." : ` ${percent(more)} of the others are more worth asking.`;
  at("reason").textContent = REASONS[question.reason] + rank;
  nearest.replaceChildren(...question.nearest.map(({ item, label }) => {
    const frame = element("figure");
    frame.append(element("figcaption", "", label));
    content(item, state.kind, 160).then((shown) => {
      if (state.kind === "text") {
        // A long one scrolls.
        Object.assign(shown, { tabIndex: 0, role: "group", ariaLabel: `A text labelled ${label}` });
      }
      frame.prepend(shown);
    });
    return frame;
  }));
}

function reasonWithoutGuess(question, state) {
  if (question.purpose === "audit") return "Drawn at random, to measure how often the model is right. Its guess is not shown.";
  if (question.label) return `You called it ${question.label}. Press another key to change that, → to go on.`;
  return state.answers ? "Its reasons are being computed." : "It lies in the middle of a crowd: a good first question.";
}

let choices = null;
export async function showSettings(state, set) {
  const body = at("settings-body");
  if (!at("settings").open) return;
  choices ??= await get("api/choices");
  const { ways, acquisitions } = choices;
  const { acquisition, tau } = state.settings;
  const usual = element("fieldset", "ways");
  usual.append(element("legend", "", "What to ask"), ...ways.map((way) => {
    const choice = element("input");
    Object.assign(choice, { type: "radio", name: "way", value: way.acquisition, checked: way.acquisition === acquisition });
    choice.addEventListener("change", () => set("acquisition", way.acquisition));
    const words = element("span", "", way.name);
    words.append(element("span", "quiet", way.words));
    const row = element("label");
    row.append(choice, words);
    return row;
  }));
  const choose = element("select");
  for (const [name, words] of Object.entries(acquisitions)) {
    const option = element("option", "", `${name}: ${words}`);
    option.value = name;
    option.selected = name === acquisition;
    choose.append(option);
  }
  choose.addEventListener("change", () => set("acquisition", choose.value));
  const automatic = element("input");
  automatic.type = "checkbox";
  automatic.checked = tau === null;
  const slider = element("input");
  Object.assign(slider, { type: "range", min: -6, max: 0, step: 0.5, value: tau ? Math.log10(tau) : -3, disabled: tau === null });
  const shown = element("output", "quiet", tau === null ? "automatic" : tau.toExponential(0));
  automatic.addEventListener("change", () => set("tau", automatic.checked ? null : 1e-3));
  slider.addEventListener("input", () => { shown.textContent = (10 ** slider.value).toExponential(0); });
  slider.addEventListener("change", () => set("tau", 10 ** Number(slider.value)));
  const advanced = element("details", "advanced");
  const unusual = tau !== null || !ways.some((way) => way.acquisition === acquisition);
  advanced.open = body.querySelector(".advanced")?.open ?? unusual;
  advanced.append(
    element("summary", "", "Advanced"),
    labelled("Acquisition", choose),
    element("p", "quiet", acquisitions[acquisition] ?? ""),
    labelled("Choose the decay automatically", automatic),
    labelled("Decay tau: more explores, less decides", slider, shown),
  );
  // Whoever is at one of them by keyboard stays there.
  const controls = "select, input, summary";
  const held = [...body.querySelectorAll(controls)].indexOf(body.querySelector(":focus-visible"));
  body.replaceChildren(usual, advanced);
  body.querySelectorAll(controls)[held]?.focus();
}

function labelled(words, ...controls) {
  const label = element("label", "", words);
  label.append(...controls);
  return label;
}

// The small map: places of a sample of the items, the labelled ones in their colours, a ring at the
// question. Labels cost no computing, so nothing waits for it.
const small = { points: null, labels: [], classes: [], asked: "", items: 0, busy: false };

export async function showSmallMap(state) {
  const canvas = at("small-map").querySelector("canvas");
  at("small-map").hidden = state.items > LARGEST_SMALL_MAP;
  if (canvas.offsetParent === null || small.busy) return;
  if (small.items !== state.items) Object.assign(small, { points: null, items: state.items });
  const { classes } = state;
  const asked = JSON.stringify([state.answers, classes.map((one) => [one.name, one.colour])]);
  if (small.points && small.asked === asked) {
    drawSmallMap(canvas, state);
    return;
  }
  small.busy = true;
  try {
    if (!small.points) {
      const points = new Float32Array(await bytes("api/map/points?layout=pca"));
      if (points.length !== 2 * state.items) return; // more items have come in since
      small.points = points;
    }
    Object.assign(small, { asked, classes });
    small.labels = (await get("api/map/labels")).labels;
  } catch {
    return; // a picture less, nothing more
  } finally {
    small.busy = false;
  }
  drawSmallMap(canvas, state);
}

function drawSmallMap(canvas, state) {
  const { points } = small;
  const style = getComputedStyle(canvas);
  const scale = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = canvas.clientHeight * scale;
  const pen = canvas.getContext("2d");
  const half = Math.min(canvas.width, canvas.height) / 2 - 8 * scale;
  const place = (index) => [canvas.width / 2 + half * points[2 * index], canvas.height / 2 - half * points[2 * index + 1]];
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = style.getPropertyValue("--dot");
  const every = Math.max(1, Math.floor(state.items / SMALL_MAP));
  for (let index = 0; index < state.items; index += every) {
    const [x, y] = place(index);
    pen.fillRect(x, y, scale, scale);
  }
  for (const [index, code] of small.labels) {
    const [x, y] = place(index);
    pen.fillStyle = style.getPropertyValue(colourName(small.classes[code]));
    pen.beginPath();
    pen.arc(x, y, 3 * scale, 0, 7);
    pen.fill();
  }
  at("ring").hidden = !state.question;
  if (state.question) {
    const [x, y] = place(state.question.node);
    at("ring").style.left = `${x / scale}px`;
    at("ring").style.top = `${y / scale}px`;
  }
}

export function showPreparing(found) {
  at("prepare-name").textContent = found.name;
  at("prepare-problem").textContent = found.error ? `Could not prepare it: ${found.error}` : "";
  at("prepare-again").hidden = !found.error;
  const names = ["reading", "embedding", "joining neighbours", "ready"];
  at("steps").replaceChildren(...names.map((name) => {
    const step = found.steps.findLast((one) => one.name === name);
    const row = element("li");
    const bar = element("progress");
    bar.max = 1;
    bar.setAttribute("aria-label", name);
    if (!step) bar.value = 0;
    else if (step.share !== null) bar.value = step.share;
    const left = step?.left ? `about ${duration(step.left)} left` : step?.share === 1 ? "done" : step ? "…" : "";
    row.append(element("span", "", name), bar, element("span", "quiet", left));
    return row;
  }));
  glimpse(found.glimpses);
  if (!found.found) return;
  const { items, kind, unreadable, reasons, few } = found.found;
  at("found").textContent = `${count(items)} ${{ image: "images", text: "texts", vector: "vectors" }[kind]}`
    + (unreadable ? `, ${count(unreadable)} could not be read` : "");
  at("unreadable").hidden = !unreadable;
  at("unreadable").querySelector("summary").textContent = "See why";
  at("unreadable").querySelector("ul").replaceChildren(...reasons.map((why) => element("li", "", why)));
  if (glimpsed) return;
  glimpsed = few.length;
  for (const item of few) content(item, kind, 160).then((shown) => at("few").append(shown));
}

// Pictures appear as they are read; what is no picture, when all of it is.
let glimpsed = 0;
function glimpse(number) {
  for (; glimpsed < number; glimpsed++) {
    const picture = element("img");
    picture.src = `api/glimpses/${glimpsed}`;
    picture.alt = "";
    at("few").append(picture);
  }
}

// How much of the source is in, while the rest is read.
export function arrived(state) {
  const { items, coming } = state;
  if (!coming) return `${count(items)} items`;
  const left = coming.trouble ? `no more will come: ${coming.trouble}` : coming.left ? `about ${duration(coming.left)} left` : "almost done";
  return `${count(items)} of ${count(coming.total)} items are in, ${left}`;
}

function duration(seconds) {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
