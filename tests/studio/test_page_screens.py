"""The other screens in a real browser: grid, reasons, settings, audit, map, review, export."""

import csv
import io
import json
import math
import re

import pytest
from browser import KINDS, focused, opened, reads, saved, shown, until

import poise
from poise.studio.log.settings import WAYS
from poise.studio.web import views

# Grid -------------------------------------------------------------------------------------------


def test_one_key_labels_the_grid_except_what_is_left_out(page, studio):
    studio.answer(page, 4)
    shown(page)
    page.keyboard.press("g")
    page.wait_for_function("() => document.querySelectorAll('.tile img').length === 12")
    tiles = page.locator(".tile")
    items = tiles.evaluate_all("tiles => tiles.map((tile) => tile.dataset.item)")
    assert len(set(items)) == 12
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    place = page.evaluate("[...document.querySelectorAll('.tile')].indexOf(document.activeElement)")
    page.keyboard.press(" ")
    assert tiles.nth(place).get_attribute("aria-selected") == "false"
    tiles.nth(0).click()
    tiles.nth(0).click()
    assert page.locator('.tile[aria-selected="true"]').count() == 11
    page.keyboard.press("2")
    until(lambda: len(studio.labels()) == 15)
    (event,) = [event for event in studio.events("label") if event.data["via"] == "grid"]
    assert event.items == [item for item in items if item != items[place]]
    assert event.data["label"] == KINDS[1]
    assert items[place] not in studio.labels()
    assert shown(page, items[0]) not in event.items
    page.wait_for_selector("#grid", state="hidden")
    saved(page)
    page.keyboard.press("u")
    until(lambda: len(studio.labels()) == 4)


def test_closing_the_grid_labels_nothing(page, studio):
    studio.answer(page, 2)
    item = shown(page)
    page.keyboard.press("g")
    page.wait_for_selector(".tile")
    for key in ("s", "x", "Escape"):
        page.keyboard.press(key)
    page.wait_for_selector("#grid", state="hidden")
    assert shown(page) == item
    assert len(studio.labels()) == 2
    assert not studio.events("skip", "unsure")


def open_advanced(page):
    """Show all settings."""
    page.locator("#settings > summary").press("Enter")
    page.wait_for_selector("#settings .advanced")
    if not page.locator("#settings select").is_visible():
        page.locator("#settings .advanced summary").press("Enter")
    page.wait_for_selector("#settings select")


def test_the_grid_stays_open_when_the_state_changes(page, studio):
    """A changed setting or a late explanation leaves the tiles as they are."""
    studio.answer(page, 2)
    item = shown(page)
    open_advanced(page)
    page.locator("#stage").click()
    page.keyboard.press("g")
    page.wait_for_selector(".tile")
    page.keyboard.press(" ")
    page.get_by_label("Acquisition").select_option("random")
    until(lambda: studio.project.state.settings["acquisition"] == "random")
    saved(page)
    page.wait_for_timeout(300)
    assert page.locator(".tile").first.get_attribute("aria-selected") == "false"
    assert page.locator(".tile").first.get_attribute("data-item") == item


# Reasons and settings ---------------------------------------------------------------------------


def test_why_this_item(page, studio):
    reads(page, "#reason", "a good first question")
    items = studio.answer(page, 3)
    page.wait_for_selector("#nearest figure img")
    words = page.locator("#reason").text_content()
    assert words.startswith(("To decide:", "To explore:", "To confirm:"))
    assert page.locator("#nearest figcaption").count() == 3
    shown_labels = sorted(page.locator("#nearest figcaption").all_text_contents())
    assert shown_labels == sorted(studio.kind(item) for item in items)
    painted = page.locator("#small-map canvas").evaluate(
        "map => map.getContext('2d').getImageData(0, 0, map.width, map.height).data.some(Boolean)"
    )
    assert painted


def test_the_guess_has_a_number_once_labels_support_it(page, studio):
    studio.answer(page, 3)
    page.wait_for_selector("#guess b")
    assert "%" not in page.locator("#guess").text_content()
    studio.answer(page, 18)
    studio.project.predictions().result(60)
    assert studio.project.asker.calibration is not None
    studio.answer(page, 2)  # the question after the next was chosen with it
    page.wait_for_function("() => document.querySelector('#guess').textContent.includes('%')")
    guess, number = studio.project.question().guess, studio.project.question().confidence
    shown_number = ">99%" if number >= 0.995 else f"{round(100 * number)}%"
    assert f"probably {guess} · {shown_number}" in page.locator("#guess").text_content()
    item = shown(page)
    page.keyboard.press("Enter")
    shown(page, item)
    saved(page)
    labels = studio.events("label")
    assert not any("confidence" in event.data for event in labels[:4]), "none that was not shown"
    assert labels[-1].data["confidence"] == pytest.approx(number, abs=1e-4)


def test_settings_are_changed_by_keyboard_and_kept(page, studio):
    studio.answer(page, 2)
    open_advanced(page)
    automatic = page.get_by_label("Choose the decay automatically")
    assert automatic.is_checked()
    automatic.press(" ")
    until(lambda: studio.project.state.settings["tau"] == pytest.approx(1e-3))
    slider = page.get_by_label("Decay tau")
    page.wait_for_function("() => !document.querySelector('#settings [type=range]').disabled")
    slider.focus()
    tau = 1e-3
    for _ in range(2):  # without taking hold of it again
        page.keyboard.press("ArrowRight")
        tau = until(lambda last=tau: (now := studio.project.state.settings["tau"]) != last and now)
        saved(page)
        page.wait_for_timeout(100)
    assert tau == pytest.approx(1e-2)
    reads(page, "#settings output", "1e-2")
    page.get_by_label("Acquisition").select_option("random")
    until(lambda: studio.project.state.settings["acquisition"] == "random")
    studio.answer(page, 2)
    page.reload()
    shown(page)
    open_advanced(page)
    assert page.get_by_label("Acquisition").input_value() == "random"
    assert float(page.get_by_label("Decay tau").input_value()) == pytest.approx(math.log10(1e-2))
    page.get_by_label("Choose the decay automatically").press(" ")
    until(lambda: studio.project.state.settings["tau"] is None)


def test_three_ways_of_asking_and_the_rest_under_advanced(page, studio):
    studio.answer(page, 2)
    page.locator("#settings > summary").press("Enter")
    page.wait_for_selector("#settings .ways")
    assert page.locator("#settings [type=radio]").count() == len(WAYS) == 3
    assert page.get_by_role("radio", name="Recommended").is_checked()
    assert not page.locator("#settings select").is_visible()
    for name, (acquisition, _) in reversed(WAYS.items()):
        page.get_by_role("radio", name=re.compile(f"^{name}")).check()
        until(lambda wanted=acquisition: studio.project.state.settings["acquisition"] == wanted)
        saved(page)
        shown(page)
    assert not page.locator("#settings select").is_visible(), "what was closed stays closed"
    page.locator("#settings .advanced summary").press("Enter")
    page.locator("#settings select").wait_for()  # the text of what is not visible is empty
    offered = page.locator("#settings option").all_inner_texts()
    assert offered == [f"{name}: {words}" for name, words in poise.acquisitions().items()]
    page.get_by_label("Acquisition").select_option("random")
    until(lambda: studio.project.state.settings["acquisition"] == "random")
    page.wait_for_function("() => !document.querySelector('#settings .ways :checked')")
    assert page.locator("#settings select").is_visible(), "what was open stays open"


# Audit ------------------------------------------------------------------------------------------


def test_an_audit_hides_the_guess_and_measures_an_interval(page, studio):
    studio.answer(page, 6)
    reads(page, "#progress-body", "The accuracy is unknown")
    assert not page.locator("#standing").is_visible()
    before = shown(page)
    page.keyboard.press("a")
    item = shown(page, before)
    for left in range(20, 14, -1):
        reads(page, "#purpose", f"Audit: {left} to go")
        reads(page, "#guess", "What is it?")
        reads(page, "#reason", "Drawn at random")
        assert page.locator("#guess b").count() == 0
        assert page.locator("#nearest figure").count() == 0
        page.keyboard.press("Enter")
        assert shown(page) == item
        page.keyboard.press(studio.key(item))
        item = shown(page, item)
    audited = until(
        lambda: (
            (found := [event for event in studio.events("label") if event.data["via"] == "audit"])
            and len(found) == 6
            and found
        )
    )
    right = sum(event.data["guess"] == event.data["label"] for event in audited)
    assert all(event.data["label"] == studio.kind(event.items[0]) for event in audited)
    reads(page, "#standing", f"{right} of 6 random items were right")
    reads(page, "#standing", "Audited accuracy")


# Map --------------------------------------------------------------------------------------------


def open_map(page, renderer="webgl"):
    page.keyboard.press("m")
    page.wait_for_selector("#map[data-ready]")
    assert page.locator("#map").get_attribute("data-renderer") == renderer


def places(page, n):
    """The positions of the items on the screen."""
    return page.evaluate(
        "n => Array.from({ length: n }, (_, i) => document.getElementById('map').poise.project(i))",
        n,
    )


def lasso(page, points, *, shift=True):
    """Draw a lasso round points; return the items inside."""
    left, right = min(x for x, _ in points) - 6, max(x for x, _ in points) + 6
    top, bottom = min(y for _, y in points) - 6, max(y for _, y in points) + 6
    if shift:
        page.keyboard.down("Shift")
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom), (left, top)):
        page.mouse.move(x, y, steps=4)
    page.mouse.up()
    if shift:
        page.keyboard.up("Shift")
    page.wait_for_selector(".map-chosen:not([hidden])")
    return [i for i, (x, y) in enumerate(places(page, 60)) if left < x < right and top < y < bottom]


@pytest.mark.parametrize("renderer", ["webgl", "canvas"])
def test_the_map_shows_and_opens_items(page, studio, renderer):
    studio.answer(page, 3)
    if renderer == "canvas":
        page.goto(f"{studio.address.split('?')[0]}?webgl=off")
        shown(page)
    open_map(page, renderer)
    ids = studio.project.catalogue.ids
    index, (x, y) = next(
        (i, place)
        for i, place in enumerate(places(page, 60))
        if ids[i] not in studio.labels()
        and page.evaluate("([x, y]) => document.getElementById('map').poise.hits(x, y)", place) == i
    )
    page.mouse.move(x, y)
    page.wait_for_selector(".map-card:not([hidden]) img")
    reads(page, ".map-card", "probably")
    page.mouse.click(x, y)
    until(lambda: studio.project.state.open[""].item == ids[index])
    page.wait_for_function(
        "item => document.getElementById('stage').dataset.item === item", arg=ids[index]
    )
    page.keyboard.press("3")
    until(lambda: studio.labels().get(ids[index]) == KINDS[2])


def test_a_lasso_labels(page, studio):
    studio.answer(page, 3)
    before = studio.labels()
    open_map(page)
    some = sorted(places(page, 60))[:5]
    inside = lasso(page, some)
    assert len(inside) >= 5
    reads(page, ".map-chosen", f"{len(inside)} items")
    page.keyboard.press("2")
    ids = studio.project.catalogue.ids
    until(lambda: all(studio.labels().get(ids[i]) == KINDS[1] for i in inside))
    assert {
        i: name for i, name in studio.labels().items() if i not in {ids[j] for j in inside}
    } == {item: name for item, name in before.items() if item not in {ids[j] for j in inside}}
    (event,) = [event for event in studio.events("label") if event.data["via"] == "map"]
    assert set(event.items) == {ids[i] for i in inside}
    page.wait_for_selector(".map-chosen", state="hidden")
    page.wait_for_function(
        "n => document.querySelectorAll('.map-row .map-count')[1].textContent === String(n)",
        arg=list(studio.labels().values()).count(KINDS[1]),
    )


def test_a_lasso_restricts_the_questions_until_it_is_lifted(page, studio):
    studio.answer(page, 2)
    open_map(page)
    ids = studio.project.catalogue.ids
    inside = {ids[i] for i in lasso(page, sorted(places(page, 60))[:15])}
    page.get_by_role("button", name="Ask only here").press("Enter")
    until(lambda: studio.project.state.settings["only"] is not None)
    assert set(studio.project.state.settings["only"]) == inside
    reads(page, ".map-chip", f"Asking only about {len(inside)} items")
    page.keyboard.press("Escape")
    reads(page, "#only", f"Asking only about {len(inside)} items")
    item = until(lambda: (found := shown(page)) in inside and found)
    for _ in range(4):
        assert item in inside
        page.keyboard.press(studio.key(item))
        item = shown(page, item)
    open_map(page)
    page.locator(".map-chip").press("Enter")
    until(lambda: studio.project.state.settings["only"] is None)
    page.wait_for_selector(".map-chip", state="hidden")


def test_the_map_by_keyboard_alone(page, studio):
    studio.answer(page, 3)
    open_map(page)
    page.locator("#map canvas").focus()
    page.keyboard.press("l")
    page.keyboard.press("Enter")
    page.wait_for_selector(".map-chosen:not([hidden])")
    reads(page, ".map-chosen", "60 items")
    assert "map-chosen" in focused(page)
    page.keyboard.press("Escape")
    page.wait_for_selector(".map-chosen", state="hidden")
    page.keyboard.press("Escape")
    for key in ("+", "ArrowLeft", "-", "f"):
        page.keyboard.press(key)
        page.wait_for_timeout(180)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    shown(page)
    assert len(studio.labels()) == 3


def test_colours_and_layouts_of_the_map(page, studio):
    studio.answer(page, 4)
    open_map(page)
    for words in ("Prediction", "Uncertainty", "Label"):
        page.get_by_role("radio", name=words).check(force=True)
        page.wait_for_timeout(50)
    page.get_by_role("radio", name="Neighbourhoods").check(force=True)
    page.wait_for_function("() => document.querySelector('.map-note').hidden")
    legend = page.locator(".map-row").first
    legend.press("Enter")
    assert page.locator(".map-row").first.get_attribute("aria-pressed") == "false"


def test_the_map_waits_for_a_model_that_computes(page, studio, monkeypatch):
    studio.answer(page, 3)
    values, asked = views.map_values, []

    def later(project):
        asked.append(project)
        return None if len(asked) < 3 else values(project)

    monkeypatch.setattr(views, "map_values", later)
    open_map(page)
    assert "Could not" not in page.locator(".map-note").text_content()
    counts = page.locator(".map-row .map-count")
    until(lambda: "57" in counts.all_text_contents())  # those that have no label
    assert len(asked) >= 3


# Review -----------------------------------------------------------------------------------------


def open_review(page):
    page.keyboard.press("v")
    page.wait_for_selector("#review[data-ready]")


def rows(page):
    page.wait_for_selector("#review[data-ready] .list:not([aria-busy])")
    return page.locator("#review .row[data-item]").evaluate_all(
        "rows => rows.sort((a, b) => a.dataset.index - b.dataset.index)"
        ".map((row) => row.dataset.item)"
    )


def show(page, words):
    page.locator("#review .chips").get_by_role("button", name=words, exact=True).press("Enter")
    page.wait_for_function(
        """words => [...document.querySelectorAll('#review .chip')]
          .some((chip) => chip.textContent === words && chip.ariaPressed === 'true')""",
        arg=words,
    )
    return rows(page)


def test_review_filters_and_sorts(page, studio):
    items = studio.answer(page, 5)
    open_review(page)
    reads(page, "#review .count", "60 items")
    assert sorted(show(page, "Labelled")) == sorted(items)
    assert not set(show(page, "Predicted")) & set(items)
    reads(page, "#review .count", "55 items")
    show(page, "Labelled")
    page.get_by_label("Order").select_option("time")
    until(lambda: rows(page) == items[::-1])
    show(page, "All")
    page.get_by_label("Class", exact=True).select_option(KINDS[0])
    same = [item for item in items if studio.kind(item) == KINDS[0]]
    until(lambda: set(same) <= set(rows(page)) and not (set(items) - set(same)) & set(rows(page)))
    page.get_by_label("Class", exact=True).select_option("")
    page.get_by_label("Search texts and names").fill("BEAM-0")
    reads(page, "#review .count", "10 items")
    assert {studio.kind(item) for item in rows(page)} == {KINDS[2]}
    page.get_by_label("Search texts and names").fill("")
    reads(page, "#review .count", "60 items")
    page.get_by_label("Order").select_option("confidence")
    predictions = studio.project.predictions().result()
    until(
        lambda: (
            [predictions.confidence[studio.project.nodes[item]] for item in rows(page)[:8]]
            == sorted(predictions.confidence)[:8]
        )
    )


def test_review_corrects_and_clears_by_keyboard(page, studio):
    items = studio.answer(page, 3)
    open_review(page)
    listed = show(page, "Labelled")
    page.locator("#review .list").focus()
    page.keyboard.press("ArrowDown")
    first, second = listed[:2]
    wrong = next(name for name in KINDS if name != studio.kind(first))
    page.keyboard.press(str(KINDS.index(wrong) + 1))
    until(lambda: studio.labels()[first] == wrong)
    event = studio.events("label")[-1]
    assert (event.items, event.data["via"]) == ([first], "review")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Backspace")
    until(lambda: second not in studio.labels())
    assert studio.events("clear")[-1].items == [second]
    until(lambda: rows(page) == [item for item in listed if item != second])
    assert len(studio.labels()) == len(items) - 1
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    until(lambda: second in studio.labels())


def test_review_opens_an_item(page, studio):
    studio.answer(page, 2)
    open_review(page)
    item = rows(page)[4]
    for _ in range(5):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "item => document.body.dataset.screen === 'label'"
        " && document.getElementById('stage').dataset.item === item",
        arg=item,
    )
    page.keyboard.press("1")
    until(lambda: studio.labels().get(item) == KINDS[0])


def test_a_wrong_label_is_suspicious(page, studio):
    studio.answer(page, 12)
    item = shown(page)
    wrong = next(name for name in KINDS if name != studio.kind(item))
    page.keyboard.press(str(KINDS.index(wrong) + 1))
    shown(page, item)
    studio.answer(page, 6)
    open_review(page)
    assert show(page, "Suspicious")[0] == item
    page.wait_for_selector(f'.row[data-item="{item}"] .suspicion.high')
    page.locator("#review .list").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press(studio.key(item))
    until(lambda: studio.labels()[item] == studio.kind(item))
    page.wait_for_selector("#review .suspicion.high", state="detached")


# Export and import ------------------------------------------------------------------------------


def parsed(content, kind):
    if kind == "csv":
        found = list(csv.DictReader(io.StringIO(content.decode())))
        return [
            {
                **row,
                "confidence": float(row["confidence"]) if row["confidence"] else None,
                **{name: row[name] or None for name in ("time", "assistant", "assistant_label")},
            }
            for row in found
        ]
    if kind == "jsonl":
        return [json.loads(line) for line in content.decode().splitlines()]
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: install parquet")
    return parquet.read_table(io.BytesIO(content)).to_pylist()


def download(page, kind, include="All items"):
    words = {"csv": "CSV", "jsonl": "JSON lines", "parquet": "Parquet"}[kind]
    page.get_by_role("radio", name=words).check()
    page.get_by_role("radio", name=include).check()
    page.wait_for_function(
        """([kind, include]) => {
          const link = document.querySelector("#export a.main").href;
          return link.includes(`format=${kind}`) && link.includes(`include=${include}`);
        }""",
        arg=[kind, "all" if include == "All items" else "labelled"],
    )
    with page.expect_download() as got:
        page.get_by_role("link", name="Download").press("Enter")
    assert got.value.suggested_filename == f"labels.{kind}"
    with open(got.value.path(), "rb") as file:  # noqa: PTH123
        return file.read()


def test_the_three_formats_hold_the_same_rows(page, studio):
    items = studio.answer(page, 16)  # enough for numbers to be shown
    page.keyboard.press("e")
    page.wait_for_selector("#export[data-ready]")
    reads(page, "#export", "60 rows")
    assert len(page.locator("#export pre").text_content().splitlines()) == 4
    found = {kind: parsed(download(page, kind), kind) for kind in ("csv", "jsonl", "parquet")}
    assert found["csv"] == found["jsonl"] == found["parquet"]
    rows = {row["id"]: row for row in found["csv"]}
    assert list(rows) == list(studio.project.catalogue.ids)
    for item, row in rows.items():
        assert row["source"].startswith(studio.kind(item))
        if item in items:
            assert (row["label"], row["by"]) == (studio.kind(item), "person")
            assert row["time"] == studio.project.state.labels[item].time
        else:
            assert row["by"] == "model"
            assert 0 <= row["confidence"] <= 1
    only = parsed(download(page, "csv", "Labels given by people"), "csv")
    assert {row["id"] for row in only} == set(items)


def test_an_empty_export_is_explained(page, studio):
    shown(page)
    page.keyboard.press("e")
    reads(page, "#export", "Nothing to export yet")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_export_and_import_lose_nothing(studio, page, start, visits, photos, tmp_path, kind):
    studio.answer(page, 4)
    page.keyboard.press("n")
    page.keyboard.type('a "b", <c>; é')
    page.keyboard.press("Enter")
    until(lambda: len(studio.labels()) == 5)
    page.keyboard.press("e")
    page.wait_for_selector("#export[data-ready]")
    content = download(page, kind, "Labels given by people")
    other = start(opened(photos, tmp_path / "other.poise", classes=()))
    second = visits.open(other.address)
    shown(second)
    second.keyboard.press("e")
    second.wait_for_selector("#export[data-ready]")
    file = {"name": f"labels.{kind}", "mimeType": "", "buffer": content}
    second.locator("#import-file").set_input_files(file)
    reads(second, ".result", "5 labels were imported")
    assert other.labels() == studio.labels()
    reads(second, "#export", "60 rows")
    again = download(second, kind, "Labels given by people")
    assert parsed(again, kind) == parsed(content, kind)
    second.locator("#import-file").set_input_files(file)
    reads(second, ".result", "5 were here already")
    assert len(other.events("label")) == len({e.data["at"] for e in other.events("label")})
    second.keyboard.press("Escape")
    item = shown(second)
    assert item not in other.labels(), "a question that the file does not answer"


def test_a_file_without_labels_is_refused_with_the_reason(page, studio, visits):
    shown(page)
    page.keyboard.press("e")
    page.wait_for_selector("#export[data-ready]")
    for name, content, words in (
        ("labels.csv", b"a,b\n1,2\n", "row 1 of labels.csv has no id and no source"),
        ("labels.txt", b"hello", "expected .csv, .jsonl or .parquet"),
        ("labels.jsonl", b"{oops\n", "labels.jsonl cannot be read as jsonl"),
    ):
        page.locator("#import-file").set_input_files(
            {"name": name, "mimeType": "", "buffer": content}
        )
        reads(page, ".result", words)
    assert studio.labels() == {}
    visits.expect("status of 422")
