// Talking to the server. Whatever is written goes through an outbox that survives a reload: the
// client's id makes a second arrival harmless.

import { sentence } from "./format.js";

const RETRY = [300, 1000, 3000];
// The server was started again and does not know this browser yet; it is not ready yet.
const LATER = [403, 503];

let who = "";
export const setAnnotator = (name) => { who = name; };

export class Refused extends Error {
  constructor(status, body) {
    super(body.error ?? `the server answered ${status}`);
    Object.assign(this, { status, body });
  }
}

// What went wrong, as a sentence.
export const reason = (error) => (error instanceof Refused ? sentence(error.message) : "poise does not answer. Is it still running?");

function withName(path) {
  if (!who) return path;
  return `${path}${path.includes("?") ? "&" : "?"}annotator=${encodeURIComponent(who)}`;
}

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
  return answered(await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(who ? { ...body, annotator: who } : body),
  }));
}

export async function bytes(path) {
  const response = await fetch(path);
  if (response.status === 202) return null;
  if (!response.ok) throw new Refused(response.status, await response.json());
  return response.arrayBuffer();
}

export async function upload(path, file) {
  return answered(await fetch(`${path}?name=${encodeURIComponent(file.name)}`, {
    method: "POST",
    headers: { "Content-Type": "application/octet-stream" },
    body: file,
  }));
}

export function uniqueId() {
  // randomUUID is only there in secure contexts: not over plain HTTP from another machine.
  const words = crypto.getRandomValues(new Uint32Array(4));
  return [...words].map((word) => word.toString(16).padStart(8, "0")).join("");
}

export class Outbox {
  // `on` gets: sending(), done(response, entry), refused(error, entry), offline(error).
  constructor(prefix, on) {
    this.prefix = prefix;
    this.place = prefix + uniqueId(); // each tab keeps its own
    this.on = on;
    this.entries = [];
    this.decided = new Map();
    this.running = null;
  }

  // What pages before this one could not send any more; if one of them is still there and sends it
  // too, it counts once.
  resume() {
    for (const place of Object.keys(localStorage).filter((key) => key.startsWith(this.prefix))) {
      try {
        this.entries.push(...JSON.parse(localStorage.getItem(place)));
      } catch {
        // Not ours, or cut off: there is nothing to send in it.
      }
      localStorage.removeItem(place);
    }
    this.keep();
    return this.run();
  }

  get length() {
    return this.entries.length;
  }

  // Resolves when the server has decided: with nothing, or with why it refused.
  add(path, body) {
    const entry = { path, body: who ? { ...body, annotator: who } : body };
    this.entries.push(entry);
    this.keep();
    const decided = new Promise((done) => { this.decided.set(entry, done); });
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
      if (this.entries.length) localStorage.setItem(this.place, JSON.stringify(this.entries));
      else localStorage.removeItem(this.place);
    } catch {
      // Without storage nothing survives a reload; it is still sent.
    }
  }

  run() {
    this.running ??= this.sendAll().finally(() => { this.running = null; });
    return this.running;
  }

  async sendAll() {
    for (let attempt = 0; this.entries.length;) {
      const entry = this.entries[0];
      this.on.sending();
      try {
        const response = await post(entry.path, entry.body);
        attempt = 0;
        this.settle(entry);
        this.on.done(response, entry);
      } catch (error) {
        if (error instanceof Refused && !LATER.includes(error.status)) {
          this.settle(entry, error);
          await this.on.refused(error, entry);
        } else {
          this.on.offline(error);
          await new Promise((done) => { setTimeout(done, RETRY[Math.min(attempt, RETRY.length - 1)]); });
          attempt += 1;
        }
      }
    }
  }
}
