"""Search, similar items and near-duplicates in a real browser."""

import csv
import os
import shutil
import threading

import numpy as np
import pytest
from browser import KINDS, focused, make_photos, opened, reads, saved, shown, until
from PIL import Image

from poise.studio.asking.search import TextIndex

ROWS = "[...document.querySelectorAll('.review .row[data-item]')].map((row) => row.dataset.item)"


def ready(page):
    page.wait_for_function("() => document.getElementById('review').dataset.ready === 'yes'")


def total(page, n):
    reads(page, ".review .count", f"{n} item")


def items(page):
    """The items in the list, in their order."""
    return page.evaluate(ROWS)


def names(page, studio):
    sources = studio.project.catalogue.sources
    return [sources[studio.project.nodes[item]] for item in items(page)]


@pytest.fixture
def texts(start, tmp_path):
    """A table of texts, most of which follow one pattern."""
    rng = np.random.default_rng(0)
    words = ["river", "stone", "cloud", "forest", "harbour", "meadow", "island", "valley"]
    with (tmp_path / "texts.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["text"])
        for number in range(57):
            table.writerow([f"{' '.join(rng.choice(words, 5))} number{number}"])
        table.writerow(["Das Café an der Straße"])
        table.writerow(["cafeteria <img src=x onerror=alert(1)>"])
        table.writerow(["a house by the cafe"])
    return start(opened(tmp_path / "texts.csv", tmp_path / "texts.poise", embedding="tfidf"))


def test_slash_searches_as_you_type_and_keys_label_the_results(page, studio):
    shown(page)
    page.keyboard.press("/")
    ready(page)
    assert "input" in focused(page), "the key itself is not typed"
    assert page.input_value('input[type="search"]') == ""
    page.keyboard.type("beam 0")
    total(page, 10)
    assert names(page, studio) == [f"beam-{number:02d}.png" for number in range(10)]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.locator(".row.current").count() == 1
    page.keyboard.press("3")
    until(lambda: list(studio.labels().values()) == [KINDS[2]])
    (item,) = studio.labels()
    assert item == items(page)[1]
    saved(page)
    page.keyboard.press("u")
    until(lambda: not studio.labels())
    assert page.evaluate("document.body.dataset.screen") == "review"
    page.keyboard.press("/")
    page.keyboard.type("nothing like it")
    reads(page, ".review .empty", "No items match")
    page.keyboard.press("Escape")
    total(page, 60)
    page.keyboard.press("Escape")
    shown(page)


def test_words_typed_and_entered_in_one_go(page, studio):
    shown(page)
    page.keyboard.press("/")
    page.keyboard.type("pole 19")
    page.keyboard.press("Enter")
    total(page, 1)
    page.wait_for_selector(".row.current")
    page.keyboard.press("2")
    until(lambda: list(studio.labels().values()) == [KINDS[1]])


def test_search_ignores_accents_and_shows_texts_as_text(texts, visits):
    page = visits.open(texts.address)
    shown(page)
    page.keyboard.press("/")
    page.keyboard.type("CAFE")
    total(page, 3)
    assert names(page, texts) == ["row 58", "row 60", "row 59"]
    reads(page, ".review .list", "onerror=alert(1)")
    page.fill('input[type="search"]', "strasse")
    total(page, 1)
    page.fill('input[type="search"]', '"*(\\ ' + "x" * 900)
    total(page, 0)


def test_a_search_waits_for_the_index(texts, visits, monkeypatch):
    go_on = threading.Event()
    real = TextIndex.__init__

    def slow(self, *arguments):
        go_on.wait(30)
        real(self, *arguments)

    monkeypatch.setattr(TextIndex, "__init__", slow)
    page = visits.open(texts.address)
    shown(page)
    page.keyboard.press("/")
    page.keyboard.type("house")
    reads(page, ".review .note", "being read for the search")
    go_on.set()
    total(page, 1)


def test_similar_items_of_a_question_and_of_a_result(page, studio):
    item = shown(page)
    project = studio.project
    page.keyboard.press("l")
    ready(page)
    page.wait_for_selector(".row.current")
    X = np.asarray(project.features, dtype=np.float64)

    def expected(first):
        away = np.linalg.norm(X - X[project.nodes[first]], axis=1)
        return [project.catalogue.ids[i] for i in np.argsort(away, kind="stable")]

    assert items(page)[:20] == expected(item)[:20]
    reads(page, ".review .chips", f"Similar to {project.catalogue.sources[project.nodes[item]]}")
    page.keyboard.press("ArrowRight")
    second = items(page)[1]
    page.keyboard.press("1")
    until(lambda: studio.labels() == {second: KINDS[0]})
    saved(page)
    page.keyboard.press("l")
    page.wait_for_function(f"item => {ROWS}[0] === item", arg=second)
    assert items(page)[:20] == expected(second)[:20]
    page.get_by_role("button", name="Similar to").first.click()
    page.wait_for_function(f"item => {ROWS}[0] === item", arg=project.catalogue.ids[0])


def test_an_unknown_item_has_no_similar_items(page, studio):
    shown(page)
    found = page.request.get(studio.address.split("?")[0] + "api/review?like=nobody")
    assert found.status == 422
    assert "there is no item" in found.json()["error"]


# Near-duplicates ---------------------------------------------------------------------------------


@pytest.fixture
def doubled(start, tmp_path):
    """Sixty images, and three copies of one of them that differ in the last pixel."""
    folder = make_photos(tmp_path / "photos")
    with Image.open(folder / "disc-00.png") as picture:
        for number in range(3):
            made = picture.copy()
            made.putpixel((31, 31), (made.getpixel((31, 31)) + number + 1) % 256)
            made.save(folder / f"disc-copy{number}.png")
    return start(opened(folder, tmp_path / "photos.poise"))


def at_the_first_copy(studio, page):
    """Ask about the item that has three near-duplicates."""
    shown(page)
    sources = studio.project.catalogue.sources
    four = {
        i for i, name in zip(studio.project.catalogue.ids, sources, strict=True) if "copy" in name
    }
    item = next(
        i for i, s in zip(studio.project.catalogue.ids, sources, strict=True) if s == "disc-00.png"
    )
    studio.project.look_at(item)
    page.reload()
    until(lambda: shown(page) == item)
    reads(page, "#duplicates", "and 3 near-duplicates")
    return item, four


def test_one_undo_reverts_the_answer_for_all_near_duplicates(doubled, visits):
    page = visits.open(doubled.address)
    item, four = at_the_first_copy(doubled, page)
    page.keyboard.press("1")
    until(lambda: doubled.labels() == dict.fromkeys({item, *four}, KINDS[0]))
    (event,) = doubled.events("label")
    assert event.items[0] == item
    assert event.data["via"] == "duplicates"
    shown(page, item)
    reads(page, "#counts", "4 answers")
    saved(page)
    page.keyboard.press("u")
    until(lambda: not doubled.labels())
    until(lambda: shown(page) == item)
    reads(page, "#problem", "of 4 items")
    reads(page, "#duplicates", "and 3 near-duplicates")


def test_near_duplicates_can_be_shown_and_left_out(doubled, visits):
    page = visits.open(doubled.address)
    item, _ = at_the_first_copy(doubled, page)
    page.keyboard.press("d")
    page.wait_for_function("() => document.querySelectorAll('.tile img').length === 4")
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    page.keyboard.press("1")
    until(lambda: len(doubled.labels()) == 3)
    saved(page)
    page.keyboard.press("u")
    until(lambda: not doubled.labels())
    until(lambda: shown(page) == item)
    reads(page, "#duplicates", "and 3 near-duplicates")
    page.uncheck("#duplicates-too")
    page.keyboard.press("1")
    until(lambda: doubled.labels() == {item: KINDS[0]})
    page.reload()
    shown(page)
    assert not page.is_checked("#duplicates-too"), "it is remembered"


def test_other_questions_have_no_near_duplicates(page, studio):
    shown(page)
    assert page.locator("#duplicates").is_hidden()
    studio.answer(page, 3)
    assert all(len(event.items) == 1 for event in studio.events("label"))


def test_an_audit_is_about_one_item(doubled, visits):
    page = visits.open(doubled.address)
    item, _ = at_the_first_copy(doubled, page)
    doubled.project.look_at(item, purpose="audit")
    page.reload()
    until(lambda: shown(page) == item)
    assert page.locator("#duplicates").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_no_screen_is_wider_than_the_window(doubled, visits, tmp_path, scheme, width):
    page = visits.open(
        doubled.address, viewport={"width": width, "height": 844}, color_scheme=scheme
    )
    at_the_first_copy(doubled, page)
    for screen, key in (("question", None), ("like", "l"), ("search", "/")):
        if key:
            page.keyboard.press(key)
            ready(page)
        if screen == "search":
            page.keyboard.type("disc 1")
            total(page, 11)
        wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], screen
        if screen != "question":
            assert page.locator(".review .list").bounding_box()["height"] > 200
        pictures = tmp_path / "pictures"
        pictures.mkdir(exist_ok=True)
        page.screenshot(path=pictures / f"{screen}-{width}-{scheme}.png")
    keep = os.environ.get("POISE_PICTURES")
    if keep:
        shutil.copytree(tmp_path / "pictures", keep, dirs_exist_ok=True)
