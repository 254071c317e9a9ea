// The export screen: a preview of the file and its download; and the import of earlier labels.

import { reason } from "./api.js";
import { element } from "./dom.js";
import { counted } from "./format.js";

const FORMATS = {
  csv: ["CSV", "for spreadsheets"],
  jsonl: ["JSON lines", "one object per line, for scripts"],
  parquet: ["Parquet", "small and typed, for data frames"],
};
const INCLUDE = {
  all: ["All items", "with the model’s predictions where nobody gave a label"],
  labelled: ["Labels given by people", "without predictions"],
};
const POLL_MS = 500;

// The last choice, for when the person comes back.
let remembered = { format: "csv", include: "all" };

export function mountExport(container, host) {
  const screen = new Export(container, host);
  return { update: (state) => screen.update(state), close: () => screen.close() };
}

function radios(title, name, options, chosen, choose) {
  const rows = Object.entries(options).map(([value, [words, more]]) => {
    const input = element("input", { type: "radio", name, value, checked: value === chosen });
    input.addEventListener("change", () => choose(value));
    const text = element("span", {}, element("b", {}, words), element("span", "quiet", ` ${more}`));
    return element("label", {}, input, text);
  });
  return element("fieldset", {}, element("legend", {}, title), ...rows);
}

function importSentences({ imported, unchanged, unknown, predictions }) {
  const sentences = [
    imported ? `${counted(imported, "label was", "labels were")} imported.` : "No new labels were imported.",
  ];
  if (unchanged) sentences.push(`${counted(unchanged, "was", "were")} here already.`);
  if (unknown) sentences.push(`${counted(unknown, "row names", "rows name")} an unknown item, or the same item again.`);
  if (predictions) sentences.push(`${counted(predictions, "prediction was", "predictions were")} left out.`);
  return sentences.join(" ");
}

class Export {
  constructor(container, host) {
    Object.assign(this, { container, host, chosen: remembered, turn: 0 });
    if (host.lacks("predictions")) this.chosen = { ...remembered, include: "labelled" };
    this.build();
    this.listen();
    this.container.focus();
    this.showPreview();
  }

  build() {
    const predicts = !this.host.lacks("predictions");
    this.preview = element("pre", { tabIndex: 0, role: "region", "aria-label": "Preview of the first rows" });
    this.count = element("p", { className: "quiet", role: "status" });
    this.link = element("a", { className: "main", download: "" }, "Download");
    this.file = element("input", { type: "file", id: "import-file", accept: ".csv,.jsonl,.parquet" });
    this.zone = element(
      "div",
      "zone",
      element("label", { htmlFor: this.file.id }, "Choose a file or drop it here"),
      this.file,
    );
    this.result = element("p", { className: "result", role: "status" });
    const column = element(
      "div",
      "column",
      element("h1", {}, "Export"),
      element(
        "div",
        "choices",
        radios("Format", "format", FORMATS, this.chosen.format, (format) => this.choose({ format })),
        ...(predicts
          ? [radios("Include", "include", INCLUDE, this.chosen.include, (include) => this.choose({ include }))]
          : []),
      ),
      this.preview,
      element("div", "act", this.link, this.count),
    );
    if (predicts)
      column.append(element("p", "quiet", "The confidence is the model’s own estimate, not a measured accuracy."));
    if (!this.host.lacks("import")) column.append(...this.importing());
    this.container.tabIndex = -1;
    this.container.replaceChildren(element("div", "export", column));
  }

  importing() {
    return [
      element("h2", {}, "Import earlier labels"),
      element(
        "p",
        "quiet",
        "A file in one of these formats. Items are matched by id or source. Predictions are left out.",
      ),
      this.zone,
      this.result,
    ];
  }

  listen() {
    this.ending = new AbortController();
    const on = (target, kind, act) => target.addEventListener(kind, act, { signal: this.ending.signal });
    on(this.file, "change", () => this.take(this.file.files));
    // The browser would open a file that is dropped beside the zone in place of the page.
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
    const changed = this.last !== undefined && this.last !== state.last;
    this.last = state.last;
    if (changed) this.showPreview();
  }

  choose(change) {
    this.chosen = remembered = { ...this.chosen, ...change };
    this.showPreview();
  }

  async showPreview() {
    this.turn += 1;
    const { turn } = this;
    const query = new URLSearchParams(this.chosen);
    try {
      for (;;) {
        const preview = await this.host.get(`api/export/preview?${query}`);
        if (turn !== this.turn) return;
        if (!preview.preparing) {
          this.show(preview, query);
          return;
        }
        this.count.textContent = "The model is computing…";
        await new Promise((done) => {
          setTimeout(done, POLL_MS);
        });
        if (turn !== this.turn) return;
      }
    } catch (error) {
      if (turn !== this.turn) return;
      this.preview.textContent = "";
      this.count.textContent = `Could not preview the file: ${reason(error)}`;
    }
  }

  show({ rows, count }, query) {
    this.preview.textContent = rows.join("\n");
    this.count.textContent = count ? counted(count, "row", "rows") : "Nothing to export yet. Label some items first.";
    this.link.setAttribute("aria-disabled", count === 0);
    if (count) this.link.href = `api/export?${query}`;
    else this.link.removeAttribute("href");
    this.container.dataset.ready = "yes";
  }

  async take(files) {
    const [file] = files;
    if (!file || this.taking || this.host.lacks("import")) return;
    if (files.length > 1) {
      this.say("Import one file at a time.", true);
      return;
    }
    this.taking = this.file.disabled = true;
    this.say(`Reading ${file.name}…`);
    try {
      this.say(importSentences(await this.host.upload("api/import", file)));
      this.showPreview();
    } catch (error) {
      this.say(reason(error), true);
    }
    this.taking = this.file.disabled = false;
    // So that the same file can be chosen again once it is repaired.
    this.file.value = "";
  }

  say(words, bad = false) {
    this.result.textContent = words;
    this.result.classList.toggle("bad", bad);
  }
}
