"""The page in front of a graph at several ranks; one rank in this process stands for them."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Inside, Visits, reads, saved, shown, wait_for
from tests.distributed.alone import opened_alone

import poise


@pytest.fixture
def app(tmp_path: Path, start: Callable[..., Inside]) -> Inside:
    """Texts about three kinds of things, which say of which kind they are."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)) + 6.0 * c for c in range(3)])
    texts = tmp_path / "texts.txt"
    texts.write_text("".join(f"text {i} about kind {i // 60}\n" for i in range(180)))
    return start(opened_alone(poise.knn_graph(X, k=6), tmp_path / "small.poise", texts))


def answer(page: Any) -> str:
    """Answer with the kind that the text names, which gets a class if it has none."""
    item = shown(page)
    kind = f"kind {int(item) // 60}"
    names = page.eval_on_selector_all("#class-list li", "rows => rows.map(r => r.textContent)")
    position = next((i for i, name in enumerate(names) if kind in name), None)
    if position is None:
        page.keyboard.press("n")
        page.fill("#name", kind)
        page.keyboard.press("Enter")
    else:
        page.keyboard.press(str(position + 1))
    shown(page, item)
    return item


def test_items_are_labelled_accepted_and_undone(app: Inside, visits: Visits) -> None:
    page = visits.open(app.address)
    item = shown(page)
    reads(page, "#stage", f"text {item} about kind {int(item) // 60}")
    items = [answer(page) for _ in range(8)]
    saved(page)
    assert set(app.labels()) == set(items)
    assert all(name == f"kind {int(i) // 60}" for i, name in app.labels().items())
    reads(page, "#guess", "probably")
    item = shown(page)
    page.keyboard.press("Enter")
    shown(page, item)
    saved(page)
    assert item in app.labels()
    page.keyboard.press("u")
    wait_for(
        page,
        "expected the undone item",
        "item => document.getElementById('stage').dataset.item === item",
        item,
    )
    saved(page)
    assert item not in app.labels()
    page.keyboard.press("x")
    shown(page, item)
    saved(page)
    assert item in app.project.state.unsure


def test_what_needs_features_is_not_on_the_page(app: Inside, visits: Visits) -> None:
    page = visits.open(app.address + "#map")
    item = shown(page)
    visible = page.eval_on_selector_all(
        "nav button, footer button, #settings, #small-map",
        "found => found.filter(e => e.checkVisibility()).map(e => e.textContent.trim())",
    )
    words = " ".join(visible)
    assert "accept" in words
    for gone in ("Map", "Review", "grid", "similar", "search", "details", "chosen"):
        assert gone not in words
    for key in ("m", "v", "g", "l", "/", "a", "i"):
        page.keyboard.press(key)
    assert page.evaluate("document.body.dataset.screen") == "label"
    assert shown(page) == item
    page.keyboard.press("?")
    reads(page, "#compared", "There is no map, review, search or audit")
    assert "audit" not in page.inner_text("#help dl")
    for path in ("api/map", "api/review", "api/choices", "api/about?item=1"):
        status, error = page.evaluate(
            "path => fetch(path).then(async a => [a.status, (await a.json()).error])",
            path,
        )
        assert status == 404
        assert error.startswith("this project has no ")
    visits.expect("404")


def test_labels_are_exported_without_predictions(app: Inside, visits: Visits) -> None:
    page = visits.open(app.address)
    items = [answer(page) for _ in range(3)]
    saved(page)
    page.keyboard.press("e")
    reads(page, "#export .act", "3 rows")
    words = page.inner_text("#export")
    assert "Format" in words
    for gone in ("Include", "Import", "confidence is"):
        assert gone not in words
    with page.expect_download() as download:
        page.click("#export a.main")
    _, *rows = csv.reader(download.value.path().read_text(encoding="utf-8").splitlines())
    assert [row[:4] for row in rows] == [
        [str(i), f"texts.txt, line {i + 1}", f"kind {i // 60}", "person"]
        for i in sorted(map(int, items))
    ]


def test_the_page_says_why_the_run_has_ended(app: Inside, visits: Visits) -> None:
    page = visits.open(app.address)
    answer(page)
    saved(page)
    app.opening.lost = "RankLostError: rank 1 of 2 does not answer."  # type: ignore[attr-defined]
    reads(page, "#unsaved", "RankLostError: rank 1 of 2 does not answer. Every answer shown as")
    reads(page, "#unsaved", "small.poise/events.db. Start the same command again")


def test_the_page_notices_that_the_server_is_gone(app: Inside, visits: Visits) -> None:
    page = visits.open(app.address)
    answer(page)
    saved(page)
    app.server.should_exit = True
    app.thread.join()
    app.listener.close()
    reads(page, "#unsaved", "poise has ended: it was stopped, or a rank was lost")
    page.keyboard.press("1")
    reads(page, "#unsaved", "your last action is kept in this browser")
    visits.expect("ERR_CONNECTION_REFUSED")
