// The export screen: what the file will hold, shown before it is made; and earlier labels, read back.

import { reason } from "./api.js";
import { element } from "./dom.js";
import { counted } from "./format.js";

const FORMATS = {
  csv: ["CSV", "for spreadsheets"],
  jsonl: ["JSON lines", "one object a line, for scripts"],
  parquet: ["Parquet", "small and typed, for data frames"],
};
const INCLUDE = {
  all: ["All items", "with the model's predictions where nobody gave a label"],
  labelled: ["Labels given by people", "and nothing else"],
};
const POLL = 500;

// What was chosen last, for when the person comes back.
let remembered = { format: "csv", include: "all" };

export function mountExport(container, host) {
  const screen = new Export(container, host);
  return { update: (state) => screen.update(state), close: () => screen.close() };
}

function radios(title, name, options, chosen, choose) {
  const rows = Object.entries(options).map(([value, [words, more]]) => {
    const input = element("input", { type: "radio", name, value, checked: value === chosen });
    input.addEventListener("change", () => choose(value));
    const said = element("span", {}, element("b", {}, words), element("span", "quiet", ` ${more}`));
    return element("label", {}, input, said);
  });
  return element("fieldset", {}, element("legend", {}, title), ...rows);
}

function importSentences({ imported, unchanged, unknown, predictions }) {
  const said = [imported ? `${counted(imported, "label was", "labels were")} read.` : "No new label was read."];
  if (unchanged) said.push(`${counted(unchanged, "was", "were")} here already.`);
  if (unknown) said.push(`${counted(unknown, "row names", "rows name")} no item of this project, or one again.`);
  if (predictions) said.push(`${counted(predictions, "row is", "rows are")} the model's and left out.`);
  return said.join(" ");
}

class Export {
  constructor(container, host) {
    Object.assign(this, { container, host, chosen: remembered, turn: 0 });
    this.build();
    this.listen();
    this.container.focus();
    this.showPreview();
  }

  build() {
    this.preview = element("pre", { tabIndex: 0, role: "region", "aria-label": "Preview of the first rows" });
    this.count = element("p", { className: "quiet", role: "status" });
    this.link = element("a", { className: "main", download: "" }, "Download");
    this.file = element("input", { type: "file", id: "import-file", accept: ".csv,.jsonl,.parquet" });
    this.zone = element("div", "zone",
      element("label", { htmlFor: this.file.id }, "Choose a file, or drop it here"), this.file);
    this.result = element("p", { className: "result", role: "status" });
    const column = element("div", "column",
      element("h1", {}, "Export"),
      element("div", "choices",
        radios("Format", "format", FORMATS, this.chosen.format, (format) => this.choose({ format })),
        radios("Include", "include", INCLUDE, this.chosen.include, (include) => this.choose({ include }))),
      this.preview,
      element("div", "act", this.link, this.count),
      element("p", "quiet", "Confidence is the model's own, not a measured accuracy."),
      element("h2", {}, "Import earlier labels"),
      element("p", "quiet",
        "A file in one of these formats. Items are found by id or source; what the model predicted is left out."),
      this.zone, this.result);
    this.container.tabIndex = -1;
    this.container.replaceChildren(element("div", "export", column));
  }

  listen() {
    this.ending = new AbortController();
    const on = (target, kind, act) => target.addEventListener(kind, act, { signal: this.ending.signal });
    on(this.file, "change", () => this.take(this.file.files));
    // A file dropped beside the zone would replace the page.
    for (const kind of ["dragenter", "dragover"]) {
      on(this.container, kind, (event) => {
        event.preventDefault();
        this.zone.classList.add("over");
      });
    }
    on(this.container, "dragleave", (event) => {
      if (!this.container.contains(event.relatedTarget)) this.zone.classList.remove("over");
    });
    on(this.container, "drop", (event) => {
      event.preventDefault();
      this.zone.classList.remove("over");
      this.take(event.dataTransfer.files);
    });
  }

  close() {
    this.turn += 1;
    this.ending.abort();
    delete this.container.dataset.ready;
    this.container.replaceChildren();
  }

  update(state) {
    const news = this.last !== undefined && this.last !== state.last;
    this.last = state.last;
    if (news) this.showPreview();
  }

  choose(change) {
    this.chosen = remembered = { ...this.chosen, ...change };
    this.showPreview();
  }

  async showPreview() {
    const turn = (this.turn += 1);
    const query = new URLSearchParams(this.chosen);
    try {
      for (;;) {
        const found = await this.host.get(`api/export/preview?${query}`);
        if (turn !== this.turn) return;
        if (!found.preparing) {
          this.show(found, query);
          return;
        }
        this.count.textContent = "The model is computing: a moment.";
        await new Promise((done) => setTimeout(done, POLL));
        if (turn !== this.turn) return;
      }
    } catch (error) {
      if (turn !== this.turn) return;
      this.preview.textContent = "";
      this.count.textContent = `Could not show what the file will hold: ${reason(error)}`;
    }
  }

  show({ rows, count }, query) {
    this.preview.textContent = rows.join("\n");
    this.count.textContent = count ? counted(count, "row", "rows") : "Nothing to export yet: label some items first.";
    this.link.setAttribute("aria-disabled", count === 0);
    if (count) this.link.href = `api/export?${query}`;
    else this.link.removeAttribute("href");
    this.container.dataset.ready = "yes";
  }

  async take(files) {
    const [file] = files;
    if (!file || this.taking) return;
    if (files.length > 1) {
      this.say("Could not read several files at once. Give them one after the other.", true);
      return;
    }
    this.taking = this.file.disabled = true;
    this.say(`Reading ${file.name} …`);
    try {
      this.say(importSentences(await this.host.upload("api/import", file)));
      this.showPreview();
    } catch (error) {
      this.say(reason(error), true);
    }
    this.taking = this.file.disabled = false;
    // The same file, mended, can be chosen again.
    this.file.value = "";
  }

  say(words, bad = false) {
    this.result.textContent = words;
    this.result.classList.toggle("bad", bad);
  }
}
