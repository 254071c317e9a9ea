// The app: which screen is shown, and the label screen. The server holds the truth: every answer
// names its item and the version of it that was on the screen, and counts once, however often it is
// sent. What follows each possible answer is asked for and loaded while the person looks.

import { About } from "./about.js";
import { Outbox, Refused, bytes, get, post, setAnnotator, uniqueId, upload } from "./api.js";
import { ClassEditor } from "./class-editor.js";
import { ClassFinder } from "./class-finder.js";
import { ClassKeys, freeKey, showRemap } from "./class-keys.js";
import { ClassColumn, colourName, described } from "./classes.js";
import { atOnce, content, load } from "./content.js";
import { byId, element } from "./dom.js";
import { counted, number } from "./format.js";
import { Grid } from "./grid.js";
import { isUndo, keyOf } from "./keys.js";
import { showDuplicates, showGuess, showProgress, showReason } from "./panels.js";
import { OTHERS, here, watchHistory, went } from "./places.js";
import { arrived, showPreparing } from "./preparing.js";
import { notSaved, saved, saving, settled } from "./saving.js";
import { showSettings } from "./settings-panel.js";
import { showSmallMap } from "./small-map.js";
import { showProject, showStanding } from "./standing.js";
import { toast } from "./toast.js";
import { Zoom } from "./zoom.js";

const POLL = 300;
const COMING = 2000; // milliseconds between two looks at how many items are in
const SEEN_HELP = "poise-seen-help";
const NAME = "poise-name";
const ALONE = "poise-duplicates-alone"; // kept while near-duplicates get no answer of their own

let state = null;
let ahead = null; // what follows each answer to the question on the screen
let shownAt = 0; // when the item on the screen came there
let before = null; // the question that was there before it
let outbox = null;
let recorded = 0; // number of the last event that the server has written for this page
let screen = { name: "loading", close() {}, update() {} };
const zoom = new Zoom(byId("stage"));
const about = new About(byId("about"));
const grid = new Grid(byId("grid"), { answer: (items, label, client) => record("label", { items: items.map((one) => one.item), label, via: "grid" }, versionsOf(items), client) });
const give = (name, client) => (grid.open ? grid.label(name, client) : answer(name, state?.question, client));
const column = new ClassColumn(byId("class-list"), byId("classes-edge"), { choose: (name) => give(name) });
const classKeys = new ClassKeys(byId("two-step"));
const finder = new ClassFinder(byId("finder"), { choose: (name) => give(name), make: (name) => makeClass(name) });
const editor = new ClassEditor(byId("class-editor"), { state: () => state, change });

// ---- What the person does ---------------------------------------------------------------------

function versionsOf(items) {
  return Object.fromEntries(items.map(({ item, version }) => [item, version]));
}

// What leaves things as they were foreseen; anything else changes what is worth asking.
const FORESEEN = ["class", "skip", "unsure"];
const ANSWERS = ["question", "audit"];

function record(kind, data, versions = {}, client = uniqueId()) {
  if (!FORESEEN.includes(kind) && !ANSWERS.includes(data.via)) ahead = null;
  return outbox.add("api/events", { kind, data, versions, client });
}

// A change of a class: the number of its event, by which it can be taken back.
async function change(kind, data) {
  const refused = await record(kind, data);
  if (refused) throw refused;
  return recorded;
}

// The question that a key pressed at this moment is about.
function meant(event) {
  return event && event.timeStamp < shownAt && before ? before : state?.question;
}

function answer(label, asked = state?.question, client = uniqueId()) {
  if (!asked) return;
  say("");
  const others = together(asked);
  const items = [asked, ...others];
  const via = asked.purpose === "audit" ? "audit" : others.length ? "duplicates" : "question";
  const data = { items: items.map((one) => one.item), label, via, ...guessed(asked) };
  record("label", data, versionsOf(items), client);
  if (asked !== state.question) return;
  // What follows was foreseen for the answer that is usual: with all near-duplicates.
  const usual = others.length === (asked.duplicates?.length ?? 0);
  moveOn(usual ? ahead?.answers[label] ?? (used(label) ? null : ahead?.new) : null, label, items.length);
}

function guessed({ guess, confidence }) {
  if (!guess) return {};
  return confidence === null ? { guess } : { guess, confidence };
}

// The near-duplicates that get the answer too.
function together(asked) {
  return byId("duplicates-too").checked ? asked.duplicates ?? [] : [];
}

const used = (label) => state.classes.some((one) => one.name === label && one.count);

function aside(kind) {
  const asked = state?.question;
  if (!asked) return;
  say("");
  const data = { items: [asked.item] };
  // What an audit could not find out counts too: with the guess that it would have judged.
  if (asked.purpose === "audit") Object.assign(data, { via: "audit", ...guessed(asked) });
  record(kind, data, { [asked.item]: asked.version });
  moveOn(ahead?.none, null);
}

// To the next question before the server has answered, if it is known. What follows an audit is
// not, nor with several people: another may have got it by now.
function moveOn(foreseen, label, n = 1) {
  const known = ahead?.item === state.question.item && state.question.purpose !== "audit" && !state.names;
  const next = known ? foreseen ?? ahead.queue[0] : null;
  before = state.question;
  state.answers += label ? n : 0;
  state.undoable = true;
  for (const one of state.classes) if (one.name === label) one.count += n;
  const queue = ahead?.queue.slice(1) ?? [];
  ahead = next ? { item: next.item, answers: {}, queue } : null;
  state.question = next ?? null;
  if (next) showQuestion();
  else waiting(true);
}

async function undo() {
  if (!state?.undoable) {
    toast("There is nothing to take back.");
    return;
  }
  say("");
  await outbox.add("api/undo", { client: uniqueId() });
}

async function lookAt(item) {
  try {
    take(await post("api/look", { item }));
  } catch (error) {
    say(error.message);
  }
}

async function walk(step) {
  const { items } = await get("api/history");
  const place = items.indexOf(state.question?.item);
  const next = place < 0 ? (step < 0 ? items.length - 1 : items.length) : place + step;
  if (next >= 0 && next < items.length) await lookAt(items[next]);
  else if (next >= items.length && place >= 0) await lookAt(null);
}

async function audit() {
  waiting(true);
  try {
    take(await post("api/audit", {}));
  } catch (error) {
    await askForQuestion();
    say(`${error.message}.`);
  }
}

// Taking back the answer that a class was made for takes the class back too.
function makeClass(name) {
  const client = uniqueId();
  if (!state.classes.some((one) => one.name === name)) {
    const key = freeKey(name, state.classes);
    state.classes.push({ name, key, code: "", colour: null, count: 0 });
    record("class", key ? { name, key, for: client } : { name, for: client });
  }
  give(name, client);
}

// ---- What comes back --------------------------------------------------------------------------

const said = {
  sending: saving,
  offline: (error) => notSaved(error, outbox.length),
  done(response, entry) {
    if (response.undone) {
      const words = undoneWords(response.undone);
      announce(words);
      toast(`${words}.`);
      say(response.undone.data.items ? `${words}. Here it is again.` : `${words}.`);
      before = null;
    }
    recorded = response.seq ?? recorded;
    if (response.alike) toast(`There is also a class “${response.alike}”. To make them one, press o.`);
    const { kind, data } = entry.body;
    if (data?.items?.length > 1) {
      const many = `${number(data.items.length)} items`;
      toast(kind === "label" ? `${many} are “${data.label}” now.` : `${many} lost their label.`, undo);
    }
    if (outbox.length) return;
    settled("saved");
    take(response);
  },
  async refused(error, entry) {
    const lost = error.status === 409 ? "" : " It is not saved; press the key again.";
    settled("");
    try {
      take(await get("api/state"));
    } catch {
      // The words below are what matters.
    }
    say(`${error.message}.${entry.body.kind === "label" ? lost : ""}`);
  },
};

function undoneWords({ kind, data: { items, label, name, to, into } }) {
  if (items) return `Undone: ${kind === "label" ? `“${label}”` : kind}${items.length > 1 ? ` of ${number(items.length)} items` : ""}`;
  const deeds = {
    rename: `“${name}” is not renamed to “${to}” any more`,
    merge: `“${name}” and “${into}” are two classes again`,
    remove: `“${name}” is a class again, with its labels`,
    colour: `the colour of “${name}”`,
    order: "the order of the classes",
    describe: `the note and the examples of “${name}”`,
  };
  return `Undone: ${deeds[kind]}`;
}

function take(found) {
  if (state?.run && found.run && found.run !== state.run) {
    location.reload(); // poise was started again: what this page remembers may be of other items
    return;
  }
  // What was on its way while an answer overtook it tells nothing new.
  if (!(found.last < state?.last)) {
    const same = state?.question && found.question?.item === state.question.item;
    if (found.items !== state?.items) ahead = null; // what was foreseen did not know the new ones
    const known = same && state.question.explained && !found.question.explained ? state.question : null;
    state = found;
    if (known) {
      // The guess is not kept: it may not know the last answer.
      const { nearest, alike } = known;
      Object.assign(state.question, { nearest, alike });
    }
    showQuestion();
    screen.update(state);
  }
  if (state.coming && !state.coming.trouble) watchComing();
  if (!state.question && !state.exhausted || state.question && !state.question.explained) askForQuestion();
  else if (state.question) look();
}

// Items that are still to come join what is asked about; nobody has to do anything for it.
let watching = false;
async function watchComing() {
  if (watching) return;
  watching = true;
  await new Promise((done) => { setTimeout(done, COMING); });
  watching = false;
  try {
    const found = await get("api/state");
    if (!outbox.length) take(found);
    else watchComing();
  } catch {
    watchComing();
  }
}

let asking = false;
async function askForQuestion() {
  if (asking) return;
  asking = true;
  waiting(!state.question);
  try {
    const found = await get("api/question");
    asking = false;
    if (!outbox.length) take(found);
  } catch (error) {
    asking = false;
    if (error instanceof Refused) say(error.message);
    else setTimeout(() => { if (!state.question) askForQuestion(); }, 1000);
  }
}

// Look ahead: what follows each answer, and load it.
let looking = null;
async function look() {
  const { question: { item }, last } = state;
  if (looking === item || (ahead?.item === item && ahead.last === last)) return;
  looking = item;
  let again = false;
  try {
    const found = await get("api/ahead");
    const same = found.item === state?.question?.item;
    again = same && state.last !== last; // something else happened in the meantime
    if (same && !again) {
      ahead = { ...found, last };
      document.body.dataset.ahead = found.item;
    }
    const coming = [...Object.values(found.answers), found.new, found.none, ...found.queue].filter(Boolean);
    for (const one of new Set(coming.map((question) => question.item))) load(one, state.kind);
    dots(found.queue.length);
  } catch {
    // Then the next question takes a moment longer.
  } finally {
    looking = null;
  }
  if (again) look();
}

// ---- What is shown ----------------------------------------------------------------------------

const say = (words) => { byId("problem").textContent = words; };
const announce = (words) => { byId("announce").textContent = words; };
const dots = (n) => { byId("queue").textContent = "•".repeat(n); };

function waiting(is) {
  byId("bar").hidden = !is;
  byId("stage").classList.toggle("waiting", is);
}

function showQuestion() {
  const { question } = state;
  document.title = `${state.project} · poise`;
  byId("project").textContent = state.project;
  byId("counts").textContent = `${counted(state.answers, "answer")} · ${arrived(state)}`
    + (state.unreadable ? `, ${number(state.unreadable)} could not be read` : "");
  if (grid.open && grid.items[0].item !== question?.item) grid.close();
  column.show(state);
  editor.update();
  document.querySelector('[data-key="u"]').disabled = !state.undoable;
  document.querySelector('[data-key="Enter"]').disabled = !question?.guess || question.purpose === "audit";
  document.querySelector('[data-key="ArrowRight"]').disabled = question?.purpose !== "again";
  const audits = question?.purpose === "audit";
  byId("purpose-words").textContent = audits ? `Audit: ${state.auditing} to go` : question?.label ? "An earlier answer" : "";
  byId("audit-stop").hidden = !audits;
  showDuplicates(question);
  showGuess(state);
  showItem(question);
  // What is not needed for the next answer waits until the item is painted.
  requestAnimationFrame(() => setTimeout(() => {
    showReason(state);
    showStanding(state, { askEverywhere: () => host.restrict(null).catch((error) => say(`${error.message}.`)) });
    showProject(state);
    showProgress(state, () => audit());
    showSettings(state, (name, value) => record("setting", { name, value }));
    showSmallMap(state);
  }));
}

let onStage = null;
function showItem(question) {
  const stage = byId("stage");
  if (!question) {
    onStage = null;
    if (state.exhausted) stage.replaceChildren();
    waiting(!state.exhausted);
    return;
  }
  waiting(false);
  if (question.item === onStage) return;
  onStage = question.item;
  const there = atOnce(question.item, state.kind);
  if (there) place(there, question);
  // The last item stays until this one is there, and only if it is still the one asked.
  else content(question.item, state.kind).then((made) => { if (onStage === question.item) place(made, question); });
}

function place(made, question) {
  const stage = byId("stage");
  stage.replaceChildren(made);
  stage.dataset.item = question.item;
  stage.scrollTop = 0;
  zoom.show(made, question.item);
  about.show(question.item);
  shownAt = performance.now();
  announce(question.guess && question.purpose !== "audit" ? `New item, probably ${question.guess}` : "New item");
}

// ---- Screens ----------------------------------------------------------------------------------

// For the screens: resolves when it is saved, rejects with the reason if it is not.
async function written(...what) {
  const refused = await record(...what);
  if (refused) throw refused;
}

const host = {
  get, post, bytes,
  upload: async (path, file) => {
    const found = await upload(path, file);
    take(await get("api/state"));
    return found;
  },
  content: (item, kind) => content(item, kind ?? state.kind, 160),
  classes: () => {
    const style = getComputedStyle(document.body);
    return state.classes.map((one) => ({ ...one, colour: style.getPropertyValue(colourName(one)).trim(), plain: one.colour == null }));
  },
  kind: () => state.kind,
  undo,
  open: async (item) => { await show("label"); await lookAt(item); },
  label: (items, label, via = "map", versions = {}) => written("label", { items, label, via }, versions),
  clear: (items, versions = {}) => written("clear", { items }, versions),
  restrict: (items) => written("setting", { name: "only", value: items }),
  say: (words) => { byId("saved").textContent = words; },
};

// `wanted`: what a screen shall show first.
function show(name, wanted) {
  went(name, wanted);
  return turnTo(name, wanted);
}

async function turnTo(name, wanted) {
  if (screen.name === name) {
    if (wanted) screen.want?.(wanted);
    return;
  }
  screen.close();
  screen = { name, wanted, close() {}, update() {} };
  document.body.dataset.screen = name;
  for (const button of document.querySelectorAll("nav [data-screen]")) {
    button.toggleAttribute("aria-current", button.dataset.screen === name);
  }
  if (!OTHERS.includes(name)) return;
  const mount = name === "map" ? (await import("./map.js")).mountMap
    : name === "review" ? (await import("./review.js")).mountReview : (await import("./export.js")).mountExport;
  if (screen.name !== name) return;
  screen = { name, ...mount(at(name), host, wanted) };
  screen.update(state);
}

// ---- Keys -------------------------------------------------------------------------------------

// Whether a class has this key; a button is no key.
const keyed = (key, event) => event && screen.name === "label" && state.classes.some((one) => one.key === key);

function press(key, event) {
  if (!state || state.preparing) return;
  if (classKeys.first && (!event || screen.name !== "label" || key === "Escape")) return classKeys.cancel();
  if (key === "?" && !classKeys.first) return openHelp();
  if (key === "Escape") return void escape();
  const { wanted } = screen; // until the screen is there
  if (wanted?.search) {
    if (key.length === 1) wanted.typed = (wanted.typed ?? "") + key;
    wanted.entered ||= key === "Enter";
    return;
  }
  if (key === "/" && !grid.open && !classKeys.first && !keyed(key, event)) return void show("review", { search: true });
  if (key === "u" && !classKeys.first) return void undo();
  if (screen.name !== "label") {
    const to = { m: "map", v: "review", e: "export" }[key];
    if (to && screen.name === "map") show(to);
    return;
  }
  const meaning = event && classKeys.press(key, state.classes);
  if (meaning?.chosen) return grid.open ? grid.label(meaning.chosen.name) : answer(meaning.chosen.name, meant(event));
  if (meaning || (grid.open && grid.press(key))) return;
  switch (key) {
    case "Enter": {
      const asked = meant(event);
      if (grid.open) { if (state.question.guess) grid.label(state.question.guess); }
      else if (asked?.guess && asked.purpose !== "audit") answer(asked.guess, asked);
      break;
    }
    case "s": aside("skip"); break;
    case "x": aside("unsure"); break;
    case "i": about.toggle(state.question?.item); break;
    case "g":
      if (state.question?.purpose === "audit") break; // what is believed alike would give it away
      if (state.question && !state.question.alike.length) say("Nothing alike is known yet: press g again in a moment.");
      grid.show(state.question?.alike ?? [], state.kind);
      break;
    case "d":
      if (state.question?.duplicates?.length) grid.show([state.question, ...state.question.duplicates], state.kind);
      break;
    case "l": if (state.question) show("review", { like: state.question.item }); break;
    case "c":
      finder.open(state.classes, state.question?.purpose === "audit" ? null : state.question?.guess, grid.open ? "Which class are these?" : "Which class is it?");
      break;
    case "o": editor.open(state.question?.label); break;
    case "n":
      byId("name").value = "";
      byId("name-dialog").returnValue = ""; // Esc does not empty it in every browser
      byId("name-dialog").showModal();
      break;
    case "a": if (state.answers) audit(); break;
    case "m": show("map"); break;
    case "v": show("review"); break;
    case "e": show("export"); break;
    case "ArrowLeft": walk(-1); break;
    case "ArrowRight": walk(1); break;
    default: zoom.press(key);
  }
}

// One step back at a time: what lies above the item first.
function escape() {
  if (grid.open) grid.close();
  else if (screen.name === "label" && !byId("welcome").hidden) byId("welcome").hidden = true;
  else if (screen.name === "label" && zoom.isOn) zoom.reset();
  else show("label");
}

document.addEventListener("keydown", (event) => {
  if (event.repeat || document.querySelector("dialog[open]")) return;
  // A field keeps the focus for a moment after its dialog has closed: what is typed then is for the page.
  const target = event.target.closest("dialog") ? document.body : event.target;
  // Typing into a field, and Enter on a control that has the focus, are for them.
  if (target.closest("input:not([type=range], [type=checkbox]), select, textarea") && event.key !== "Escape") return;
  if (isUndo(event)) {
    event.preventDefault();
    press("u");
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key.startsWith("Arrow") && target.closest("[type=range]")) return;
  if (event.key === "Enter" && target.closest("button, a, summary")) return;
  const key = keyOf(event, screen.name === "label" ? state?.classes : []);
  if ("cn/".includes(key)) event.preventDefault(); // not into the field that opens
  press(key, event);
});
for (const button of document.querySelectorAll("[data-key]")) {
  button.addEventListener("click", () => press(button.dataset.key));
}
for (const button of document.querySelectorAll("nav [data-screen]")) {
  button.addEventListener("click", () => { if (state && !state.preparing) show(button.dataset.screen); });
}
byId("duplicates-too").checked = localStorage.getItem(ALONE) === null;
byId("duplicates-too").addEventListener("change", () => {
  if (byId("duplicates-too").checked) localStorage.removeItem(ALONE);
  else localStorage.setItem(ALONE, "yes");
});
byId("welcome-close").addEventListener("click", () => { byId("welcome").hidden = true; });
byId("audit-stop").addEventListener("click", () => lookAt(null));
byId("project-details").addEventListener("toggle", () => { if (state?.compared !== undefined) showProject(state); });
byId("prepare-again").addEventListener("click", () => post("api/prepare", {}));
watchHistory((name, wanted) => { if (state && !state.preparing) turnTo(name, wanted); });
byId("new-class").addEventListener("click", () => press("n"));
byId("help-button").addEventListener("click", () => openHelp());
byId("settings").addEventListener("toggle", () => showSettings(state, (name, value) => record("setting", { name, value })));
byId("name-dialog").addEventListener("close", () => {
  const name = byId("name").value.trim();
  if (byId("name-dialog").returnValue === "ok" && name) makeClass(name);
});
// Enter in the field means yes, not the first button.
byId("name").addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    byId("name-ok").click();
  }
});

function openHelp() {
  const classes = state?.classes ?? [];
  showRemap(byId("remap"), byId("remap-problem"), classes, (name, key) => record("class", { name, key }));
  byId("described").replaceChildren(...classes.filter((one) => one.note || one.examples).map((one) => {
    const about = element("section");
    about.append(...described(one, state.kind));
    return about;
  }));
  byId("compared").textContent = state?.compared ?? "";
  if (!byId("help").open) byId("help").showModal();
}

// ---- Beginning --------------------------------------------------------------------------------

async function askName() {
  const kept = localStorage.getItem(NAME);
  if (kept) return kept;
  byId("who-dialog").showModal();
  await new Promise((done) => { byId("who-dialog").addEventListener("close", done, { once: true }); });
  const name = byId("who-name").value.trim();
  if (!name) return askName();
  localStorage.setItem(NAME, name);
  return name;
}

async function begin() {
  let found = null;
  for (;;) {
    try {
      found = await get("api/state");
    } catch (error) {
      say(error.message);
      throw error;
    }
    if (!found.preparing) break;
    document.body.dataset.screen = "prepare";
    showPreparing(found.preparing);
    await new Promise((done) => { setTimeout(done, POLL); });
  }
  byId("log-out").hidden = !found.password;
  byId("log-out").addEventListener("click", async () => {
    await post("logout", {});
    location.assign("login");
  });
  if (found.names) {
    const name = await askName();
    setAnnotator(name);
    byId("who").hidden = false;
    byId("who").textContent = name;
    byId("who").addEventListener("click", () => { localStorage.removeItem(NAME); location.reload(); });
    found = await get("api/state");
  }
  outbox = new Outbox(`poise-outbox-${found.project}-`, said);
  state = found;
  await outbox.resume();
  const first = here();
  turnTo(first.name, first.wanted);
  saved("saved");
  take(state);
  if (!localStorage.getItem(SEEN_HELP)) {
    localStorage.setItem(SEEN_HELP, "yes");
    byId("welcome").hidden = false;
  }
}

begin();
