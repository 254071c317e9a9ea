// Requests to the server. Every change goes through an outbox that survives a reload. Each has an id of its
// own, so it counts once, however often it is sent.

import { sentence } from "./format.js";

const RETRY_MS = [300, 1000, 3000];
// The server was restarted and does not know this browser yet, or it is not ready yet.
const RETRY_STATUSES = [403, 503];

let annotator = "";
export const setAnnotator = (name) => {
  annotator = name;
};

export class Refused extends Error {
  constructor(status, body) {
    super(body.error ?? `the server answered ${status}`);
    Object.assign(this, { status, body });
  }
}

// What went wrong, as a sentence.
export const reason = (error) =>
  error instanceof Refused ? sentence(error.message) : "poise does not answer. Is it still running?";

function withName(path) {
  if (!annotator) return path;
  return `${path}${path.includes("?") ? "&" : "?"}annotator=${encodeURIComponent(annotator)}`;
}

const signed = (body) => (annotator ? { ...body, annotator } : body);

async function answered(response) {
  const body = await response.json();
  if (!response.ok) throw new Refused(response.status, body);
  return body;
}

export async function get(path) {
  const response = await fetch(withName(path));
  const body = await answered(response);
  return response.status === 202 ? Object.assign(body, { preparing: true }) : body;
}

export async function post(path, body) {
  return answered(
    await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(signed(body)),
    }),
  );
}

export async function bytes(path) {
  const response = await fetch(path);
  if (response.status === 202) return null;
  if (!response.ok) throw new Refused(response.status, await response.json());
  return response.arrayBuffer();
}

export async function upload(path, file) {
  return answered(
    await fetch(`${path}?name=${encodeURIComponent(file.name)}`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body: file,
    }),
  );
}

export function uniqueId() {
  // randomUUID exists in secure contexts only: not over plain HTTP from another machine.
  const words = crypto.getRandomValues(new Uint32Array(4));
  return [...words].map((word) => word.toString(16).padStart(8, "0")).join("");
}

export class Outbox {
  // `on` has the handlers sending(), done(response, entry), refused(error, entry), offline(error).
  constructor(prefix, on) {
    this.prefix = prefix;
    this.storageKey = prefix + uniqueId(); // each tab has its own
    this.on = on;
    this.entries = [];
    this.decided = new Map();
    this.running = null;
  }

  // Sends what earlier pages could not send. If one of them is still open and sends it too, it counts once.
  resume() {
    for (const key of Object.keys(localStorage).filter((name) => name.startsWith(this.prefix))) {
      try {
        this.entries.push(...JSON.parse(localStorage.getItem(key)));
      } catch {
        // Damaged, or not written by this page: it holds nothing to send.
      }
      localStorage.removeItem(key);
    }
    this.keep();
    return this.run();
  }

  get length() {
    return this.entries.length;
  }

  // Resolves when the server has decided: with nothing, or with the reason why it refused.
  add(path, body) {
    const entry = { path, body: signed(body) };
    this.entries.push(entry);
    this.keep();
    const decided = new Promise((done) => {
      this.decided.set(entry, done);
    });
    this.run();
    return decided;
  }

  settle(entry, error) {
    this.entries.shift();
    this.keep();
    this.decided.get(entry)?.(error);
    this.decided.delete(entry);
  }

  keep() {
    try {
      if (this.entries.length) localStorage.setItem(this.storageKey, JSON.stringify(this.entries));
      else localStorage.removeItem(this.storageKey);
    } catch {
      // Without storage nothing survives a reload, but it is still sent.
    }
  }

  run() {
    this.running ??= this.sendAll().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  async sendAll() {
    for (let attempt = 0; this.entries.length; ) {
      const entry = this.entries[0];
      this.on.sending();
      try {
        const response = await post(entry.path, entry.body);
        attempt = 0;
        this.settle(entry);
        this.on.done(response, entry);
      } catch (error) {
        if (error instanceof Refused && !RETRY_STATUSES.includes(error.status)) {
          this.settle(entry, error);
          await this.on.refused(error, entry);
        } else {
          this.on.offline(error);
          await new Promise((done) => {
            setTimeout(done, RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]);
          });
          attempt += 1;
        }
      }
    }
  }
}
