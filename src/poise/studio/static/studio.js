// The label screen. The server holds the truth: every answer names its item and the version of it
// that was on the screen, and counts once, however often it is sent.

const at = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en-GB");
const COLOURS = 12;
const RETRY = [300, 1000, 3000];

let state = null;
let sending = false;

async function request(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(path, options);
  const found = await response.json();
  if (!response.ok) throw Object.assign(new Error(found.error), { status: response.status });
  return found;
}

// Sends until the server has it: the client's id makes a second arrival harmless.
async function send(path, body) {
  if (sending) return;
  sending = true;
  say("");
  saved("saving");
  for (let attempt = 0; ; attempt += 1) {
    try {
      state = await request(path, body);
      saved("saved");
      break;
    } catch (error) {
      if (error.status === 409) {
        state = await request("/api/state");
        say(error.message);
        saved("");
        break;
      }
      if (error.status !== undefined && error.status !== 503) {
        say(`${error.message}. It is not saved.`);
        saved("");
        break;
      }
      saved("not saved yet: no answer from poise");
      await new Promise((done) => setTimeout(done, RETRY[Math.min(attempt, RETRY.length - 1)]));
    }
  }
  sending = false;
  show();
}

function record(kind, data, versions = {}) {
  return send("/api/events", { kind, data, versions, client: crypto.randomUUID() });
}

function answer(label) {
  const asked = state?.question;
  if (!asked || sending) return;
  record("label", { items: [asked.item], label }, { [asked.item]: asked.version });
}

function aside(kind) {
  const asked = state?.question;
  if (asked && !sending) record(kind, { items: [asked.item] }, { [asked.item]: asked.version });
}

async function makeClass(name) {
  const taken = new Set(state.classes.map((one) => one.key));
  const key = [..."1234567890"].find((digit) => !taken.has(digit));
  if (!state.classes.some((one) => one.name === name)) {
    await record("class", key ? { name, key } : { name });
  }
  if (state.classes.some((one) => one.name === name)) answer(name);
}

function saved(words) {
  at("saved").textContent = words === "saved" ? "✓ saved" : words;
  at("saved").className = words === "saved" ? "" : "waiting";
}

function say(words) {
  at("problem").textContent = words;
}

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

async function content(item, place) {
  if (state.kind === "image") {
    const picture = element("img");
    picture.alt = "";
    picture.src = `/api/items/${encodeURIComponent(item)}`;
    await picture.decode().catch(() => {});
    place(picture);
    return;
  }
  const response = await fetch(`/api/items/${encodeURIComponent(item)}`);
  if (state.kind === "text") place(element("div", "text", await response.text()));
  else place(sparkline(await response.json()));
}

function sparkline(values) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const points = values.map((value, i) => {
    const x = (600 * i) / Math.max(values.length - 1, 1);
    const y = 190 - (180 * (value - low)) / (high - low || 1);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 600 200");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${values.length} numbers from ${low} to ${high}`);
  const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  line.setAttribute("points", points.join(" "));
  line.setAttribute("fill", "none");
  line.setAttribute("stroke", "currentColor");
  svg.append(line);
  return svg;
}

function show() {
  const { question, classes } = state;
  document.title = `${state.project} · poise`;
  at("project").textContent = state.project;
  at("counts").textContent =
    `${number.format(state.answers)} answers · ${number.format(state.items)} items`;
  at("class-list").replaceChildren(...classes.map((one, place) => {
    const row = element("li");
    const button = element("button", "class");
    button.type = "button";
    button.style.setProperty("--c", `var(--c${place % COLOURS})`);
    button.append(
      element("kbd", "", one.key || " "),
      element("span", "dot"),
      element("span", "name", one.name),
      element("span", "count", number.format(one.count)),
    );
    button.addEventListener("click", () => answer(one.name));
    row.append(button);
    return row;
  }));
  document.querySelector('[data-key="u"]').disabled = !state.undoable;
  document.querySelector('[data-key="Enter"]').disabled = !question?.guess;
  showGuess(question, classes);
  showReason(question);
  showItem(question);
}

function showGuess(question, classes) {
  const line = at("guess");
  if (!question) {
    line.textContent = "Everything is labelled or set aside. Export the result.";
  } else if (question.guess) {
    const share = Math.round(100 * question.confidence);
    line.replaceChildren("probably ", element("b", "", question.guess), ` · ${share}% · `, element("kbd", "", "Enter"));
  } else {
    line.textContent = classes.length
      ? "Nothing labelled yet: press the key of its class."
      : "Nothing labelled yet. Press n to name the first class.";
  }
}

function showReason(question) {
  const nearest = at("nearest");
  if (!question?.guess) {
    at("reason").textContent = question ? "It lies in the middle of a crowd: a good first question." : "";
    nearest.replaceChildren();
    return;
  }
  const less = question.known_less;
  const rank = less < 0.0005 ? "Nothing is known less" : `Of ${(100 * less).toFixed(1)}% even less is known`;
  at("reason").textContent = question.decides
    ? `To decide: two classes are close here. ${rank}.`
    : `To explore: the labels so far say little about it. ${rank}.`;
  const frames = question.nearest.map(({ item, label }) => {
    const frame = element("figure");
    frame.append(element("figcaption", "", label));
    content(item, (made) => frame.prepend(made));
    return frame;
  });
  nearest.replaceChildren(...frames);
}

let shown = null;
function showItem(question) {
  const stage = at("stage");
  if (!question) {
    stage.replaceChildren();
    shown = null;
  } else if (question.item !== shown) {
    shown = question.item;
    content(question.item, (made) => {
      // The last item stays until this one is there, and only if it is still the one asked.
      if (shown === question.item) {
        stage.replaceChildren(made);
        stage.dataset.item = question.item;
      }
    });
  }
}

function press(key) {
  if (!state) return;
  const chosen = state.classes.find((one) => one.key === key);
  if (chosen) answer(chosen.name);
  else if (key === "Enter" && state.question?.guess) answer(state.question.guess);
  else if (key === "u" && state.undoable) send("/api/undo", { client: crypto.randomUUID() });
  else if (key === "s") aside("skip");
  else if (key === "x") aside("unsure");
  else if (key === "n") {
    at("name").value = "";
    at("name-dialog").showModal();
  } else if (key === "?") at("help").showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]")) return;
  // Enter on a control that has the focus is for that control.
  if (event.key === "Enter" && event.target.closest("button, a")) return;
  press(event.key);
});
for (const button of document.querySelectorAll("[data-key]")) {
  button.addEventListener("click", () => press(button.dataset.key));
}
at("new-class").addEventListener("click", () => press("n"));
at("help-button").addEventListener("click", () => press("?"));
at("name-dialog").addEventListener("close", () => {
  const name = at("name").value.trim();
  if (at("name-dialog").returnValue === "ok" && name) makeClass(name);
});
// Enter in the field means yes, not the first button.
at("name").addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    at("name-ok").click();
  }
});

request("/api/state").then((found) => {
  state = found;
  saved("saved");
  show();
}, (error) => say(error.message));
