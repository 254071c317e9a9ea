"""What must not be missed: audits, advice, restrictions, failures, unreadable files."""

import shutil
from concurrent.futures import Future

import numpy as np
from browser import (
    KINDS,
    SIZES,
    in_sight,
    make_photos,
    opened,
    reads,
    saved,
    shown,
    until,
)

from poise.active.stopping import Advice
from poise.data import image_kinds
from poise.errors import DataError
from poise.studio import opening as openings
from poise.studio.asking import progress
from poise.studio.log.events import Event

# Audits -----------------------------------------------------------------------------------------


def test_an_audit_survives_undo_skip_unsure_and_reload(page, studio):
    studio.answer(page, 6)
    item = shown(page)
    page.keyboard.press("a")
    item = shown(page, item)
    reads(page, "#purpose", "Audit: 20 to go")

    def blind():
        reads(page, "#guess", "What is it?")
        assert page.locator("#guess b").count() == 0
        page.keyboard.press("g")
        assert not page.locator("#grid").is_visible()

    blind()
    for key, left in ((studio.key(item), 19), ("s", 18), ("x", 17)):
        page.keyboard.press(key)
        item = shown(page, item)
        reads(page, "#purpose", f"Audit: {left} to go")
        blind()
    saved(page)
    page.reload()
    assert shown(page) == item
    reads(page, "#purpose", "Audit: 17 to go")
    blind()
    for left in (18, 19, 20):
        page.keyboard.press("u")
        item = shown(page, item)
        reads(page, "#purpose", f"Audit: {left} to go")
        blind()
    page.keyboard.press(studio.key(item))
    shown(page, item)
    reads(page, "#standing", "of 1 random items were right")
    page.keyboard.press("s")
    reads(page, "#standing", "1 unknown, counted both ways")
    low, high = studio_interval(studio)
    assert high - low > 0.9
    page.keyboard.press("v")
    page.wait_for_selector("#review[data-ready]")
    audited = studio.project.state.open[""].item
    row = page.locator(f'#review .row[data-item="{audited}"]')
    page.locator("#review [type=search]").fill(name_of(studio, audited))
    row.wait_for()
    assert "probably" not in row.text_content(), "nor in Review"
    page.locator("#review [type=search]").fill("")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Stop the audit").click()
    reads(page, "#guess", "probably")
    assert not studio.project.state.audits


def name_of(studio, item):
    return studio.project.catalogue.sources[studio.project.nodes[item]]


def studio_interval(studio):
    return progress.audited(studio.project.state)["interval"]


def test_advice_and_accuracy_are_seen_without_scrolling(start, visits, photos, folder, monkeypatch):
    """Even with more classes than fit on the screen."""
    names = (*KINDS, *(f"another {number}" for number in range(40)))
    studio = start(opened(photos, folder, classes=names))
    page = visits.open(studio.address)
    studio.answer(page, 3)
    item = shown(page)
    page.keyboard.press("a")
    item = shown(page, item)
    page.keyboard.press(studio.key(item))
    shown(page, item)
    page.get_by_role("button", name="Stop the audit").click()
    words = "You can stop: the last 40 answers changed 1.2% of the predictions."
    monkeypatch.setattr(progress, "Settled", lambda: type("Settled", (), {"least": 0}))
    found = studio.project.predictions().result(60)
    object.__setattr__(found, "advice", Advice(True, words, "why"))
    studio.project.results.newest = found
    page.reload()
    shown(page)
    reads(page, "#standing .advice", words)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(100)
        assert in_sight(page, "#standing .advice"), width
        assert in_sight(page, "#standing .measured"), width
        assert in_sight(page, "#stage img"), width


def test_one_answer_gives_no_confidence(page, studio):
    """Nor do fifteen answers of one class, for which every guess is right."""
    first = shown(page)
    page.keyboard.press("1")
    shown(page, first)
    page.wait_for_selector("#guess b")
    assert "%" not in page.locator("#guess").text_content()
    free = [i for i in studio.project.catalogue.ids if i not in studio.labels()][:14]
    studio.project.record(Event("label", {"items": free, "label": KINDS[0], "via": "map"}))
    assert studio.project.predictions().result(60).calibration is None
    page.reload()
    shown(page)
    page.wait_for_selector("#guess b")
    assert "%" not in page.locator("#guess").text_content()


def test_review_says_when_its_predictions_are_outdated_and_renews_them(page, studio, monkeypatch):
    studio.answer(page, 3)
    studio.project.predictions().result(60)
    there, computed = studio.project.newest, Future()
    monkeypatch.setattr("poise.studio.web.handlers.review.TABLE_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(studio.project, "predictions", lambda: computed)
    page.keyboard.press("v")
    page.wait_for_selector("#review[data-ready] .row[data-item]")
    reads(page, "#review .note", "These predictions do not include your last answers yet")
    computed.set_result(there)
    page.wait_for_function("() => !document.querySelector('#review .note').textContent")


# Asking only here -------------------------------------------------------------------------------


def test_a_restriction_is_shown_changes_the_question_and_can_be_lifted(page, studio):
    studio.answer(page, 3)
    item = shown(page)
    rng = np.random.default_rng(0)
    free = [i for i in studio.project.catalogue.ids if i not in studio.labels() and i != item]
    some = rng.choice(free, 15, replace=False).tolist()
    page.keyboard.press("m")
    page.wait_for_selector("#map[data-ready]")
    studio.project.record(Event("setting", {"name": "only", "value": some}))
    page.reload()
    page.wait_for_selector("#map[data-ready]")
    page.keyboard.press("Escape")
    assert shown(page) in some
    reads(page, "#only", "Asking only about 15 items ✕")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert in_sight(page, "#only")
    page.get_by_role("button", name="ask everywhere again").click()
    until(lambda: studio.project.state.settings["only"] is None)
    page.wait_for_selector("#only", state="detached")


# What goes wrong --------------------------------------------------------------------------------


def test_a_failed_preparation_is_explained_and_the_server_keeps_running(command, visits, tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "broken.png").write_bytes(b"no image")
    server = command(folder, "--project", tmp_path / "photos.poise")
    page = visits.open(server.address)
    reads(page, "#prepare-problem", "Could not prepare it")
    reads(page, "#prepare-problem", "broken.png")
    again = page.get_by_role("button", name="Try again")
    assert again.is_visible()
    assert server.process.poll() is None
    make_photos(folder, 5)
    again.click()
    shown(page)
    page.close()  # it would report requests that fail once the server has ended
    assert server.end() in (0, 130)


def test_a_failed_preparation_can_be_retried(start, visits, photos, folder, monkeypatch):
    opening = opened(photos, folder)

    def full(*given, **named):
        raise DataError("Could not write features.npy: the disk is full. Free some space")

    monkeypatch.setattr(openings, "prepare", full)
    studio = start(opening, wait=False)
    opening.start()
    page = visits.open(studio.address)
    reads(page, "#prepare-problem", "the disk is full. Free some space")
    monkeypatch.undo()
    page.get_by_role("button", name="Try again").press("Enter")
    shown(page)


def test_unreadable_files_are_listed_under_the_project_name(
    start, visits, photos, tmp_path, monkeypatch
):
    monkeypatch.setattr(image_kinds, "find_spec", lambda name: None)
    folder = tmp_path / "photos"
    shutil.copytree(photos, folder)
    (folder / "empty.png").write_bytes(b"")
    for name in ("phone.HEIC", "camera.cr2", "notes.txt"):
        (folder / name).write_bytes(b"something")
    studio = start(opened(folder, tmp_path / "photos.poise"))
    page = visits.open(studio.address)
    shown(page)
    reads(page, "#counts", "3 could not be read")
    for key in ("", "m", "Escape"):
        if key:
            page.keyboard.press(key)
    page.locator("#project-details summary").click()
    for words in (
        "empty.png: it is empty (0 bytes)",
        "phone.HEIC: HEIC needs pi-heif: pip install pi-heif",
        "camera.cr2: camera raw files are not read: export it as JPEG",
    ):
        reads(page, "#project-about", words)
    assert "notes.txt" not in page.locator("#project-about").text_content()
    page.reload()
    shown(page)
    page.locator("#project-details summary").press("Enter")
    reads(page, "#project-about", "phone.HEIC")
