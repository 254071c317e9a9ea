"""Keys on any keyboard, undo on every screen, and the browser's own Back and Forward."""

import pytest
from browser import KINDS, opened, reads, saved, shown, until

PRESS = """({ key, code, ...more }) => document.body.dispatchEvent(
  new KeyboardEvent("keydown", { key, code, bubbles: true, cancelable: true, ...more }))"""


def press(page, key, code="", **more):
    """Press a key of a keyboard that this machine does not have."""
    page.evaluate(PRESS, {"key": key, "code": code} | more)


def on(page, screen):
    page.wait_for_function("name => document.body.dataset.screen === name", arg=screen)
    if screen != "label":
        page.wait_for_selector(f"#{screen}[data-ready]")


# Keyboards --------------------------------------------------------------------------------------


def test_capitals_and_other_layouts(page, studio):
    items = studio.answer(page, 2)
    now = shown(page)
    press(page, "U", "KeyU")  # caps lock
    assert shown(page, now) == items[1]
    press(page, "г", "KeyU")  # Cyrillic
    assert shown(page, items[1]) == items[0]
    press(page, "&", "Digit1")  # AZERTY
    shown(page, items[0])
    until(lambda: studio.labels() == {items[0]: KINDS[0]})
    saved(page)
    press(page, "!", "Digit1", shiftKey=True)  # Shift and 1: no answer
    press(page, "я", "KeyZ", ctrlKey=True)
    until(lambda: studio.labels() == {})
    reads(page, "#toast", "Undone")
    press(page, "Ь", "KeyM")
    on(page, "map")
    press(page, "Escape", "Escape")
    press(page, "М", "KeyV")
    on(page, "review")


def test_a_letter_of_another_script_may_be_the_key_of_a_class(page, studio):
    item = shown(page)
    page.keyboard.press("?")
    field = page.locator("#remap").get_by_label(KINDS[1])
    field.fill("г")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    until(lambda: studio.project.state.classes[KINDS[1]] == "г")
    reads(page, "#class-list", "г")
    press(page, "Г", "KeyU")
    shown(page, item)
    until(lambda: studio.labels() == {item: KINDS[1]})


# Undo -------------------------------------------------------------------------------------------


def test_undo_on_every_screen_and_from_the_toast(page, studio):
    studio.answer(page, 3)
    page.keyboard.press("m")
    on(page, "map")
    page.keyboard.press("u")
    until(lambda: len(studio.labels()) == 2)
    reads(page, "#toast", "Undone")
    page.locator("#map canvas").focus()
    page.keyboard.press("l")
    page.keyboard.press("Enter")
    page.wait_for_selector(".map-chosen:not([hidden])")
    page.keyboard.press("2")
    until(lambda: len(studio.labels()) == 60)
    reads(page, "#toast", "Labelled 60 items as “pole”")
    page.get_by_role("button", name="Undo u").click()
    until(lambda: len(studio.labels()) == 2)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    on(page, "label")
    page.keyboard.press("v")
    on(page, "review")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("3")
    reads(page, "#toast", "Labelled 2 items as “beam”")
    until(lambda: list(studio.labels().values()).count(KINDS[2]) >= 2)
    saved(page)
    page.keyboard.press("Control+z")
    until(lambda: len(studio.labels()) == 2)
    reads(page, "#toast", "Undone")  # until then the page shows the question from before
    page.keyboard.press("Escape")
    on(page, "label")
    shown(page)
    reads(page, "#guess", "probably")
    page.keyboard.press("g")
    page.wait_for_selector(".tile")
    page.keyboard.press("1")
    reads(page, "#toast", "items as “disc”")
    many = until(lambda: len(studio.labels()) > 3 and len(studio.labels()))
    saved(page)
    page.keyboard.press("g")
    page.keyboard.press("Control+z")
    until(lambda: len(studio.labels()) < many)


# Back and Forward -------------------------------------------------------------------------------


def test_back_and_forward_move_between_screens(page, studio):
    studio.answer(page, 2)
    item = shown(page)
    page.keyboard.press("m")
    on(page, "map")
    page.keyboard.press("Escape")
    on(page, "label")
    page.keyboard.press("l")
    on(page, "review")
    assert page.evaluate("location.hash") == f"#review?like={item}"
    page.go_back()
    on(page, "label")
    page.go_back()
    on(page, "map")
    page.go_back()
    on(page, "label")
    page.go_forward()
    on(page, "map")
    page.go_forward()
    page.go_forward()
    on(page, "review")
    reads(page, "#review .chips", "Similar to")
    page.reload()
    on(page, "review")
    reads(page, "#review .chips", "Similar to")
    assert shown_anywhere(page) == item, "what was asked is still asked"
    page.keyboard.press("Escape")
    on(page, "label")
    assert page.evaluate("location.hash") == ""


def shown_anywhere(page):
    page.wait_for_function("() => document.getElementById('stage').dataset.item")
    return page.evaluate("document.getElementById('stage').dataset.item")


@pytest.mark.parametrize("screen", ["map", "review", "export"])
def test_a_screen_has_an_address(studio, visits, screen):
    page = visits.open(studio.address)
    shown(page)
    page.goto(f"{studio.address.split('?')[0]}#{screen}")
    page.reload()
    on(page, screen)


def test_back_and_forward_on_a_phone(studio, visits, photos, folder):
    page = visits.open(
        studio.address, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    first = shown(page)
    page.get_by_role("button", name=studio.kind(first)).tap()
    question = shown(page, first)
    saved(page)
    forward = page.locator('footer [data-key="ArrowRight"]')
    assert forward.is_disabled()
    page.locator('footer [data-key="ArrowLeft"]').tap()
    assert shown(page, question) == first
    forward.tap()
    assert shown(page, first) == question


def test_the_address_of_a_screen_works_on_the_first_visit(start, visits, photos, folder):
    studio = start(opened(photos, folder))
    page = visits.open(f"{studio.address}#export")
    on(page, "export")


@pytest.mark.parametrize(("key", "name"), [("n", "brand new"), ("c", KINDS[1])])
def test_the_enter_that_closes_a_dialog_answers_one_question(page, studio, key, name):
    """It must not accept the guess as well."""
    items = studio.answer(page, 3)
    item = shown(page)
    page.wait_for_selector("#guess b")
    page.keyboard.press(key)
    page.wait_for_selector("dialog[open]")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    shown(page, item)
    saved(page)
    assert studio.labels().keys() == {*items, item}
    assert studio.labels()[item] == name


def test_a_key_counts_while_a_closed_dialog_still_has_the_focus(page):
    shown(page)
    page.evaluate(
        """() => document.getElementById("name").dispatchEvent(
          new KeyboardEvent("keydown", { key: "m", code: "KeyM", bubbles: true })
        )"""
    )
    on(page, "map")
