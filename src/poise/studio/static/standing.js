// What must not be missed, above the item: where questions are restricted to, the accuracy that was
// measured, the advice to stop; and, under the project's name, what could not be read.

import { get } from "./api.js";
import { element } from "./content.js";
import { at, count, percent } from "./panels.js";

export function showStanding(state, { askEverywhere }) {
  const parts = [];
  if (state.only !== null) {
    const words = `Asking only among ${count(state.only)} ${state.only === 1 ? "item" : "items"}`;
    const chip = element("button", "", `${words} ✕`);
    chip.type = "button";
    chip.id = "only";
    chip.setAttribute("aria-label", `${words}: ask everywhere again`);
    chip.addEventListener("click", askEverywhere);
    parts.push(chip);
  }
  const { audit, advice } = state.progress;
  if (audit) parts.push(measured(audit));
  if (advice?.stop) {
    const words = element("p", "advice", advice.words);
    words.title = advice.reason;
    parts.push(words);
  }
  // Whoever is at the chip by keyboard stays there.
  const held = at("standing").contains(document.activeElement);
  at("standing").replaceChildren(...parts);
  at("standing").hidden = !parts.length;
  if (held) at("only")?.focus();
}

function measured({ n, right, unknown, interval: [low, high], since }) {
  const words = element("p", "measured");
  const more = [`${right} of ${n} random items were right`];
  if (unknown) more.push(`${count(unknown)} unknown, counted both ways`);
  if (since) more.push(`${count(since)} ${since === 1 ? "label" : "labels"} since`);
  words.title = "The exact 95% interval of the share of predictions that are right";
  words.append("Accuracy, audited: ", element("b", "", `${percent(low)} to ${percent(high)}`), element("span", "quiet", ` ${more.join("; ")}.`));
  return words;
}

let listed = null;

// Under the project's name, when it is opened.
export async function showProject(state) {
  const place = at("project-about");
  const known = `${state.items} ${state.unreadable}`;
  if (!at("project-details").open || listed === known) return;
  listed = known;
  const parts = [element("p", "quiet", state.compared)];
  if (state.unreadable) {
    try {
      const { total, items } = await get("api/left-out");
      const list = element("ul");
      list.append(...items.map(([name, why]) => element("li", "", `${name}: ${why}`)));
      const rest = total > items.length ? `, of which these are the first ${count(items.length)}` : "";
      parts.unshift(element("p", "", `${count(total)} could not be read${rest}:`), list);
    } catch (error) {
      listed = null;
      parts.unshift(element("p", "", `What could not be read cannot be listed: ${error.message}.`));
    }
  } else {
    parts.unshift(element("p", "", "Every item of the source could be read."));
  }
  place.replaceChildren(...parts);
}
