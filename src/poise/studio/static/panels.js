// What stands around the item: the near-duplicates, the progress, the reasons for the question.

import { showAssistants } from "./assistants.js";
import { thumbnail } from "./content.js";
import { button, byId, drawing, element } from "./dom.js";
import { counted, number, percent } from "./format.js";
import { lacks } from "./lacking.js";

const NEGLIGIBLE = 0.0005; // a share below which no item is said to be more useful
const REASONS = {
  decide: "To decide: two classes are close here.",
  explore: "To explore: the labels so far say little about this item.",
  confirm: "To confirm: the labels agree here, but say less about this item than they could.",
};

export function showDuplicates(question) {
  const count = question?.duplicates?.length ?? 0;
  byId("duplicates").hidden = !count;
  byId("duplicates-count").textContent = `and ${counted(count, "near-duplicate")}`;
}

// ---- Progress -----------------------------------------------------------------------------------

// `audit(of)` begins an audit of the predictions, or of an assistant; `discard(name)` drops its answers.
export function showProgress(state, audit, discard) {
  const { progress, answers, auditing, unsure, skipped } = state;
  const parts = [];
  if (progress.explored !== null) {
    const title = "Share of the items that are near a labelled one. A label in a new region increases it.";
    parts.push(fact("Explored", percent(progress.explored), title));
  }
  const changes = progress.course.slice(1).map(([, , changed]) => changed);
  if (changes.length > 1) {
    parts.push(
      fact("Changed by the last answer", percent(changes.at(-1)), "Share of the items whose predicted class changed"),
    );
    parts.push(curve(changes));
  }
  if (unsure) parts.push(fact("Unsure", number(unsure), "Set aside; listed in Review"));
  if (skipped) parts.push(fact("Skipped", number(skipped), "Asked again later"));
  const audits = !lacks(state, "audit");
  if (audits && !progress.audit)
    parts.push(element("p", "quiet", "The accuracy is unknown. Audit some random items to measure it."));
  if (progress.advice && !progress.advice.stop) {
    parts.push(element("p", { className: "quiet", title: progress.advice.reason }, progress.advice.words));
  }
  const disabled = answers === 0 || auditing > 0;
  if (audits) parts.push(button({ disabled, onclick: () => audit() }, element("kbd", {}, "a"), " Audit"));
  parts.push(...showAssistants(state, { judge: audit, discard }));
  byId("progress").hidden = !parts.length;
  byId("progress-body").replaceChildren(...parts);
}

const fact = (name, value, title) =>
  element("p", { className: "fact", title }, element("span", "quiet", name), element("b", {}, value));

function curve(values) {
  const highest = Math.max(...values, 1e-9);
  const points = values.map((value, index) => {
    const x = (200 * index) / (values.length - 1);
    const y = 38 - (36 * value) / highest;
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const line = { points: points.join(" "), fill: "none", stroke: "currentColor", "stroke-width": "1.5" };
  const made = drawing(
    200,
    40,
    [["polyline", line]],
    `Share of items whose class changed, over ${values.length} answers`,
  );
  made.setAttribute("class", "curve");
  made.setAttribute("preserveAspectRatio", "none");
  return made;
}

// ---- Why this item ------------------------------------------------------------------------------

export function showReason(state) {
  const { question } = state;
  const explained = question?.guess && question.purpose !== "audit";
  byId("reason").textContent = explained
    ? REASONS[question.reason] + rankWords(question.worth_more)
    : reasonWithoutGuess(state);
  byId("nearest").replaceChildren(
    ...(explained ? question.nearest.map((neighbour) => figure(neighbour, state.kind)) : []),
  );
}

// `share` of the items are more useful to ask about; null if nobody knows.
function rankWords(share) {
  if (share === null) return "";
  if (share < NEGLIGIBLE) return " No other item is more useful to ask about.";
  return ` ${percent(share)} of the others are more useful to ask about.`;
}

function reasonWithoutGuess({ question, answers }) {
  if (!question) return "";
  if (question.of)
    return `Drawn at random from the answers of ${question.of}, to measure how often it is right. Its answer is hidden.`;
  if (question.purpose === "audit")
    return "Drawn at random, to measure how often the model is right. Its guess is hidden.";
  if (question.label) return `You labelled it ${question.label}. Press another key to change that, or → to continue.`;
  return answers && !question.explained
    ? "The reasons are being computed."
    : "It is similar to many others: a good first question.";
}

function figure({ item, label }, kind) {
  const frame = element("figure", {}, element("figcaption", {}, label));
  thumbnail(item, kind).then((shown) => {
    // A long text scrolls, so the keyboard must reach it.
    if (kind === "text") Object.assign(shown, { tabIndex: 0, role: "group", ariaLabel: `A text labelled ${label}` });
    frame.prepend(shown);
  });
  return frame;
}
