// What must not be missed, above the item: where questions are restricted to, the accuracy that was
// measured, the advice to stop; and, under the project's name, what could not be read.

import { get } from "./api.js";
import { button, byId, element } from "./dom.js";
import { counted, items, number, percent } from "./format.js";

export function showStanding(state, { askEverywhere }) {
  const parts = [];
  if (state.only !== null) {
    const words = `Asking only about ${items(state.only)}`;
    const settings = { id: "only", onclick: askEverywhere, "aria-label": `${words}: ask everywhere again` };
    parts.push(button(settings, `${words} ✕`));
  }
  const { audit, advice } = state.progress;
  if (audit) parts.push(measured(audit));
  if (advice?.stop) {
    const words = element("p", "advice", advice.words);
    words.title = advice.reason;
    parts.push(words);
  }
  // Whoever is at the chip by keyboard stays there.
  const held = byId("standing").contains(document.activeElement);
  byId("standing").replaceChildren(...parts);
  byId("standing").hidden = !parts.length;
  if (held) byId("only")?.focus();
}

function measured({ n, right, unknown, interval: [low, high], since }) {
  const words = element("p", "measured");
  const more = [`${right} of ${n} random items were right`];
  if (unknown) more.push(`${number(unknown)} unknown, counted both ways`);
  if (since) more.push(`${counted(since, "label")} since`);
  words.title = "The exact 95% interval of the share of predictions that are right";
  words.append("Accuracy, audited: ", element("b", {}, `${percent(low)} to ${percent(high)}`), element("span", "quiet", ` ${more.join("; ")}.`));
  return words;
}

let listed = null;

// Under the project's name, when it is opened.
export async function showProject(state) {
  const place = byId("project-about");
  const known = `${state.items} ${state.unreadable}`;
  if (!byId("project-details").open || listed === known) return;
  listed = known;
  const parts = [element("p", "quiet", state.compared ?? "")];
  if (state.unreadable) {
    try {
      const { total, items: listedItems } = await get("api/left-out");
      const list = element("ul");
      list.append(...listedItems.map(([name, why]) => element("li", {}, `${name}: ${why}`)));
      const rest = total > listedItems.length ? `, of which these are the first ${number(listedItems.length)}` : "";
      parts.unshift(element("p", {}, `${number(total)} could not be read${rest}:`), list);
    } catch (error) {
      listed = null;
      parts.unshift(element("p", {}, `What could not be read cannot be listed: ${error.message}.`));
    }
  } else {
    parts.unshift(element("p", {}, "Every item of the source could be read."));
  }
  place.replaceChildren(...parts);
}
