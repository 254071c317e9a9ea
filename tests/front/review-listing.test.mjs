// Pages of rows: fetched, kept, corrected and refreshed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { EVERYTHING, Listing, PAGE, pageOf, pagesIn } from "../../src/poise/studio/static/review-listing.js";

// A server with `total` rows; `labels` are those that it knows.
function makeServer(total) {
  const labels = new Map();
  const requests = [];
  const get = async (path) => {
    requests.push(path);
    const query = new URLSearchParams(path.split("?")[1]);
    const offset = Number(query.get("offset"));
    const count = Math.max(Math.min(Number(query.get("limit")), total - offset), 0);
    const rows = Array.from({ length: count }, (_, i) => ({
      item: `i${offset + i}`,
      label: labels.get(`i${offset + i}`) ?? null,
    }));
    return { rows, total, like: null, said: "", agreement: null, fresh: true };
  };
  return { get, labels, requests };
}

const quiet = () => {};

test("an index belongs to a page, a range to several", () => {
  assert.equal(pageOf(0), 0);
  assert.equal(pageOf(PAGE), 1);
  assert.deepEqual(pagesIn(0, PAGE), [0]);
  assert.deepEqual(pagesIn(PAGE - 1, PAGE + 1), [0, 1]);
  assert.deepEqual(pagesIn(5, 5), [0]);
});

test("the address names filters only where they narrow", () => {
  const listing = new Listing(quiet, quiet);
  assert.equal(listing.address(2), `api/review?offset=${2 * PAGE}&limit=${PAGE}&show=all&sort=order`);
  listing.filters = { ...EVERYTHING, class: "a&b", from: 0.9, to: 0.2, text: "x", like: "i1" };
  const query = new URLSearchParams(listing.address(0).split("?")[1]);
  assert.equal(query.get("class"), "a&b");
  assert.deepEqual([query.get("from"), query.get("to")], ["0.2", "0.9"], "in order, whichever was typed first");
  assert.deepEqual([query.get("text"), query.get("like")], ["x", "i1"]);
});

test("a page is fetched once, however often it is wanted", async () => {
  const { get, requests } = makeServer(250);
  const listing = new Listing(get, quiet);
  await Promise.all([listing.load(1), listing.load(1)]);
  assert.equal(requests.length, 1);
  assert.equal(listing.total, 250);
  assert.equal(listing.row(PAGE).item, "i100");
  assert.equal(listing.row(0), undefined);
});

test("the pages farthest away are dropped", async () => {
  const { get } = makeServer(1_000_000);
  const listing = new Listing(get, quiet);
  for (let page = 0; page <= 100; page += 1) await listing.load(page);
  assert.equal(listing.pages.size, 100);
  assert.ok(!listing.pages.has(0));
  assert.ok(listing.pages.has(100));
});

test("a refresh that is overtaken changes nothing", async () => {
  const { get } = makeServer(50);
  const listing = new Listing(get, quiet);
  const first = listing.refresh({ ...EVERYTHING, text: "old" }, () => [0]);
  const second = listing.refresh({ ...EVERYTHING, text: "new" }, () => [0]);
  assert.equal(await first, false);
  assert.equal(await second, true);
  assert.equal(listing.filters.text, "new");
});

test("a correction is shown at once and until the server has it", async () => {
  const { get, labels } = makeServer(50);
  const listing = new Listing(get, quiet);
  await listing.refresh(EVERYTHING, () => [0]);
  const { row } = listing.correct({ index: 3, row: listing.row(3) }, { label: "cat" });
  assert.equal(listing.row(3).label, "cat");
  await listing.refresh(EVERYTHING, () => [0]);
  assert.equal(listing.row(3).label, "cat", "the server does not have it yet");
  labels.set("i3", "cat");
  listing.answered([row]);
  await listing.refresh(EVERYTHING, () => [0]);
  assert.equal(listing.row(3).label, "cat");
  assert.equal(listing.refused, 0);
  assert.equal(listing.corrected.size, 0);
});

test("a correction that the server refused is taken back and counted", async () => {
  const { get } = makeServer(50);
  const listing = new Listing(get, quiet);
  await listing.refresh(EVERYTHING, () => [0]);
  const { row } = listing.correct({ index: 3, row: listing.row(3) }, { label: "cat" });
  listing.answered([row]);
  await listing.refresh(EVERYTHING, () => [0]);
  assert.equal(listing.row(3).label, null);
  assert.equal(listing.refused, 1);
});

test("a listing that was closed fetches nothing more", async () => {
  const { get } = makeServer(50);
  const listing = new Listing(get, quiet);
  const loading = listing.load(0);
  listing.close();
  await loading;
  assert.equal(listing.pages.size, 0);
});
