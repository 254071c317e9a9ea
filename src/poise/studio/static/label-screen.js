// The label screen: the item, what a key does to it, and what stands around it.

import { About } from "./about.js";
import { uniqueId } from "./api.js";
import { ClassEditor } from "./class-editor.js";
import { ClassFinder } from "./class-finder.js";
import { ClassKeys } from "./class-keys.js";
import { ClassColumn, makeAdjustable } from "./classes.js";
import { atOnce, content, thumbnail } from "./content.js";
import { byId } from "./dom.js";
import { counted, number } from "./format.js";
import { Grid } from "./grid.js";
import { showGuess } from "./guess.js";
import { showDuplicates, showProgress, showReason } from "./panels.js";
import { arrived } from "./preparing.js";
import { versionsOf } from "./session.js";
import { showSettings } from "./settings-panel.js";
import { showSmallMap } from "./small-map.js";
import { showProject, showStanding } from "./standing.js";
import { Zoom } from "./zoom.js";

const ALONE = "poise-duplicates-alone"; // stored while near-duplicates get no label with the item

// What an event says about the model's guess, or about the assistant whose answer is judged.
function guessOf({ guess, confidence, of }) {
  if (of) return { of };
  if (!guess) return {};
  return confidence === null ? { guess } : { guess, confidence };
}

export class LabelScreen {
  // `go(screen, wanted)` leads to another screen.
  constructor(session, go) {
    Object.assign(this, { session, go });
    this.shownAt = 0; // when the item on the screen appeared
    this.itemShown = null;
    this.zoom = new Zoom(byId("stage"));
    this.about = new About(byId("about"));
    this.grid = new Grid(byId("grid"), { answer: (...chosen) => this.answerGrid(...chosen) });
    const choose = (name) => this.label(name);
    this.column = new ClassColumn(byId("class-list"), { choose, thumbnail });
    makeAdjustable(byId("classes-edge"));
    this.classKeys = new ClassKeys(byId("two-step"));
    this.finder = new ClassFinder(byId("finder"), { choose, make: (name) => this.makeClass(name) });
    this.editor = new ClassEditor(byId("class-editor"), {
      state: () => session.state,
      change: (kind, data) => session.written(kind, data),
    });
    this.listen();
  }

  listen() {
    const together = byId("duplicates-too");
    together.checked = localStorage.getItem(ALONE) === null;
    together.addEventListener("change", () => {
      if (together.checked) localStorage.removeItem(ALONE);
      else localStorage.setItem(ALONE, "yes");
    });
    byId("welcome-close").addEventListener("click", () => {
      byId("welcome").hidden = true;
    });
    byId("audit-stop").addEventListener("click", () => this.session.lookAt(null));
    byId("settings").addEventListener("toggle", () => this.showSettings());
    byId("project-details").addEventListener("toggle", () => {
      if (this.session.state?.compared !== undefined) showProject(this.session.state);
    });
    const dialog = byId("name-dialog");
    dialog.addEventListener("close", () => {
      const name = byId("name").value.trim();
      if (dialog.returnValue === "ok" && name) this.makeClass(name);
    });
    // Enter in the field means OK, not the first button.
    byId("name").addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      byId("name-ok").click();
    });
  }

  // ---- Answers ----------------------------------------------------------------------------------

  // The question that a key pressed at this moment is about.
  questionAt(event) {
    const { previous, question } = this.session;
    return event && event.timeStamp < this.shownAt && previous ? previous : question;
  }

  label(name, client) {
    if (this.grid.open) this.grid.label(name, client);
    else this.answer(name, this.session.question, client);
  }

  answer(label, question, client = uniqueId()) {
    if (!question) return;
    this.say("");
    const { session } = this;
    const duplicates = byId("duplicates-too").checked ? (question.duplicates ?? []) : [];
    const items = [question, ...duplicates];
    const via = question.purpose === "audit" ? "audit" : duplicates.length ? "duplicates" : "question";
    const data = { items: items.map(({ item }) => item), label, via, ...guessOf(question) };
    session.record("label", data, versionsOf(items), client);
    if (question !== session.question) return;
    // What follows was foreseen for the usual answer, which includes all near-duplicates.
    const usual = duplicates.length === (question.duplicates?.length ?? 0);
    session.moveOn(usual ? session.foreseen(label) : null, label, items.length);
  }

  answerGrid(questions, label, client) {
    const items = questions.map(({ item }) => item);
    this.session.record("label", { items, label, via: "grid" }, versionsOf(questions), client);
  }

  setAside(kind) {
    const { session } = this;
    const { question } = session;
    if (!question) return;
    this.say("");
    const data = { items: [question.item] };
    // What an audit could not find out counts too, with the guess that it would have judged.
    if (question.purpose === "audit") Object.assign(data, { via: "audit", ...guessOf(question) });
    session.record(kind, data, { [question.item]: question.version });
    session.moveOn(session.ahead?.none, null);
  }

  // Undoing the answer that a class was made for removes the class too. The server chooses its key.
  makeClass(name) {
    const client = uniqueId();
    const { classes } = this.session.state;
    if (!classes.some((labelClass) => labelClass.name === name)) {
      classes.push({ name, key: "", code: "", colour: null, count: 0 });
      this.session.record("class", { name, for: client });
    }
    this.label(name, client);
  }

  askForName() {
    byId("name").value = "";
    byId("name-dialog").returnValue = ""; // Esc does not empty it in every browser
    byId("name-dialog").showModal();
  }

  // ---- What is shown ----------------------------------------------------------------------------

  say(words) {
    byId("problem").textContent = words;
  }

  announce(words) {
    byId("announce").textContent = words;
  }

  wait(waiting) {
    byId("bar").hidden = !waiting;
    byId("stage").classList.toggle("waiting", waiting);
  }

  showQueue(length) {
    byId("queue").textContent = "•".repeat(length);
  }

  show() {
    const { state } = this.session;
    const { question } = state;
    const failed = state.unreadable ? `, ${number(state.unreadable)} could not be read` : "";
    document.title = `${state.project} · poise`;
    byId("project").textContent = state.project;
    byId("counts").textContent = `${counted(state.answers, "answer")} · ${arrived(state)}${failed}`;
    if (this.grid.open && this.grid.items[0].item !== question?.item) this.grid.close();
    this.column.show(state);
    this.editor.update();
    const audited = question?.purpose === "audit";
    document.querySelector('[data-key="u"]').disabled = !state.undoable;
    document.querySelector('[data-key="Enter"]').disabled = !question?.guess || audited;
    document.querySelector('[data-key="ArrowRight"]').disabled = question?.purpose !== "again";
    byId("purpose-words").textContent = audited
      ? `${question.of ? `Judging ${question.of}` : "Audit"}: ${state.auditing} to go`
      : question?.label
        ? "An earlier answer"
        : "";
    byId("audit-stop").hidden = !audited;
    showDuplicates(question);
    showGuess(byId("guess"), state);
    this.showItem(question);
    // What is not needed for the next answer waits until the item is painted.
    requestAnimationFrame(() => setTimeout(() => this.showPanels(state)));
  }

  showPanels(state) {
    const { session } = this;
    showReason(state);
    showStanding(state, {
      askEverywhere: () =>
        session.written("setting", { name: "only", value: null }).catch((error) => this.say(`${error.message}.`)),
    });
    showProject(state);
    showProgress(
      state,
      (of) => session.audit(of),
      (name) => session.record("discard", { name }),
    );
    this.showSettings();
    showSmallMap(state);
  }

  showSettings() {
    showSettings(this.session.state, (name, value) => this.session.record("setting", { name, value }));
  }

  showItem(question) {
    const { state } = this.session;
    if (!question) {
      this.itemShown = null;
      byId("stage").ariaBusy = "false";
      if (state.exhausted) byId("stage").replaceChildren();
      this.wait(!state.exhausted);
      return;
    }
    this.wait(false);
    if (question.item === this.itemShown) return;
    this.itemShown = question.item;
    const loaded = atOnce(question.item);
    if (loaded) {
      this.put(loaded, question);
      return;
    }
    // The last item stays until this one is loaded, and only if it is still the one asked about.
    byId("stage").ariaBusy = "true";
    content(question.item, state.kind).then((made) => {
      if (this.itemShown === question.item) this.put(made, question);
    });
  }

  put(made, question) {
    const stage = byId("stage");
    stage.replaceChildren(made);
    stage.dataset.item = question.item;
    stage.ariaBusy = "false";
    stage.scrollTop = 0;
    this.zoom.show(made, question.item);
    this.about.show(question.item);
    this.shownAt = performance.now();
    this.announce(question.guess && question.purpose !== "audit" ? `New item, probably ${question.guess}` : "New item");
  }

  // ---- Keys -------------------------------------------------------------------------------------

  // `event` is missing where a button was pressed: then the key of a class does not count.
  press(key, event) {
    const { classKeys, grid, session } = this;
    const { question, state } = session;
    const meaning = event && classKeys.press(key, state.classes);
    if (meaning?.chosen && grid.open) grid.label(meaning.chosen.name);
    else if (meaning?.chosen) this.answer(meaning.chosen.name, this.questionAt(event));
    if (meaning || (grid.open && grid.press(key))) return;
    const actions = {
      Enter: () => this.accept(event),
      s: () => this.setAside("skip"),
      x: () => this.setAside("unsure"),
      i: () => this.about.toggle(question?.item),
      g: () => this.openGrid(),
      d: () => {
        if (question?.duplicates?.length) grid.show([question, ...question.duplicates], state.kind);
      },
      l: () => {
        if (question) this.go("review", { like: question.item });
      },
      c: () => this.find(),
      o: () => this.editor.open(question?.label),
      n: () => this.askForName(),
      a: () => {
        if (state.answers) session.audit();
      },
      m: () => this.go("map"),
      v: () => this.go("review"),
      e: () => this.go("export"),
      ArrowLeft: () => session.walk(-1),
      ArrowRight: () => session.walk(1),
    };
    if (Object.hasOwn(actions, key)) actions[key]();
    else this.zoom.press(key);
  }

  accept(event) {
    const { grid, session } = this;
    if (grid.open) {
      if (session.question.guess) grid.label(session.question.guess);
      return;
    }
    const question = this.questionAt(event);
    if (question?.guess && question.purpose !== "audit") this.answer(question.guess, question);
  }

  openGrid() {
    const { question, state } = this.session;
    if (question?.purpose === "audit") return; // similar items would give the guess away
    if (question && !question.alike.length) this.say("No similar items are known yet: press g again in a moment.");
    this.grid.show(question?.alike ?? [], state.kind);
  }

  find() {
    const { question, state } = this.session;
    const guess = question?.purpose === "audit" ? null : question?.guess;
    this.finder.open(state.classes, guess, this.grid.open ? "Class of these items" : "Class of this item");
  }

  // Leaves what lies above the item, one step at a time. Whether there was anything to leave.
  leave() {
    if (this.grid.open) this.grid.close();
    else if (!byId("welcome").hidden) byId("welcome").hidden = true;
    else if (this.zoom.isOn) this.zoom.reset();
    else return false;
    return true;
  }
}
