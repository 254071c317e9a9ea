// Programs that answer questions: how right they are, and what people can do about their answers.

import { button, element } from "./dom.js";
import { counted, number, percent } from "./format.js";

// What is known of one assistant, in a sentence.
export function assistantWords({ answered, audit, judged, right, unknown, interval, spreads }) {
  const answers = counted(answered, "answer");
  if (!interval) {
    return judged
      ? `${answers}. They do not count yet: ${number(audit - judged)} more to judge.`
      : `${answers}. They do not count yet: judge ${number(audit)} of them first.`;
  }
  const more = unknown ? `, ${number(unknown)} unknown` : "";
  const measured = `${percent(interval[0])} to ${percent(interval[1])} right (${right} of ${judged} judged${more})`;
  return `${answers}, ${measured}. ${spreads ? "They count in the predictions." : "Too few are right: they do not count."}`;
}

// `judge(name)` and `discard(name)` act on an assistant.
export function showAssistants({ assistants, auditing }, { judge, discard }) {
  return assistants.filter(({ answered }) => answered).map((assistant) => card(assistant, auditing, judge, discard));
}

function card(assistant, auditing, judge, discard) {
  const { name, open } = assistant;
  const title = "Exact 95% confidence interval of the share of its answers that are right";
  return element(
    "div",
    { className: "assistant", role: "group", "aria-label": `Assistant ${name}` },
    element("b", {}, name),
    element("p", { className: "quiet", title }, assistantWords(assistant)),
    button({ disabled: auditing > 0 || open === 0, onclick: () => judge(name) }, "Judge answers"),
    " ",
    button({ onclick: () => discard(name) }, "Discard"),
  );
}
