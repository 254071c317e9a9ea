// Above the item: what must not be missed (a restriction of the questions, the measured accuracy, the
// advice to stop). Under the project's name: what could not be read.

import { get } from "./api.js";
import { button, byId, element } from "./dom.js";
import { counted, items, number, percent } from "./format.js";

export function showStanding({ only, progress: { audit, advice } }, { askEverywhere }) {
  const parts = [];
  if (only !== null) {
    const words = `Asking only about ${items(only)}`;
    const settings = { id: "only", onclick: askEverywhere, "aria-label": `${words}. Ask everywhere again` };
    parts.push(button(settings, `${words} ✕`));
  }
  if (audit) parts.push(measured(audit));
  if (advice?.stop) parts.push(element("p", { className: "advice", title: advice.reason }, advice.words));
  // A keyboard focus on the button stays there.
  const focused = byId("standing").contains(document.activeElement);
  byId("standing").replaceChildren(...parts);
  byId("standing").hidden = !parts.length;
  if (focused) byId("only")?.focus();
}

function measured({ n, right, unknown, interval: [low, high], since }) {
  const more = [`${right} of ${n} random items were right`];
  if (unknown) more.push(`${number(unknown)} unknown, counted both ways`);
  if (since) more.push(`${counted(since, "label")} since`);
  const title = "Exact 95% confidence interval of the share of predictions that are right";
  return element(
    "p",
    { className: "measured", title },
    "Audited accuracy: ",
    element("b", {}, `${percent(low)} to ${percent(high)}`),
    element("span", "quiet", ` ${more.join("; ")}.`),
  );
}

let shownFor = null; // the state whose unreadable items are listed

// Under the project's name, when it is opened.
export async function showProject({ items: total, unreadable, compared }) {
  const key = `${total} ${unreadable}`;
  if (!byId("project-details").open || shownFor === key) return;
  shownFor = key;
  const failures = unreadable ? await unreadableList() : [element("p", {}, "Every item could be read.")];
  byId("project-about").replaceChildren(...failures, element("p", "quiet", compared ?? ""));
}

async function unreadableList() {
  try {
    const { total, items: listed } = await get("api/left-out");
    const rest = total > listed.length ? `. The first ${number(listed.length)}` : "";
    const rows = listed.map(([name, why]) => element("li", {}, `${name}: ${why}`));
    return [element("p", {}, `${number(total)} could not be read${rest}:`), element("ul", {}, ...rows)];
  } catch (error) {
    shownFor = null;
    return [element("p", {}, `Could not list what could not be read: ${error.message}.`)];
  }
}
