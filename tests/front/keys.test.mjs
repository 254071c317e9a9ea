// What a key press means on different keyboards.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ClassKeys, OWN_KEYS, refusal } from "../../src/poise/studio/static/class-keys.js";
import { isUndo, keyOf } from "../../src/poise/studio/static/keys.js";

const CLASSES = [{ key: "1" }, { key: "2" }, { key: "" }];
const press = (key, code, more = {}) => ({
  key,
  code,
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...more,
});

test("capitals count as letters", () => {
  assert.equal(keyOf(press("U", "KeyU")), "u");
  assert.equal(keyOf(press("u", "KeyU")), "u");
});

test("names of keys stay as they are", () => {
  for (const key of ["Enter", "Escape", "ArrowLeft", "Backspace"]) assert.equal(keyOf(press(key, key)), key);
  assert.equal(keyOf(press("+", "BracketRight")), "+");
  assert.equal(keyOf(press("?", "Slash", { shiftKey: true })), "?");
});

test("with another script the position of the key counts", () => {
  assert.equal(keyOf(press("г", "KeyU")), "u");
  assert.equal(keyOf(press("Ь", "KeyM")), "m");
});

test("where an input method hides the letter the position of the key counts", () => {
  assert.equal(keyOf(press("Process", "KeyS")), "s");
  assert.equal(keyOf(press("Dead", "KeyN")), "n");
});

test("the key of a class comes before the position", () => {
  assert.equal(keyOf(press("г", "KeyU"), [{ key: "г" }]), "г");
  assert.equal(keyOf(press("Г", "KeyU"), [{ key: "г" }]), "г");
});

test("on AZERTY the digit row gives digits without Shift", () => {
  assert.equal(keyOf(press("&", "Digit1"), CLASSES), "1");
  assert.equal(keyOf(press("1", "Digit1", { shiftKey: true }), CLASSES), "1");
});

test("Shift and a digit's key is a sign, not the class", () => {
  assert.equal(keyOf(press("!", "Digit1", { shiftKey: true }), CLASSES), "!");
});

test("a digit without a class is what was typed", () => {
  assert.equal(keyOf(press("7", "Digit7"), CLASSES), "7");
  assert.equal(keyOf(press("/", "Digit7", { shiftKey: true }), CLASSES), "/");
});

test("undo is Ctrl-Z or Cmd-Z and nothing else", () => {
  assert.ok(isUndo(press("z", "KeyZ", { ctrlKey: true })));
  assert.ok(isUndo(press("z", "KeyZ", { metaKey: true })));
  assert.ok(isUndo(press("я", "KeyZ", { ctrlKey: true })));
  assert.ok(!isUndo(press("z", "KeyZ")));
  assert.ok(!isUndo(press("z", "KeyZ", { ctrlKey: true, shiftKey: true })));
  assert.ok(!isUndo(press("y", "KeyY", { ctrlKey: true })));
});

// Keys of classes, without the hint that the page shows.

class SilentKeys extends ClassKeys {
  constructor() {
    super({});
  }

  show(following) {
    this.offered = following;
  }
}

const MANY = [
  { name: "cat", key: "1", code: "" },
  { name: "dog", key: "", code: "k1" },
  { name: "owl", key: "", code: "k2" },
];

test("one key chooses a class at once", () => {
  assert.deepEqual(new SilentKeys().press("1", MANY), { chosen: MANY[0] });
});

test("two keys choose a class beyond the single keys", () => {
  const keys = new SilentKeys();
  assert.deepEqual(keys.press("k", MANY), {});
  assert.deepEqual(keys.offered, MANY.slice(1));
  assert.deepEqual(keys.press("2", MANY), { chosen: MANY[2] });
  assert.equal(keys.first, "");
});

test("a second key that no class has leads nowhere", () => {
  const keys = new SilentKeys();
  keys.press("k", MANY);
  assert.deepEqual(keys.press("9", MANY), { chosen: undefined });
  assert.equal(keys.first, "");
});

test("other keys are not keys of classes", () => {
  assert.equal(new SilentKeys().press("u", MANY), undefined);
  assert.equal(new SilentKeys().press("k", CLASSES), undefined);
});

test("a class that is too new to have a key does not match an empty one", () => {
  assert.equal(new SilentKeys().press("u", [{ name: "new", key: "", code: "" }]), undefined);
});

test("a key is refused with the reason", () => {
  assert.equal(refusal("dog", "d", MANY), "");
  assert.equal(refusal("cat", "1", MANY), "");
  assert.match(refusal("dog", "1", MANY), /the key of cat/);
  assert.match(refusal("dog", " ", MANY), /one letter or digit/);
  for (const key of OWN_KEYS) assert.match(refusal("dog", key, MANY), /already does something else/);
});
