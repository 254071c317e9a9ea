// The app: which screen is shown, which keys work on all of them, and how it starts.

import { currentScreen, OTHERS, visit, watchHistory } from "./addresses.js";
import { bytes, get, post, setAnnotator, upload } from "./api.js";
import { showRemap } from "./class-keys.js";
import { colourName, described } from "./classes.js";
import { thumbnail } from "./content.js";
import { byId, element } from "./dom.js";
import { watchEnd } from "./ending.js";
import { watchKeys } from "./keys.js";
import { LabelScreen } from "./label-screen.js";
import { hideLacking, isKeyOfLacking, lacks } from "./lacking.js";
import { showPreparing } from "./preparing.js";
import { saved } from "./saving.js";
import { Session } from "./session.js";

const PREPARING_POLL_MS = 300;
const SEEN_HELP = "poise-seen-help";
const NAME = "poise-name";
const SCREEN_KEYS = { m: "map", v: "review", e: "export" };
const MOUNTS = {
  map: async () => (await import("./map.js")).mountMap,
  review: async () => (await import("./review.js")).mountReview,
  export: async () => (await import("./export.js")).mountExport,
};

let screen = { name: "loading", close() {}, update() {} };
const session = new Session({
  changed: (state) => {
    label.show();
    screen.update(state);
  },
  question: () => label.show(),
  say: (words) => label.say(words),
  announce: (words) => label.announce(words),
  wait: (waiting) => label.wait(waiting),
  queue: (length) => label.showQueue(length),
});
const label = new LabelScreen(session, show);

// Whether the project is open: before, there is nothing to do but wait.
const isReady = () => session.state !== null;

// ---- Screens ----------------------------------------------------------------------------------

// What the other screens may use. Their changes throw the reason if the server refuses them.
const host = {
  get,
  post,
  map: {
    layouts: () => get("api/map"),
    points: (layout) => bytes(`api/map/points?layout=${encodeURIComponent(layout)}`),
    values: () => bytes("api/map/values"),
    item: (node) => get(`api/map/item?node=${node}`),
    items: (nodes) => post("api/map/items", { nodes }),
  },
  upload: async (path, file) => {
    const result = await upload(path, file);
    session.take(await get("api/state"));
    return result;
  },
  content: (item, kind) => thumbnail(item, kind ?? session.state.kind),
  classes: () => {
    const style = getComputedStyle(document.body);
    return session.state.classes.map((labelClass) => {
      const colour = style.getPropertyValue(colourName(labelClass)).trim();
      return { ...labelClass, colour, plain: labelClass.colour == null };
    });
  },
  kind: () => session.state.kind,
  lacks: (part) => lacks(session.state, part),
  undo: () => session.undo(),
  open: async (item) => {
    await show("label");
    await session.lookAt(item);
  },
  label: (items, name, via = "map", versions = {}) => session.written("label", { items, label: name, via }, versions),
  clear: (items, versions = {}) => session.written("clear", { items }, versions),
  discard: (name) => session.written("discard", { name }),
  restrict: (items) => session.written("setting", { name: "only", value: items }),
  say: (words) => {
    byId("saved").textContent = words;
  },
};

// `wanted`: what the screen shows first.
function show(name, wanted) {
  visit(name, wanted);
  return turnTo(name, wanted);
}

async function turnTo(asked, wanted) {
  const name = lacks(session.state, asked) ? "label" : asked;
  if (screen.name === name) {
    if (wanted) screen.want?.(wanted);
    return;
  }
  screen.close();
  if (!session.outbox.length) saved("saved"); // what the last screen said is over
  screen = { name, wanted, close() {}, update() {} };
  document.body.dataset.screen = name;
  for (const button of document.querySelectorAll("nav [data-screen]")) {
    button.toggleAttribute("aria-current", button.dataset.screen === name);
  }
  if (!OTHERS.includes(name)) return;
  const mount = await MOUNTS[name]();
  if (screen.name !== name) return;
  screen = { name, ...mount(byId(name), host, wanted) };
  screen.update(session.state);
}

// ---- Keys -------------------------------------------------------------------------------------

// `event` is missing where a button was pressed.
function press(key, event) {
  if (!isReady()) return;
  const { classKeys, grid } = label;
  if (classKeys.first) {
    if (!event || screen.name !== "label" || key === "Escape") classKeys.cancel();
    else label.press(key, event);
    return;
  }
  if (isKeyOfLacking(session.state, key) && !isClassKey(key, event)) return;
  if (key === "?") openHelp();
  else if (key === "Escape") leave();
  else if (screen.wanted?.search) typeAhead(screen.wanted, key);
  else if (key === "/" && !grid.open && !isClassKey(key, event)) show("review", { search: true });
  else if (key === "u") session.undo();
  else if (screen.name === "label") label.press(key, event);
  else if (screen.name === "map" && key in SCREEN_KEYS) show(SCREEN_KEYS[key]);
}

// Until the search field is there, what is typed is kept for it.
function typeAhead(wanted, key) {
  if (key.length === 1) wanted.typed = (wanted.typed ?? "") + key;
  wanted.entered ||= key === "Enter";
}

function isClassKey(key, event) {
  return event && screen.name === "label" && session.state.classes.some((labelClass) => labelClass.key === key);
}

function leave() {
  if (screen.name !== "label" && label.grid.open) label.grid.close();
  else if (screen.name !== "label" || !label.leave()) show("label");
}

function openHelp() {
  const { classes, compared, kind } = session.state ?? { classes: [] };
  showRemap(byId("remap"), byId("remap-problem"), classes, (name, key) => session.record("class", { name, key }));
  const sections = classes
    .filter(({ note, examples }) => note || examples)
    .map((labelClass) => element("section", {}, ...described(labelClass, (item) => thumbnail(item, kind))));
  byId("described").replaceChildren(...sections);
  byId("compared").textContent = compared ?? "";
  if (!byId("help").open) byId("help").showModal();
}

watchKeys(press, () => (screen.name === "label" ? (session.state?.classes ?? []) : []));
for (const button of document.querySelectorAll("[data-key]")) {
  button.addEventListener("click", () => press(button.dataset.key));
}
for (const button of document.querySelectorAll("nav [data-screen]")) {
  button.addEventListener("click", () => {
    if (isReady()) show(button.dataset.screen);
  });
}
watchHistory((name, wanted) => {
  if (isReady()) turnTo(name, wanted);
});
byId("help-button").addEventListener("click", openHelp);
byId("prepare-again").addEventListener("click", () => post("api/prepare", {}));

// ---- Start ------------------------------------------------------------------------------------

async function askName() {
  const name = localStorage.getItem(NAME);
  if (name) return name;
  const dialog = byId("who-dialog");
  dialog.showModal();
  await new Promise((done) => {
    dialog.addEventListener("close", done, { once: true });
  });
  const typed = byId("who-name").value.trim();
  if (!typed) return askName();
  localStorage.setItem(NAME, typed);
  return typed;
}

// The server's state once the project is prepared; until then its progress is shown.
async function prepared() {
  for (;;) {
    const state = await get("api/state");
    if (!state.preparing) return state;
    document.body.dataset.screen = "prepare";
    showPreparing(state.preparing);
    await new Promise((done) => {
      setTimeout(done, PREPARING_POLL_MS);
    });
  }
}

async function start() {
  let state = await prepared().catch((error) => {
    label.say(error.message);
    throw error;
  });
  byId("log-out").hidden = !state.password;
  byId("log-out").addEventListener("click", async () => {
    await post("logout", {});
    location.assign("login");
  });
  if (state.names) {
    const name = await askName();
    setAnnotator(name);
    byId("who").hidden = false;
    byId("who").textContent = name;
    byId("who").addEventListener("click", () => {
      localStorage.removeItem(NAME);
      location.reload();
    });
    state = await get("api/state");
  }
  await session.begin(state);
  hideLacking(session.state);
  if (session.state.ending) watchEnd(session.state);
  const { name, wanted } = currentScreen();
  turnTo(name, wanted);
  saved("saved");
  session.take(session.state);
  if (!localStorage.getItem(SEEN_HELP)) {
    localStorage.setItem(SEEN_HELP, "yes");
    byId("welcome").hidden = false;
  }
}

start();
