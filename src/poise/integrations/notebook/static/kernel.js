// Requests to Python: each has a number, which comes back with its answer.

import { uniqueId } from "../../../studio/static/api.js";
import { decoded } from "../../../studio/static/shown.js";

export class Kernel {
  // `model` is what anywidget provides.
  constructor(model) {
    Object.assign(this, { model, waiting: new Map() });
    this.view = uniqueId(); // several views of one widget share its messages
    this.count = 0;
    this.listen = ({ id, ...reply }, buffers) => {
      const done = this.waiting.get(id);
      this.waiting.delete(id);
      if (reply.problem) done?.reject(new Error(reply.problem));
      else done?.resolve([reply, (buffers ?? []).map(bytesOf)]);
    };
    model.on("msg:custom", this.listen);
  }

  close() {
    this.model.off("msg:custom", this.listen);
    this.waiting.clear();
  }

  // Resolves to the answer and an array of its buffers; rejects with the reason why Python refused.
  request(kind, data = {}, buffers = []) {
    this.count += 1;
    const id = `${this.view}-${this.count}`;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.model.send({ id, kind, ...data }, undefined, buffers);
    });
  }

  // The content of an item, as shown.js takes it.
  async content(item, small) {
    try {
      const [{ text, media }, [bytes]] = await this.request("content", { item, small });
      return media ? await decoded(new Blob([bytes], { type: media })) : { text };
    } catch (error) {
      return { problem: error.message };
    }
  }
}

// A buffer of its own, whatever view of memory the front end hands over.
export function bytesOf(view) {
  if (view instanceof ArrayBuffer) return view;
  return view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
}
