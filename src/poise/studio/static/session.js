// What the page knows of the project. The server holds the truth: every answer names its item and the
// version of it that was on the screen, and counts once, however often it is sent. What follows each
// possible answer is fetched while the person looks at the question.

import { get, Outbox, post, Refused, uniqueId } from "./api.js";
import { load } from "./content.js";
import { items as itemsIn } from "./format.js";
import { notSaved, saving, settled } from "./saving.js";
import { toast } from "./toast.js";
import { undoneWords } from "./undone.js";

const ARRIVAL_POLL_MS = 2000;
const QUESTION_RETRY_MS = 1000;
// After these events the next question is the one that was foreseen; after others it may be another one.
const FORESEEN_KINDS = ["class", "skip", "unsure"];
const FORESEEN_WAYS = ["question", "audit"];

const pause = (milliseconds) =>
  new Promise((done) => {
    setTimeout(done, milliseconds);
  });

export const versionsOf = (questions) => Object.fromEntries(questions.map(({ item, version }) => [item, version]));

export class Session {
  // `view` shows what happens: changed(state), question(), say(words), announce(words), wait(waiting),
  // queue(length).
  constructor(view) {
    Object.assign(this, { view, state: null, outbox: null });
    this.ahead = null; // what follows each answer to the question on the screen
    this.previous = null; // the question before the one on the screen
    this.recorded = 0; // number of the last event that the server wrote for this page
    this.fetchingQuestion = false;
    this.lookingAt = null; // item whose answers are being foreseen
    this.watchingArrivals = false;
  }

  async begin(state) {
    this.state = state;
    this.outbox = new Outbox(`poise-outbox-${state.project}-`, {
      sending: saving,
      offline: (error) => notSaved(error, this.outbox.length),
      done: (response, entry) => this.done(response, entry),
      refused: (error, entry) => this.refused(error, entry),
    });
    await this.outbox.resume();
  }

  get question() {
    return this.state?.question;
  }

  // ---- What the person does -------------------------------------------------------------------

  // Resolves once the server has decided: with nothing, or with the reason why it refused.
  record(kind, data, versions = {}, client = uniqueId()) {
    if (!FORESEEN_KINDS.includes(kind) && !FORESEEN_WAYS.includes(data.via)) this.ahead = null;
    return this.outbox.add("api/events", { kind, data, versions, client });
  }

  // The number of the event once it is saved; throws the reason if it is refused.
  async written(...event) {
    const refused = await this.record(...event);
    if (refused) throw refused;
    return this.recorded;
  }

  async undo() {
    if (!this.state?.undoable) {
      toast("There is nothing to undo.");
      return;
    }
    this.view.say("");
    await this.outbox.add("api/undo", { client: uniqueId() });
  }

  // Shows an item whatever was asked before; null goes back to the question that was left.
  async lookAt(item) {
    try {
      this.take(await post("api/look", { item }));
    } catch (error) {
      this.view.say(error.message);
    }
  }

  // One step through the earlier answers; the step after the last one leads back to the question.
  async walk(step) {
    const { items } = await get("api/history");
    const current = items.indexOf(this.question?.item);
    const next = current < 0 ? (step < 0 ? items.length - 1 : items.length) : current + step;
    if (next >= 0 && next < items.length) await this.lookAt(items[next]);
    else if (next >= items.length && current >= 0) await this.lookAt(null);
  }

  // Of the predictions, or of the answers of an assistant.
  async audit(of) {
    this.view.wait(true);
    try {
      this.take(await post("api/audit", of ? { of } : {}));
    } catch (error) {
      await this.fetchQuestion();
      this.view.say(`${error.message}.`);
    }
  }

  // The question that follows an answer with this label, if it is known.
  foreseen(label) {
    const used = this.state.classes.some(({ name, count }) => name === label && count);
    return this.ahead?.answers[label] ?? (used ? null : this.ahead?.new);
  }

  // To the next question before the server has answered, if it is known. What follows an audit is
  // not, nor with several people: somebody else may have got it by now.
  moveOn(foreseen, label, count = 1) {
    const { state, ahead } = this;
    const known = ahead?.item === state.question.item && state.question.purpose !== "audit" && !state.names;
    const next = known ? (foreseen ?? ahead.queue[0]) : null;
    this.previous = state.question;
    state.answers += label ? count : 0;
    state.undoable = true;
    for (const labelClass of state.classes) if (labelClass.name === label) labelClass.count += count;
    this.ahead = next ? { item: next.item, answers: {}, queue: ahead?.queue.slice(1) ?? [] } : null;
    state.question = next ?? null;
    if (next) this.view.question();
    else this.view.wait(true);
  }

  // ---- What the server answers ----------------------------------------------------------------

  done(response, entry) {
    if (response.undone) this.tellUndone(response.undone);
    this.recorded = response.seq ?? this.recorded;
    if (response.alike) toast(`There is also a class “${response.alike}”. To merge the two, press o.`);
    const { kind, data } = entry.body;
    if (kind === "discard") toast(`Discarded the answers of ${data.name}.`, () => this.undo());
    if (data?.items?.length > 1) {
      const many = itemsIn(data.items.length);
      const words = kind === "label" ? `Labelled ${many} as “${data.label}”.` : `Cleared the labels of ${many}.`;
      toast(words, () => this.undo());
    }
    if (this.outbox.length) return;
    settled("saved");
    this.take(response);
  }

  tellUndone(event) {
    const words = undoneWords(event);
    this.view.announce(words);
    toast(`${words}.`);
    this.view.say(event.data.items ? `${words}. Here it is again.` : `${words}.`);
    this.previous = null;
  }

  async refused(error, entry) {
    const lost = error.status === 409 ? "" : " It is not saved; press the key again.";
    settled("");
    try {
      this.take(await get("api/state"));
    } catch {
      // The words below are what matters.
    }
    this.view.say(`${error.message}.${entry.body.kind === "label" ? lost : ""}`);
  }

  take(state) {
    if (this.state?.run && state.run && state.run !== this.state.run) {
      location.reload(); // poise was restarted: what this page remembers may be about other items
      return;
    }
    // A state that an answer has overtaken is ignored.
    if (!(state.last < this.state?.last)) this.replace(state);
    const { coming, question, exhausted } = this.state;
    if (coming && !coming.trouble) this.watchArrivals();
    if (question ? !question.explained : !exhausted) this.fetchQuestion();
    else if (question) this.lookAhead();
  }

  replace(state) {
    const old = this.question;
    const same = old && state.question?.item === old.item;
    if (state.items !== this.state?.items) this.ahead = null; // it was foreseen without the new items
    this.state = state;
    if (same && old.explained && !state.question.explained) {
      // The guess is not kept: it may not know the last answer.
      Object.assign(state.question, { nearest: old.nearest, alike: old.alike });
    }
    this.view.changed(state);
  }

  // Items that arrive later are asked about too; nobody has to do anything for it.
  async watchArrivals() {
    if (this.watchingArrivals) return;
    this.watchingArrivals = true;
    await pause(ARRIVAL_POLL_MS);
    this.watchingArrivals = false;
    try {
      const state = await get("api/state");
      if (!this.outbox.length) this.take(state);
      else this.watchArrivals();
    } catch {
      this.watchArrivals();
    }
  }

  async fetchQuestion() {
    if (this.fetchingQuestion) return;
    this.fetchingQuestion = true;
    this.view.wait(!this.question);
    try {
      const state = await get("api/question");
      this.fetchingQuestion = false;
      if (!this.outbox.length) this.take(state);
    } catch (error) {
      this.fetchingQuestion = false;
      if (error instanceof Refused) this.view.say(error.message);
      else
        setTimeout(() => {
          if (!this.question?.explained) this.fetchQuestion();
        }, QUESTION_RETRY_MS);
    }
  }

  // Fetches what follows each answer, and loads those items.
  async lookAhead() {
    const {
      question: { item },
      last,
      kind,
    } = this.state;
    if (this.lookingAt === item || (this.ahead?.item === item && this.ahead.last === last)) return;
    this.lookingAt = item;
    let again = false;
    try {
      const ahead = await get("api/ahead");
      const same = ahead.item === this.question?.item;
      again = same && this.state.last !== last; // something else happened in the meantime
      if (same && !again) {
        this.ahead = { ...ahead, last };
        document.body.dataset.ahead = ahead.item;
      }
      const coming = [...Object.values(ahead.answers), ahead.new, ahead.none, ...ahead.queue].filter(Boolean);
      for (const next of new Set(coming.map((question) => question.item))) load(next, kind);
      this.view.queue(ahead.queue.length);
    } catch {
      // Then the next question takes a moment longer.
    } finally {
      this.lookingAt = null;
    }
    if (again) this.lookAhead();
  }
}
