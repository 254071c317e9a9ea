"""Accessibility: axe-core finds nothing, and a screen reader gets what the documentation says."""

import re

import pytest
from browser import SIZES, Inside, answer_alone, make_photos, opened, reads, saved, shown, until


def violations(page):
    """What axe-core finds, of any level: rule, impact and targets."""
    from axe_playwright_python.sync_playwright import Axe

    # Motion and news have to come to rest: what fades is neither colour.
    page.wait_for_timeout(200)
    found = Axe().run(page).response["violations"]
    return [
        (one["id"], one["impact"], [node["target"] for node in one["nodes"]][:5]) for one in found
    ]


def headings(page):
    """The main headings that a screen reader finds."""
    return page.evaluate(
        """() => [...document.querySelectorAll("h1")].filter((one) => one.checkVisibility())
          .map((one) => one.textContent)"""
    )


def check(page, screen):
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert violations(page) == [], f"{screen}, {width} pixels wide"
        assert len(headings(page)) == 1, screen


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_screen(studio, visits, scheme):
    page = visits.open(studio.address, first_visit=True, color_scheme=scheme)
    shown(page)
    check(page, "first visit")
    page.get_by_role("button", name="Got it").click()
    studio.answer(page, 4)
    page.wait_for_selector("#nearest img")
    page.keyboard.press("i")
    reads(page, "#about", "Pixels")
    page.locator("#settings > summary").press("Enter")
    page.locator("#settings details > summary").press("Enter")
    page.wait_for_selector("#settings select")
    page.locator("#project-details summary").press("Enter")
    reads(page, "#project-about", "could be read")
    check(page, "label")
    page.locator("#project-details summary").press("Enter")
    page.keyboard.press("g")
    page.wait_for_selector(".tile img")
    page.keyboard.press(" ")
    check(page, "grid")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    check(page, "help")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    check(page, "new class")
    page.keyboard.press("Escape")
    page.wait_for_selector("#name-dialog", state="hidden")
    item = shown(page)
    page.keyboard.press("a")
    item = shown(page, item)
    page.keyboard.press(studio.key(item))
    shown(page, item)
    check(page, "audit")
    page.keyboard.press("m")
    page.wait_for_selector("#map[data-ready]")
    check(page, "map")
    page.locator("#map canvas").focus()
    page.keyboard.press("l")
    page.keyboard.press("Enter")
    page.wait_for_selector(".map-chosen:not([hidden])")
    check(page, "lasso")
    page.keyboard.press("2")
    reads(page, "#toast", "Undo")
    check(page, "toast")
    page.keyboard.press("u")
    until(lambda: len(studio.labels()) < 10)
    for key, screen in (("v", "review"), ("e", "export")):
        for _ in range(3):
            page.keyboard.press("Escape")
        page.keyboard.press(key)
        page.wait_for_selector(f"#{screen}[data-ready]")
        check(page, screen)
        if screen == "review":
            page.get_by_role("button", name="Tiles").click()
            page.keyboard.press("ArrowRight")
            page.wait_for_selector(".tiles .row img")
            check(page, "tiles")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_while_preparing_or_logging_in(visits, tmp_path, scheme):
    folder = make_photos(tmp_path / "photos", 4)
    (folder / "empty.png").write_bytes(b"")
    opening = opened(folder, tmp_path / "photos.poise")
    opening.begin("reading")(3, 8)
    preparing = Inside(opening, wait=False)
    try:
        page = visits.open(preparing.address, color_scheme=scheme)
        reads(page, "#steps", "reading")
        check(page, "prepare")
        opening.error = ValueError("the disk is full: free some space")
        reads(page, "#prepare-problem", "the disk is full")
        check(page, "prepare, failed")
        page.evaluate("document.querySelector('main#prepare').append(new Image())")
        assert [rule for rule, *_ in violations(page)] == ["image-alt"], "it does look"
        page.goto(preparing.address.split("?")[0] + "login")
        page.wait_for_selector("form")
        check(page, "login")
        page.close()
    finally:
        preparing.end()


def test_axe_finds_nothing_with_texts(start, visits, tmp_path):
    path = tmp_path / "texts.csv"
    rows = "\n".join(f"number {i} {'and so on ' * 60}" for i in range(20))
    path.write_text(f"text\n{rows}\n")
    studio = start(opened(path, tmp_path / "texts.poise", embedding="tfidf"))
    page = visits.open(studio.address)
    answer_alone(page, "12")
    page.wait_for_selector("#nearest .text")
    check(page, "label")
    page.keyboard.press("g")
    page.wait_for_selector("#reading .text")
    check(page, "grid")
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    page.wait_for_selector("#review[data-ready]")
    check(page, "review")


# What a screen reader says ----------------------------------------------------------------------


def tree(page, place):
    """The accessibility tree below an element."""
    return page.locator(place).aria_snapshot()


def in_order(text, *patterns):
    """Check that these lines come in this order, possibly with others between them."""
    start = 0
    for pattern in patterns:
        found = re.compile(pattern).search(text, start)
        assert found, f"{pattern!r} is not in, or not after the others:\n{text}"
        start = found.end()


def test_what_a_screen_reader_gets(page, studio):
    """As described in docs/labelling.md."""
    studio.answer(page, 4)
    page.wait_for_selector("#guess b")
    in_order(
        tree(page, "body"),
        r"banner",
        r"status: ✓ saved",
        r'navigation "Screens"',
        r'button "Label"',
        r"main",
        r'heading "Label" \[level=1\]',
        r'region "Classes"',
        r'button "1 disc \d+"',
        r'button "n New class"',
        r'region "Item to label"',
        r'group "Item"',
        r"probably",
        r'region "Why this item"',
        r"contentinfo",
        r'button "Enter accept"',
        r'button "u undo"',
    )
    item = shown(page)
    page.keyboard.press(studio.key(item))
    shown(page, item)
    reads(page, "#announce", "New item")
    saved(page)
    page.keyboard.press("g")
    page.wait_for_selector(".tile img")
    in_order(
        tree(page, "#item"),
        r'listbox "Similar items"',
        r'option "Item 1 of \d+, selected" \[selected\]',
        r'option "Item 2 of \d+, selected" \[selected\]',
    )
    page.keyboard.press(" ")
    in_order(tree(page, "#grid"), r'option "Item 1 of \d+, left out"')
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    page.wait_for_selector("#review[data-ready] .row[data-item]")
    page.keyboard.press("ArrowDown")
    in_order(
        tree(page, "#review"),
        r'heading "Review" \[level=1\]',
        r'group "Show"',
        r'button "All" \[pressed\]',
        r'searchbox "Search texts and names"',
        r'grid "Items"',
        r'columnheader "Source"',
        r"row .*beam-00.png.* \[selected\]",
        r"status: 60 items · 1 selected",
        r'group "Label the selection as"',
        r'button "1 disc"',
    )
    active = page.evaluate(
        """() => {
          const list = document.activeElement;
          const row = document.getElementById(list.getAttribute("aria-activedescendant"));
          return [list.getAttribute("role"), row?.textContent.includes("beam-00")];
        }"""
    )
    assert active == ["grid", True]
