// The widgets' own logic: the notebook's theme, which keys it may see, requests to Python and their answers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isDark, staysInside } from "../../src/poise/integrations/notebook/static/frame.js";
import { bytesOf, Kernel } from "../../src/poise/integrations/notebook/static/kernel.js";
import { Contents } from "../../src/poise/studio/static/shown.js";

const part = (dataset = {}, ...classList) => ({ dataset, classList });

test("the theme is that of the notebook", () => {
  for (const system of [true, false]) {
    assert.equal(isDark(part({ jpThemeLight: "false" }), part(), system), true);
    assert.equal(isDark(part({ jpThemeLight: "true" }), part(), system), false);
    assert.equal(isDark(part({ vscodeThemeKind: "vscode-dark" }), part(), system), true);
    assert.equal(isDark(part({ vscodeThemeKind: "vscode-high-contrast-black" }), part(), system), true);
    assert.equal(isDark(part({ vscodeThemeKind: "vscode-light" }), part(), system), false);
    assert.equal(isDark(part({}, "dark"), part(), system), true);
    assert.equal(isDark(part(), part({}, "light"), system), false);
    assert.equal(isDark(part(), part(), system), system);
  }
});

test("the notebook sees keys with Ctrl, but neither letters nor the undo", () => {
  const press = (key, more = {}) => ({ key, code: "", shiftKey: false, ...more });
  assert.ok(staysInside(press("x")));
  assert.ok(staysInside(press("Enter", { shiftKey: true })));
  assert.ok(staysInside(press("z", { ctrlKey: true })));
  assert.ok(!staysInside(press("s", { ctrlKey: true })));
  assert.ok(!staysInside(press("s", { metaKey: true })));
});

test("a buffer is only its own part of the memory", () => {
  const memory = Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8]).buffer;
  assert.deepEqual([...new Uint8Array(bytesOf(new DataView(memory, 2, 3)))], [3, 4, 5]);
  assert.equal(bytesOf(memory), memory);
});

function model() {
  const sent = [];
  const listeners = new Set();
  return {
    sent,
    on: (_, listener) => listeners.add(listener),
    off: (_, listener) => listeners.delete(listener),
    send: (message, _, buffers) => sent.push([message, buffers]),
    receive: (message, buffers) => {
      for (const listener of listeners) listener(message, buffers);
    },
  };
}

test("each request gets its own answer, in whatever order they come", async () => {
  const python = model();
  const [kernel, other] = [new Kernel(python), new Kernel(python)];
  const first = kernel.request("item", { node: 1 });
  const second = kernel.request("item", { node: 2 });
  const third = other.request("item", { node: 3 });
  const ids = python.sent.map(([{ id }]) => id);
  assert.equal(new Set(ids).size, 3);
  python.receive({ id: ids[2], label: "c" });
  python.receive({ id: ids[1], label: "b" }, [new DataView(new ArrayBuffer(2))]);
  python.receive({ id: ids[0], problem: "there is no node 1" });
  assert.equal((await third)[0].label, "c");
  const [reply, [buffer]] = await second;
  assert.equal(reply.label, "b");
  assert.equal(buffer.byteLength, 2);
  await assert.rejects(first, /there is no node 1/);
});

test("what Python cannot show is said in its words", async () => {
  const python = model();
  const kernel = new Kernel(python);
  const content = kernel.content(7, false);
  python.receive({ id: python.sent[0][0].id, problem: "photo.jpg cannot be read" });
  assert.deepEqual(await content, { problem: "photo.jpg cannot be read" });
});

test("contents are fetched once, kept, and tried again if they only failed for now", async () => {
  const fetched = [];
  const contents = new Contents(async (name, kind) => {
    fetched.push([name, kind]);
    if (name === "broken" && fetched.length === 1) throw new Error("offline");
    return { text: name };
  });
  assert.ok((await contents.load("broken", "text")).temporary);
  assert.deepEqual(await contents.load("broken", "text"), { text: "broken" });
  await Promise.all([contents.load("a"), contents.load("a"), contents.load("broken")]);
  assert.deepEqual(fetched, [
    ["broken", "text"],
    ["broken", "text"],
    ["a", undefined],
  ]);
  for (let i = 0; i < 96; i += 1) await contents.load(`item ${i}`);
  assert.equal(contents.loaded.has("a"), false);
});
