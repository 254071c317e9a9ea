// Keys of classes. One key gives a class at once; classes beyond those keys have two, the first of
// which gives nothing by itself: so a single key never waits for a second one.

import { dot } from "./classes.js";
import { element } from "./dom.js";

// What the label screen does with a key: no class may take it. Those of "d" and "l" may be a class's,
// since their buttons stay.
export const OWN_KEYS = new Set([..."usxngamvecoi/?"]);

export class ClassKeys {
  constructor(hint) {
    Object.assign(this, { hint, first: "" });
  }

  // What a key means: `{ chosen }` a class, `{}` that it was the first of two, or led nowhere;
  // undefined if it is not a key of classes.
  press(key, classes) {
    const { first } = this;
    if (first) {
      this.cancel();
      return { chosen: classes.find((one) => !one.key && one.code === first + key) };
    }
    const chosen = classes.find((one) => one.key === key);
    if (chosen) return { chosen };
    const following = classes.filter((one) => one.code?.[0] === key);
    if (!following.length) return undefined;
    this.first = key;
    this.show(following);
    return {};
  }

  show(following) {
    const rows = following.map((one) => {
      const row = element("li");
      row.title = one.name;
      row.append(element("kbd", {}, one.code[1]), dot(one), element("span", "name", one.name));
      return row;
    });
    const words = element("p", "quiet");
    words.append(element("kbd", {}, this.first), " and then…  ", element("kbd", {}, "Esc"), " goes back");
    const list = element("ul");
    list.append(...rows);
    this.hint.replaceChildren(words, list);
    this.hint.hidden = false;
  }

  cancel() {
    this.first = "";
    this.hint.hidden = true;
  }
}

// Fields in which the keys of the classes are changed; `set(name, key)` records one.
export function showRemap(place, problem, classes, set) {
  problem.textContent = "";
  place.hidden = !classes.length;
  place.replaceChildren(element("legend", {}, "Keys of the classes"), ...classes.map((one) => {
    const field = element("input");
    Object.assign(field, { value: one.key, maxLength: 1, autocomplete: "off", placeholder: one.code ?? "" });
    field.addEventListener("change", () => {
      problem.textContent = refused(one.name, field.value, classes);
      if (!problem.textContent) set(one.name, field.value);
    });
    const label = element("label", {}, one.name);
    label.append(field);
    return label;
  }));
}

// Why a class cannot have a key, in words; empty if it can.
export function refused(name, key, classes) {
  const other = classes.find((one) => one.key === key && one.name !== name);
  if (key.trim() === "") return "A key is one letter or digit.";
  if (OWN_KEYS.has(key)) return `${key} does something else already: choose another.`;
  return other ? `${key} is the key of ${other.name}: choose another.` : "";
}
