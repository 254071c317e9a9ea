// Classes found by letters, groups of names, and what an undo did, in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { matches, rank } from "../../src/poise/studio/static/class-finder.js";
import { groupsOf, splitName } from "../../src/poise/studio/static/classes.js";
import { undoneWords } from "../../src/poise/studio/static/undone.js";

const named = (...names) => names.map((name) => ({ name }));
const order = (typed, names, guess) => matches(typed, named(...names), guess).map(({ name }) => name);

test("the best match comes first", () => {
  const names = ["grey eagle", "barn owl", "owl", "Eulé"];
  for (const [typed, best] of [
    ["owl", "owl"],
    ["ba", "barn owl"],
    ["o", "owl"],
    ["eag", "grey eagle"],
    ["gle", "grey eagle"],
    ["EULE", "Eulé"],
    ["gyel", "grey eagle"],
  ])
    assert.equal(order(typed, names)[0], best, typed);
});

test("ranks go from the whole name to letters in order", () => {
  const ranks = ["owl", "ow", "wl bar", "w", "ol"].map((typed) => rank(typed, "owl"));
  assert.deepEqual(ranks, [0, 1, Infinity, 3, 4]);
  assert.equal(rank("owl", "barn owl"), 2);
});

test("with nothing typed the guess comes first, then the order of the column", () => {
  assert.deepEqual(order("", ["a", "b", "c"], "c"), ["c", "a", "b"]);
  assert.deepEqual(order(" ", ["a", "b", "c"], null), ["a", "b", "c"]);
});

test("what does not match is left out", () => {
  assert.deepEqual(order("x", ["a", "b"]), []);
});

test("a slash makes a group only if two names share it", () => {
  assert.deepEqual(splitName("bird/owl"), ["bird", "owl"]);
  assert.deepEqual(splitName("/odd"), ["", "/odd"]);
  assert.deepEqual(splitName("odd/"), ["", "odd/"]);
  const groups = groupsOf(named("bird/owl", "bird/crow", "24/7", "/odd/"));
  assert.deepEqual(
    [...groups],
    [
      ["bird/owl", "bird"],
      ["bird/crow", "bird"],
    ],
  );
});

test("an undo says what it did", () => {
  assert.equal(undoneWords({ kind: "label", data: { items: ["a"], label: "cat" } }), "Undone: “cat”");
  assert.equal(undoneWords({ kind: "label", data: { items: ["a", "b"], label: "cat" } }), "Undone: “cat” of 2 items");
  assert.equal(undoneWords({ kind: "skip", data: { items: ["a"] } }), "Undone: skip");
  const merged = undoneWords({ kind: "merge", data: { name: "a", into: "b" } });
  assert.equal(merged, "Undone: “a” and “b” are two classes again");
});
