"""Classes in a real browser: edits and their undo, the finder, keys of two letters."""

import pytest
from browser import KINDS, opened, reads, saved, shown, until

from poise.studio.log.events import Event

MANY = tuple(f"topic {n:02d} of the customers" for n in range(74))


@pytest.fixture
def many(start, photos, folder):
    """The app with 77 classes, the first three of which are those of the images."""
    return start(opened(photos, folder, classes=KINDS + MANY))


def names(studio):
    return list(studio.project.state.classes)


def edit(page, name):
    """Open the class editor at a class."""
    page.keyboard.press("o")
    page.wait_for_selector("#class-editor[open]")
    page.locator("#class-editor .list button", has_text=name).first.click()
    page.wait_for_function(
        "name => document.querySelector('#class-editor .about input')?.value === name", arg=name
    )


def close(page):
    page.keyboard.press("Escape")
    page.wait_for_selector("#class-editor", state="hidden")


def find(page, letters):
    page.keyboard.press("c")
    page.wait_for_selector("#finder[open]")
    page.keyboard.type(letters)


def column(page):
    return page.locator(".class").evaluate_all("rows => rows.map((row) => row.dataset.name)")


# Changes and their undo -------------------------------------------------------------------------


def test_a_rename_can_be_undone_in_the_editor(page, studio):
    items = studio.answer(page, 3)
    edit(page, "disc")
    page.locator("#class-editor .about input").fill("circle")
    page.keyboard.press("Enter")
    reads(page, "#class-editor .status", "Renamed “disc” to “circle”.")
    assert names(studio) == ["circle", "pole", "beam"]
    wanted = {item: studio.kind(item).replace("disc", "circle") for item in items}
    assert studio.labels() == wanted
    until(lambda: column(page) == ["circle", "pole", "beam"])
    page.get_by_role("button", name="Undo", exact=True).click()
    reads(page, "#class-editor .status", "Undone.")
    until(lambda: column(page) == list(KINDS))
    assert studio.labels() == {item: studio.kind(item) for item in items}
    close(page)
    page.keyboard.press(studio.key(shown(page)))
    until(lambda: len(studio.labels()) == 4)


def test_two_classes_cannot_have_one_name(page, studio):
    shown(page)
    edit(page, "disc")
    page.locator("#class-editor .about input").fill("pole")
    page.get_by_role("button", name="Rename").click()
    reads(page, "#class-editor .status", "There is a class “pole” already")
    assert names(studio) == list(KINDS)


def test_a_merge_can_be_undone(page, studio):
    items = studio.answer(page, 5)
    edit(page, "beam")
    page.locator("#class-editor select").select_option("pole")
    page.get_by_role("button", name="Merge", exact=True).click()
    reads(page, "#class-editor .status", "Merged “beam” into “pole”")
    assert names(studio) == ["disc", "pole"]
    assert set(studio.labels().values()) <= {"disc", "pole"}
    close(page)
    assert shown(page)
    page.keyboard.press("u")
    reads(page, "#problem", "“beam” and “pole” are two classes again")
    assert studio.labels() == {item: studio.kind(item) for item in items}
    page.keyboard.press("u")  # and then the answer before it
    reads(page, "#problem", f"Undone: “{studio.kind(items[-1])}”")


def test_deleting_a_class_clears_its_labels_until_it_is_undone(page, studio):
    items = studio.answer(page, 5)
    gone = studio.kind(items[0])
    edit(page, gone)
    page.get_by_role("button", name="Delete", exact=True).click()
    reads(page, "#class-editor .status", f"Deleted “{gone}”")
    assert gone not in names(studio)
    kept = {item: studio.kind(item) for item in items if studio.kind(item) != gone}
    assert studio.labels() == kept
    close(page)
    page.keyboard.press("u")
    reads(page, "#problem", f"“{gone}” is a class again, with its labels")
    assert studio.labels() == {item: studio.kind(item) for item in items}
    page.reload()
    shown(page)
    assert column(page) == list(KINDS)


def test_colour_order_note_and_examples(page, studio):
    item = shown(page)
    edit(page, "disc")
    page.get_by_role("button", name="Colour 2, swap with pole").click()
    reads(page, "#class-editor .status", "Changed the colour of “disc”.")
    look = {one.name: one.colour for one in studio.project.state.known.shown()}
    assert (look["disc"], look["pole"]) == (1, 0)
    page.get_by_role("button", name="Down").click()
    reads(page, "#class-editor .status", "Moved “disc” to position 2.")
    page.locator("#class-editor .list [aria-current]").focus()
    page.keyboard.press("Alt+ArrowDown")
    reads(page, "#class-editor .status", "Moved “disc” to position 3.")
    assert names(studio) == ["pole", "beam", "disc"]
    page.locator("#class-editor textarea").fill("Round.\nNo rings.")
    page.get_by_role("button", name="Add the item on the screen").click()
    reads(page, "#class-editor .status", "Added an example of “disc”.")
    until(lambda: studio.project.state.known.shown()[2].examples == (item,))
    assert studio.project.state.known.shown()[2].note == "Round.\nNo rings."
    page.locator("#class-editor textarea").fill("Round.\nNo rings, no eggs.")
    close(page)
    until(lambda: "no eggs" in studio.project.state.known.shown()[2].note)
    until(lambda: page.locator(".class.described[data-name=disc]").count())
    page.locator(".class[data-name=disc]").hover()
    reads(page, "#class-card", "No rings, no eggs.")
    page.wait_for_selector("#class-card img")
    page.keyboard.press("?")
    reads(page, "#described", "No rings, no eggs.")


def test_undoing_the_answer_removes_a_mistyped_class(page, studio):
    studio.answer(page, 1)
    item = shown(page)
    page.keyboard.press("n")
    page.keyboard.type("dicsc")
    page.keyboard.press("Enter")
    shown(page, item)
    until(lambda: studio.labels().get(item) == "dicsc")
    page.keyboard.press("u")
    reads(page, "#problem", "Undone: “dicsc”")
    until(lambda: column(page) == list(KINDS))
    assert names(studio) == list(KINDS)


def test_a_name_similar_to_another_is_noticed(page, studio):
    studio.answer(page, 2)
    shown(page)
    page.keyboard.press("n")
    page.keyboard.type("Disc")
    page.keyboard.press("Enter")
    reads(page, "#toast", "There is also a class “disc”.")
    assert "Disc" in names(studio)


def test_an_outdated_page_may_use_the_old_name(page, studio):
    item = shown(page)
    studio.project.record(Event("rename", {"name": "disc", "to": "circle"}))
    page.keyboard.press("1")
    until(lambda: studio.labels() == {item: "circle"})
    until(lambda: column(page)[0] == "circle")


# Many classes -----------------------------------------------------------------------------------


def test_the_finder_finds_one_of_77_classes(visits, many):
    page = visits.open(many.address)
    item = shown(page)
    find(page, "41")
    selected = page.locator("#finder [aria-selected=true] .name")
    assert selected.text_content() == "topic 41 of the customers"
    page.keyboard.press("Enter")
    shown(page, item)
    until(lambda: many.labels() == {item: "topic 41 of the customers"})
    find(page, "topic 0")
    page.keyboard.press("ArrowDown")
    assert selected.text_content() == "topic 01 of the customers"
    page.keyboard.press("Escape")
    page.wait_for_selector("#finder", state="hidden")
    assert len(many.labels()) == 1


def test_the_second_enter_in_the_finder_creates_a_class(visits, many):
    page = visits.open(many.address)
    item = shown(page)
    find(page, "zebra")
    page.keyboard.press("Enter")
    reads(page, "#finder", "Press Enter again to create it.")
    assert "zebra" not in names(many)
    page.keyboard.press("Enter")
    shown(page, item)
    until(lambda: many.labels() == {item: "zebra"})
    saved(page)
    page.keyboard.press("u")
    until(lambda: "zebra" not in names(many))


def test_classes_beyond_ten_have_two_keys_and_single_keys_never_wait(visits, many):
    page = visits.open(many.address)
    shown_classes = many.project.state.known.shown()
    assert [one.key or one.code for one in shown_classes[9:12]] == ["0", "k1", "k2"]
    assert all(one.key or one.code for one in shown_classes)
    item = shown(page)
    page.keyboard.press("k")
    page.wait_for_selector("#two-step:not([hidden])")
    page.keyboard.press("Escape")
    page.wait_for_selector("#two-step", state="hidden")
    page.keyboard.press("k")
    page.keyboard.press("2")
    second = shown(page, item)
    until(lambda: many.labels() == {item: shown_classes[11].name})
    page.keyboard.press("2")
    shown(page, second)
    until(lambda: many.labels().get(second) == "pole")


def test_the_key_of_a_class_precedes_that_of_the_page(page, studio):
    studio.project.record(Event("class", {"name": "disc", "key": "c"}))
    page.reload()
    item = shown(page)
    page.keyboard.press("c")
    until(lambda: studio.labels() == {item: "disc"})
    page.locator(".class-head [data-key=c]").click()
    page.wait_for_selector("#finder[open]")


def test_groups_fold_and_stay_folded(visits, start, photos, folder):
    studio = start(opened(photos, folder, classes=("bird/owl", "bird/crow", "24/7", "/odd/")))
    context = visits.context()
    page = visits.open(studio.address, context)
    shown(page)
    assert page.locator(".group .class .name").all_text_contents() == ["owl", "crow"]
    assert page.locator("#class-list > li > .class .name").all_text_contents() == ["24/7", "/odd/"]
    page.locator(".group summary").click()
    assert not page.locator(".group .class").first.is_visible()
    page.wait_for_function("() => localStorage.getItem('poise-folded-groups') === '[\"bird\"]'")
    page.reload()
    item = shown(page)
    assert not page.locator(".group .class").first.is_visible()
    page.keyboard.press("2")  # its key works all the same
    until(lambda: studio.labels() == {item: "bird/crow"})


def test_the_width_of_the_class_column_is_remembered(page, studio):
    shown(page)
    width = "document.getElementById('classes').getBoundingClientRect().width"
    box = page.locator("#classes-edge").bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(400, box["y"] + 100)
    page.mouse.up()
    assert page.evaluate(width) == 400
    page.locator("#classes-edge").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(width) == 416
    page.reload()
    shown(page)
    assert page.evaluate(width) == 416


def test_no_two_classes_share_a_colour(visits, many):
    page = visits.open(many.address)
    shown(page)
    assert page.locator(".class .dot").count() == 77
    coloured = page.locator(".class .dot:not(.none)").evaluate_all(
        "dots => dots.map((dot) => getComputedStyle(dot).backgroundColor)"
    )
    assert len(coloured) == len(set(coloured)) == 12
    page.keyboard.press("m")
    page.wait_for_selector("#map[data-ready]")
    assert page.locator(".map-plain").count() == 77 - 12


@pytest.mark.parametrize("width", [390, 1024])
def test_everything_is_reachable_on_a_narrow_screen(visits, many, width):
    page = visits.open(many.address, viewport={"width": width, "height": 768})
    item = shown(page)
    wide = "[document.documentElement.scrollWidth, innerWidth]"
    scrolled, inner = page.evaluate(wide)
    assert scrolled <= inner
    page.locator(".class-head [data-key=c]").click()
    page.wait_for_selector("#finder[open]")
    page.keyboard.type("topic 73")
    page.locator("#finder li").first.click()
    shown(page, item)
    until(lambda: many.labels() == {item: MANY[73]})
    page.locator(".class-head [data-key=o]").click()
    page.wait_for_selector("#class-editor[open]")
    for control in ("Close", "Rename", "Delete", "Sort by name"):
        button = page.get_by_role("button", name=control)
        button.scroll_into_view_if_needed()
        box = button.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


@pytest.mark.parametrize(
    ("typed", "best"),
    [
        ("owl", "owl"),
        ("ba", "barn owl"),
        ("o", "owl"),
        ("eag", "grey eagle"),
        ("gle", "grey eagle"),
        ("EULE", "Eulé"),
        ("gyel", "grey eagle"),
    ],
)
def test_the_best_match_comes_first(page, typed, best):
    found = page.evaluate(
        """async ([typed, names]) => {
          const { matches } = await import("/static/class-finder.js");
          return matches(typed, names.map((name) => ({ name }))).map((one) => one.name);
        }""",
        [typed, ["grey eagle", "barn owl", "owl", "Eulé"]],
    )
    assert found[0] == best
