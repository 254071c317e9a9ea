// The line below the item: the model's guess, or what to do where there is none.

import { element } from "./dom.js";
import { probability } from "./format.js";

// `next`: what to do once every item is labelled.
export function showGuess(line, state, next = "Export the result.") {
  const { question } = state;
  const calibrated = question?.guess && question.confidence !== null;
  line.title = "";
  if (!question?.guess || question.purpose === "audit") {
    line.replaceChildren(...wordsWithoutGuess(state, next));
    return;
  }
  const share = calibrated ? `${probability(question.confidence)} · ` : "";
  line.replaceChildren("probably ", element("b", {}, question.guess), ` · ${share}`, element("kbd", {}, "Enter"));
  line.title = calibrated
    ? "How often such guesses are right, estimated from labels that were held out"
    : "There are too few labels to say how often such guesses are right";
}

function wordsWithoutGuess({ question, exhausted, answers, classes }, next) {
  if (!question) return exhausted ? [`Every item is labelled or set aside. ${next}`] : [];
  if (question.purpose === "audit") return ["What is it?"];
  if (question.label) return ["labelled ", element("b", {}, question.label)];
  if (answers) return [];
  return [
    classes.length
      ? "Nothing labelled yet. Press the key of a class."
      : "Nothing labelled yet. Press n to name the first class.",
  ];
}
