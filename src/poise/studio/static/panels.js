// What stands beside the item: progress, the guess, the reasons for the question.

import { content } from "./content.js";
import { button, byId, drawing, element } from "./dom.js";
import { number, percent } from "./format.js";

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
  if (state.unsure) parts.push(line("Unsure", number(state.unsure), "Set aside; listed in Review."));
  if (state.skipped) parts.push(line("Skipped", number(state.skipped), "Asked again later."));
  if (!progress.audit) parts.push(element("p", "quiet", "The accuracy is not known: audit some random items to measure it."));
  if (progress.advice && !progress.advice.stop) {
    const words = element("p", "quiet", progress.advice.words);
    words.title = progress.advice.reason;
    parts.push(words);
  }
  const disabled = state.answers === 0 || state.auditing > 0;
  parts.push(button({ disabled, onclick: audit }, element("kbd", {}, "a"), " Audit"));
  byId("progress-body").replaceChildren(...parts);
}

function line(name, value, title) {
  const row = element("p", "fact");
  row.title = title;
  row.append(element("span", "quiet", name), element("b", {}, value));
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
  byId("duplicates").hidden = !n;
  byId("duplicates-count").textContent = `and ${n} near-duplicate${n === 1 ? "" : "s"}`;
}

export function showGuess(state) {
  const { question } = state;
  const words = byId("guess");
  words.title = "";
  if (!question) {
    words.textContent = state.exhausted ? "Everything is labelled or set aside. Export the result." : "";
  } else if (question.purpose === "audit") {
    words.textContent = "What is it?";
  } else if (question.guess) {
    const { confidence } = question;
    const share = confidence === null ? "" : `${percent(confidence)} · `;
    words.replaceChildren("probably ", element("b", {}, question.guess), ` · ${share}`, element("kbd", {}, "Enter"));
    words.title = share ? "How often such guesses are right, judged by labels held out." : "Too few labels to say how often such guesses are right.";
  } else if (question.label) {
    words.replaceChildren("labelled ", element("b", {}, question.label));
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
  const nearest = byId("nearest");
  if (!question?.guess || question.purpose === "audit") {
    byId("reason").textContent = !question ? "" : reasonWithoutGuess(question, state);
    nearest.replaceChildren();
    return;
  }
  const more = question.worth_more;
  const rank = more === null ? "" : more < 0.0005 ? " No other item is more worth asking." : ` ${percent(more)} of the others are more worth asking.`;
  byId("reason").textContent = REASONS[question.reason] + rank;
  nearest.replaceChildren(...question.nearest.map(({ item, label }) => {
    const frame = element("figure");
    frame.append(element("figcaption", {}, label));
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
