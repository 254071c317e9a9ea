"""The item on the label screen: zoom, details, long texts; the welcome card."""

import csv

import numpy as np
import pytest
from browser import answer_alone, make_photos, opened, reads, saved, shown, until
from PIL import Image


@pytest.fixture
def large(start, tmp_path):
    """The app with images larger than they are shown."""
    folder = tmp_path / "photos"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(6):
        grey = rng.integers(0, 255, (120, 200), dtype=np.uint8)
        Image.fromarray(grey).resize((2400, 1440)).save(folder / f"{number}.jpg")
    return start(opened(folder, tmp_path / "photos.poise"))


SCALE = """() => {
  const picture = document.querySelector("#stage img");
  return new DOMMatrix(getComputedStyle(picture).transform).a;
}"""


def scaled(page, is_so):
    return until(lambda: is_so(page.evaluate(SCALE)))


def test_zoom_and_pan_to_full_resolution(large, visits):
    page = visits.open(large.address)
    shown(page)
    page.wait_for_selector("#stage img")
    before = page.locator("#stage img").bounding_box()
    assert page.evaluate("document.querySelector('#stage img').naturalWidth") == 1200
    page.keyboard.press("+")
    assert scaled(page, lambda scale: scale > 1.4)
    page.wait_for_function("() => document.querySelector('#stage img').naturalWidth === 2400")
    after = page.locator("#stage img").bounding_box()
    assert after["width"] == pytest.approx(1.5 * before["width"], rel=0.01)
    page.keyboard.press("-")
    assert scaled(page, lambda scale: scale == 1)
    middle = before["x"] + before["width"] / 2, before["y"] + before["height"] / 2
    page.mouse.move(*middle)
    page.mouse.wheel(0, -600)
    assert scaled(page, lambda scale: scale > 1.5)
    x = page.locator("#stage img").bounding_box()["x"]
    page.mouse.down()
    page.mouse.move(middle[0] + 40, middle[1], steps=4)
    page.mouse.up()
    assert page.locator("#stage img").bounding_box()["x"] == pytest.approx(x + 40, abs=1)
    stage = page.locator("#stage").bounding_box()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1440
    assert stage["width"] < after["width"] * 2
    page.keyboard.press("Escape")
    assert scaled(page, lambda scale: scale == 1)
    page.mouse.dblclick(*middle)
    assert scaled(page, lambda scale: scale > 2)
    page.mouse.dblclick(*middle)
    assert scaled(page, lambda scale: scale == 1)


def test_the_next_item_is_not_zoomed(page, studio):
    item = shown(page)
    page.keyboard.press("+")
    assert scaled(page, lambda scale: scale > 1.4)
    page.keyboard.press("1")
    item = shown(page, item)
    assert page.evaluate(SCALE) == 1
    saved(page)
    page.keyboard.press("u")
    shown(page, item)
    assert page.evaluate(SCALE) == 1


def test_two_fingers_zoom(large, visits):
    context = visits.context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = visits.open(large.address, context)
    shown(page)
    page.wait_for_selector("#stage img")
    box = page.locator("#stage").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = context.new_cdp_session(page)

    def fingers(kind, apart):
        points = [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    fingers("touchStart", 30)
    for apart in (40, 60, 80, 100):
        fingers("touchMove", apart)
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert scaled(page, lambda scale: scale > 2)


def test_i_shows_the_file_of_the_item(page, studio):
    item = shown(page)
    source = studio.project.catalogue.sources[studio.project.nodes[item]]
    assert not page.locator("#about").is_visible()
    page.keyboard.press("i")
    reads(page, "#about", source)
    for words in ("Date", "32 × 32", "Size"):
        reads(page, "#about", words)
    page.keyboard.press("1")
    following = shown(page, item)
    reads(page, "#about", studio.project.catalogue.sources[studio.project.nodes[following]])
    page.keyboard.press("i")
    page.wait_for_selector("#about", state="hidden")


LONG = "A long text, of which the beginning alone has room. " * 30


@pytest.fixture
def texts(start, tmp_path):
    path = tmp_path / "texts.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "author", "year"])
        for number in range(24):
            writer.writerow([f"{number} {LONG} the end of {number}", f"author {number}", 1900])
    return start(opened(path, tmp_path / "texts.poise", column="text", embedding="tfidf"))


def test_other_columns_and_long_texts(texts, visits):
    page = visits.open(texts.address)
    answer_alone(page, "12")
    item = shown(page)
    number = texts.project.nodes[item]
    page.keyboard.press("i")
    reads(page, "#about", f"author {number}")
    reads(page, "#about", f"{number + 1} of 24")
    page.keyboard.press("i")
    page.wait_for_selector("#nearest .text")
    box = page.locator("#nearest .text").first.bounding_box()
    assert box["width"] > 250, "in lines that can be read"
    scrolls = page.locator("#nearest .text").first.evaluate(
        "one => getComputedStyle(one).overflowY"
    )
    assert scrolls == "auto"
    page.keyboard.press("g")
    page.wait_for_selector(".tile .text")
    first = page.locator(".tile").first.get_attribute("data-item")
    reads(page, "#reading", f"the end of {texts.project.nodes[first]}")
    page.keyboard.press("ArrowRight")
    second = page.locator(".tile").nth(1).get_attribute("data-item")
    reads(page, "#reading", f"the end of {texts.project.nodes[second]}")
    page.keyboard.press("Escape")
    page.wait_for_selector("#reading", state="hidden")


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_the_welcome_card_does_not_cover_the_item(start, visits, tmp_path, width):
    studio = start(opened(make_photos(tmp_path / "photos", 4), tmp_path / "photos.poise"))
    viewport = {"width": width, "height": 900}
    page = visits.open(studio.address, first_visit=True, viewport=viewport)
    item = shown(page)
    page.wait_for_selector("#welcome")
    assert page.locator("#hint li").count() == 3
    assert not page.locator("#help").is_visible()
    card, picture = (page.locator(p).bounding_box() for p in ("#welcome", "#stage img"))
    apart = (
        card["y"] >= picture["y"] + picture["height"]
        or card["x"] >= picture["x"] + picture["width"]
    )
    assert apart
    page.keyboard.press("1")
    shown(page, item)
    until(lambda: len(studio.labels()) == 1)
    page.get_by_role("button", name="Got it").click()
    page.wait_for_selector("#welcome", state="hidden")
    page.reload()
    shown(page)
    assert not page.locator("#welcome").is_visible()
