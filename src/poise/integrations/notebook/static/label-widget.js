// The label screen in a notebook. Python holds the learner: this side shows its state and sends what is pressed.

import { ClassFinder } from "../../../studio/static/class-finder.js";
import { ClassKeys } from "../../../studio/static/class-keys.js";
import { ClassColumn } from "../../../studio/static/classes.js";
import { button, element } from "../../../studio/static/dom.js";
import { counted, number } from "../../../studio/static/format.js";
import { showGuess } from "../../../studio/static/guess.js";
import { watchKeys } from "../../../studio/static/keys.js";
import { Contents } from "../../../studio/static/shown.js";
import { makeFrame, viewer } from "./frame.js";
import { Kernel } from "./kernel.js";

const ACTIONS = [
  ["Enter", "accept"],
  ["u", "undo"],
  ["s", "skip"],
  ["x", "unsure"],
  ["c", "find"],
  ["n", "new"],
];
const MAX_NAME_CHARACTERS = 200;
const NEXT = "The labels are in Python.";

class LabelView {
  constructor(model, host, styles, signal) {
    Object.assign(this, { model, kernel: new Kernel(model), itemShown: null, sending: false, refusal: "" });
    this.contents = new Contents((item) => this.kernel.content(item, false));
    this.root = makeFrame(host, styles, { signal });
    this.build();
    const choose = (name) => this.answer(name);
    this.column = new ClassColumn(this.list, { choose });
    this.classKeys = new ClassKeys(this.twoStep);
    this.finder = new ClassFinder(this.dialog, { choose, make: choose });
    watchKeys(
      (key, event) => this.press(key, event),
      () => this.state.classes,
      this.root,
    );
    const show = () => this.show();
    model.on("change:_state", show);
    signal.addEventListener("abort", () => {
      model.off("change:_state", show);
      this.kernel.close();
    });
    this.show();
  }

  get state() {
    return this.model.get("_state");
  }

  get question() {
    return this.sending ? null : this.state.question;
  }

  // ---- The parts --------------------------------------------------------------------------------

  build() {
    this.list = element("ul", { id: "class-list" });
    this.counts = element("p", { className: "quiet" });
    this.stage = element("div", { id: "stage", role: "group", "aria-label": "Item" });
    this.guess = element("p", { id: "guess" });
    this.problem = element("p", { id: "problem", role: "alert" });
    this.spoken = element("p", { className: "unseen", "aria-live": "polite" });
    this.twoStep = element("div", { id: "two-step", role: "status", hidden: true });
    this.buttons = new Map(
      ACTIONS.map(([key, words]) => [
        key,
        button({ onclick: () => this.press(key) }, element("kbd", {}, key), ` ${words}`),
      ]),
    );
    this.frame = element(
      "div",
      { className: "label-widget", tabIndex: 0, role: "group", "aria-label": "Label the items" },
      element(
        "section",
        { id: "classes", "aria-label": "Classes" },
        element("h2", {}, "Classes"),
        this.list,
        this.counts,
      ),
      element(
        "section",
        { id: "item", "aria-label": "Item to label" },
        this.stage,
        this.guess,
        this.buildForm(),
        this.problem,
        this.spoken,
      ),
      element("footer", { "aria-label": "Keys" }, ...this.buttons.values()),
      element("p", { className: "hint quiet" }, "Click here, then use the keys."),
      this.twoStep,
    );
    this.dialog = this.buildDialog();
    // A button that was clicked must not take the next Enter.
    this.frame.addEventListener("click", (event) => {
      if (!event.target.closest("input, form")) this.frame.focus({ preventScroll: true });
    });
    this.root.append(this.frame, this.dialog);
  }

  // The field for a new class, in place of the guess.
  buildForm() {
    this.field = element("input", { maxLength: MAX_NAME_CHARACTERS, autocomplete: "off", "aria-label": "New class" });
    this.field.placeholder = "Name of the new class";
    this.form = element("form", { hidden: true }, this.field, element("button", {}, "Create class"));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      const name = this.field.value.trim();
      if (name) this.answer(name);
      this.closeForm();
    });
    return this.form;
  }

  buildDialog() {
    const field = element("input", { role: "combobox", "aria-expanded": "true", "aria-autocomplete": "list" });
    field.setAttribute("aria-controls", "finder-list");
    const list = element("ul", { id: "finder-list", role: "listbox", "aria-label": "Matching classes" });
    const note = element("p", { className: "quiet", role: "status" });
    return element("dialog", { id: "finder", "aria-label": "Find a class" }, field, list, note);
  }

  openForm() {
    this.form.hidden = false;
    this.guess.hidden = true;
    this.field.value = "";
    this.field.focus();
  }

  closeForm() {
    this.form.hidden = true;
    this.guess.hidden = false;
    this.frame.focus({ preventScroll: true });
  }

  // ---- What a person does -------------------------------------------------------------------------

  // `event` is missing where a button was pressed: then the key of a class does not count.
  press(key, event) {
    if (!this.form.hidden) {
      if (key === "Escape") this.closeForm();
      return;
    }
    if (key === "Escape" && this.classKeys.first) {
      this.classKeys.cancel();
      return;
    }
    const meaning = event && this.classKeys.press(key, this.state.classes);
    if (meaning?.chosen) this.answer(meaning.chosen.name);
    if (meaning) return;
    const { question } = this;
    const actions = {
      Enter: () => question?.guess && this.answer(question.guess),
      u: () => this.send("undo"),
      s: () => question && this.send("skip", { item: question.item }),
      x: () => question && this.send("unsure", { item: question.item }),
      c: () => this.finder.open(this.state.classes, question?.guess, "Class of this item"),
      n: () => question && this.openForm(),
    };
    if (Object.hasOwn(actions, key)) actions[key]();
  }

  answer(label) {
    const { question } = this;
    if (question) this.send("answer", { item: question.item, label });
  }

  // Until Python has decided, no other key counts: it would be about an item that nobody has seen.
  async send(kind, data) {
    if (this.sending) return;
    this.sending = true;
    this.refusal = "";
    try {
      await this.kernel.request(kind, data);
    } catch (error) {
      this.refusal = `${error.message}.`;
    } finally {
      this.sending = false;
      this.show();
    }
  }

  // ---- What is shown ------------------------------------------------------------------------------

  show() {
    const { question, state } = this;
    this.column.show(state);
    this.counts.textContent = `${counted(state.answers, "answer")} · ${number(state.items)} items`;
    showGuess(this.guess, state, NEXT);
    this.problem.textContent = state.problem ? `${state.problem}.` : this.refusal;
    this.buttons.get("Enter").disabled = !question?.guess;
    this.buttons.get("u").disabled = !state.undoable;
    for (const key of "sxcn") this.buttons.get(key).disabled = !question;
    this.showItem(state.question);
    for (const item of state.ahead) this.contents.load(item);
  }

  showItem(question) {
    this.stage.classList.toggle("waiting", !question && !this.state.exhausted);
    if (!question) {
      if (this.state.exhausted) this.stage.replaceChildren();
      this.itemShown = null;
      return;
    }
    const { item } = question;
    if (item === this.itemShown) return;
    this.itemShown = item;
    const loaded = this.contents.atOnce(item);
    if (loaded) this.put(loaded, question);
    // The last item stays until this one is loaded, and only if it is still the one asked about.
    else
      this.contents.content(item).then((made) => {
        if (this.itemShown === item) this.put(made, question);
      });
  }

  put(made, { item, guess }) {
    this.stage.replaceChildren(made);
    this.stage.dataset.item = item;
    this.stage.scrollTop = 0;
    this.spoken.textContent = guess ? `New item, probably ${guess}` : "New item";
  }
}

export const widget = viewer((...parts) => new LabelView(...parts));
