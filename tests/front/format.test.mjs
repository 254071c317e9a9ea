// Numbers, shares and times as people read them.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  counted,
  duration,
  items,
  number,
  percent,
  probability,
  sentence,
  shortTime,
} from "../../src/poise/studio/static/format.js";

test("numbers have thousands separators", () => {
  assert.equal(number(0), "0");
  assert.equal(number(1234567), "1,234,567");
});

test("counts have a singular and a plural", () => {
  assert.equal(items(0), "0 items");
  assert.equal(items(1), "1 item");
  assert.equal(items(1760), "1,760 items");
  assert.equal(counted(1, "label was", "labels were"), "1 label was");
  assert.equal(counted(2, "label was", "labels were"), "2 labels were");
});

test("only a share of 1 is 100% and only a share of 0 is 0%", () => {
  assert.equal(percent(1), "100%");
  assert.equal(percent(0), "0%");
  for (const share of [0.995, 0.999, 1 - 1e-9]) assert.equal(percent(share), ">99%");
  for (const share of [1e-9, 0.0001, 0.00049]) assert.equal(percent(share), "<0.1%");
});

test("a model is never certain", () => {
  assert.equal(probability(1), ">99%");
  assert.equal(probability(0.996), ">99%");
  assert.equal(probability(0.82), "82%");
});

test("small shares have one decimal, others none", () => {
  assert.equal(percent(0.0005), "0.1%");
  assert.equal(percent(0.0123), "1.2%");
  assert.equal(percent(0.0994), "9.9%");
  assert.equal(percent(0.0996), "10%");
  assert.equal(percent(0.5), "50%");
  assert.equal(percent(0.994), "99%");
});

test("a percentage never decreases as the share grows", () => {
  const value = (words) => (words === "<0.1%" ? 0.05 : words === ">99%" ? 99.5 : Number.parseFloat(words));
  let last = 0;
  for (let share = 0; share <= 1; share += 0.0001) {
    const next = value(percent(share));
    assert.ok(next >= last, `${percent(share)} for ${share}`);
    last = next;
  }
});

test("durations are seconds, then minutes", () => {
  assert.equal(duration(0.2), "1 s");
  assert.equal(duration(89), "89 s");
  assert.equal(duration(90), "2 min");
  assert.equal(duration(600), "10 min");
});

test("a time is as short as it can be", () => {
  const now = new Date(2026, 10, 19, 15, 30);
  assert.equal(shortTime(new Date(2026, 10, 19, 9, 5), now), "09:05");
  assert.equal(shortTime(new Date(2026, 2, 1, 9, 5), now), "1 Mar, 09:05");
  assert.equal(shortTime(new Date(2024, 2, 1, 9, 5), now), "1 Mar 2024");
  assert.equal(shortTime("no time", now), "");
});

test("a message becomes a sentence with one full stop", () => {
  assert.equal(sentence("the disk is full"), "the disk is full.");
  assert.equal(sentence("The disk is full. "), "The disk is full.");
});
