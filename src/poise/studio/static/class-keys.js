// Keys of classes. One key labels at once. Classes beyond those keys have two: the first does nothing by
// itself, so a single key never waits for a second one. The server chooses which class has which.

import { dot } from "./classes.js";
import { element } from "./dom.js";

// Keys that the label screen uses itself: no class may take them. "d" and "l" may be taken, because
// their actions have buttons too.
export const OWN_KEYS = new Set([..."usxngamvecoi/?"]);

export class ClassKeys {
  // `hint` is the element that shows the second keys.
  constructor(hint) {
    Object.assign(this, { hint, first: "" });
  }

  // What a key means: `{ chosen }` is a class, or undefined where the second key leads nowhere; `{}` means
  // that it was the first of two; undefined that it is no key of a class.
  press(key, classes) {
    const { first } = this;
    if (first) {
      this.cancel();
      return { chosen: classes.find((labelClass) => !labelClass.key && labelClass.code === first + key) };
    }
    const chosen = classes.find((labelClass) => labelClass.key === key);
    if (chosen) return { chosen };
    const following = classes.filter(({ code }) => code?.[0] === key);
    if (!following.length) return undefined;
    this.first = key;
    this.show(following);
    return {};
  }

  show(following) {
    const rows = following.map((labelClass) => {
      const { code, name } = labelClass;
      return element(
        "li",
        { title: name },
        element("kbd", {}, code[1]),
        dot(labelClass),
        element("span", "name", name),
      );
    });
    const hint = element(
      "p",
      "quiet",
      element("kbd", {}, this.first),
      " and then…  ",
      element("kbd", {}, "Esc"),
      " cancels",
    );
    this.hint.replaceChildren(hint, element("ul", {}, ...rows));
    this.hint.hidden = false;
  }

  cancel() {
    this.first = "";
    this.hint.hidden = true;
  }
}

// Fields in which the keys of the classes are changed; `set(name, key)` records a change.
export function showRemap(fields, problem, classes, set) {
  problem.textContent = "";
  fields.hidden = !classes.length;
  const labels = classes.map(({ name, key, code }) => {
    const field = element("input", { value: key, maxLength: 1, autocomplete: "off", placeholder: code ?? "" });
    field.addEventListener("change", () => {
      problem.textContent = refusal(name, field.value, classes);
      if (!problem.textContent) set(name, field.value);
    });
    return element("label", {}, name, field);
  });
  fields.replaceChildren(element("legend", {}, "Class keys"), ...labels);
}

// Why a class cannot have a key; empty if it can.
export function refusal(name, key, classes) {
  if (key.trim() === "") return "Type one letter or digit.";
  if (OWN_KEYS.has(key)) return `${key} already does something else. Choose another key.`;
  const owner = classes.find((labelClass) => labelClass.key === key && labelClass.name !== name);
  return owner ? `${key} is the key of ${owner.name}. Choose another key.` : "";
}
