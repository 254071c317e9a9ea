"""The label screen in a real browser, by keyboard: answers, crashes, full disks, hostile texts."""

import csv
import json
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from browser import (
    KINDS,
    SIZES,
    SOON,
    focused,
    free_port,
    in_sight,
    log,
    make_photos,
    opened,
    reads,
    saved,
    shown,
    unsent,
    until,
)
from PIL import Image

import poise
from poise.studio.log.store import StoreError
from poise.studio.source import preparing
from poise.studio.source.reading import read_catalogue

DIGITS = ",".join("0123456789")
GONE = (
    "ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_SOCKET_NOT_CONNECTED"
    "|ERR_CONTENT_LENGTH_MISMATCH"  # killed in the middle of a file
)


@pytest.fixture(scope="module")
def truth():
    """Item id -> digit."""
    data = poise.load_dataset("digits")
    return dict(zip(read_catalogue("digits").ids, data.classes.tolist(), strict=True))


# Answers ----------------------------------------------------------------------------------------


def test_digits_from_no_label_by_keyboard(command, visits, truth, tmp_path):
    """After 60 answers, 90% of the rest are predicted correctly."""
    folder = tmp_path / "digits.poise"
    page = visits.open(command("digits", "--classes", DIGITS, "--project", folder).address)
    item = None
    for _ in range(60):
        item = shown(page, item)
        page.keyboard.press(str(truth[item]))  # a digit's key is the digit
    reads(page, "#counts", "60 answers")
    saved(page)
    page.keyboard.press("e")
    page.wait_for_selector("#export[data-ready]")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").press("Enter")
    rows = list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
    rest = [row for row in rows if row["by"] == "model"]
    assert len(rest) == 1797 - 60
    assert np.mean([int(row["label"]) == truth[row["id"]] for row in rest]) > 0.9


def test_class_keys_label_what_is_shown(page, studio):
    items = studio.answer(page, 4)
    assert len(set(items)) == 4
    assert studio.labels() == {item: studio.kind(item) for item in items}
    assert [event.data["via"] for event in studio.events("label")] == ["question"] * 4
    counts = page.locator(".class .count").all_text_contents()
    assert list(map(int, counts)) == [
        sum(studio.kind(item) == name for item in items) for name in KINDS
    ]


def test_fast_keys_count_for_their_own_items(page, studio):
    """At the speed of the keyboard, no answer is lost and no item is labelled twice."""
    studio.answer(page, 2)
    for key in "123123":
        page.keyboard.press(key)
    saved(page)
    until(lambda: not unsent(page))
    labelled = [item for event in studio.events("label") for item in event.items]
    assert len(labelled) == len(set(labelled))
    assert len(studio.labels()) > 2


def test_enter_accepts_the_guess(page, studio):
    studio.answer(page, 3)
    item = shown(page)
    page.wait_for_selector("#guess b")
    guess = page.locator("#guess b").text_content()
    page.keyboard.press("Enter")
    shown(page, item)
    until(lambda: item in studio.labels())
    assert studio.labels()[item] == guess
    (event,) = [event for event in studio.events("label") if event.items == [item]]
    assert event.data["guess"] == guess


def test_enter_without_a_guess_does_nothing(page, studio):
    item = shown(page)
    reads(page, "#guess", "Nothing labelled yet")
    page.keyboard.press("Enter")
    page.keyboard.press("u")
    page.keyboard.press("7")
    page.wait_for_timeout(200)
    assert shown(page) == item
    assert studio.labels() == {}


def test_a_new_class_has_exactly_the_name_that_was_typed(page, studio):
    item = None
    given = {}
    names = ("n", "naïve 猫 🐈", 'a,b;"c"', "New class no. 9")
    for name in names:
        item = shown(page, item)
        page.keyboard.press("n")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        given[item] = name
    item = shown(page, item)
    until(lambda: studio.labels() == given)
    classes = studio.project.state.classes
    assert list(classes) == [*KINDS, *names]
    assert page.locator(".class .name").all_text_contents() == [*KINDS, *names]
    page.keyboard.press(classes[names[1]])
    until(lambda: studio.labels().get(item) == names[1])


def test_escape_makes_no_class(page, studio):
    studio.answer(page, 1)
    page.keyboard.press("n")
    page.keyboard.type("first")
    page.keyboard.press("Enter")
    until(lambda: "first" in studio.labels().values())
    page.keyboard.press("n")
    page.keyboard.type("never mind")
    page.keyboard.press("Escape")
    page.wait_for_selector("#name-dialog", state="hidden")
    studio.answer(page, 1)
    assert list(studio.project.state.classes) == [*KINDS, "first"]


def test_every_answer_can_be_undone(page, studio):
    items = studio.answer(page, 3)
    now = shown(page)
    for item in reversed(items):
        page.keyboard.press("u")
        assert shown(page, now) == item
        reads(page, "#problem", f"Undone: “{studio.kind(item)}”")
        now = item
    until(lambda: studio.labels() == {})
    assert len(studio.events("undo")) == 3
    assert page.locator('[data-key="u"]').is_disabled()
    page.keyboard.press("u")
    page.keyboard.press(studio.key(items[0]))
    shown(page, items[0])
    until(lambda: studio.labels() == {items[0]: studio.kind(items[0])})


def test_undo_right_after_the_first_answer(page, studio, monkeypatch):
    """Even before the server has answered."""
    item = shown(page)
    record = studio.project.record

    def slowly(*arguments):
        time.sleep(0.3)
        return record(*arguments)

    monkeypatch.setattr(studio.project, "record", slowly)
    page.keyboard.press("1")
    page.keyboard.press("u")
    until(lambda: studio.events("undo"))
    reads(page, "#problem", "Undone")
    assert shown(page) == item
    assert studio.labels() == {}


def test_skip_does_not_come_back_at_once(page, studio):
    studio.answer(page, 1)
    item = shown(page)
    page.keyboard.press("s")
    shown(page, item)
    until(lambda: item in studio.project.state.skipped)
    assert item not in studio.answer(page, 12)
    assert item not in studio.labels()


def test_unsure_is_set_aside_and_listed(page, studio):
    studio.answer(page, 2)
    item = shown(page)
    page.keyboard.press("x")
    shown(page, item)
    until(lambda: item in studio.project.state.unsure)
    assert item not in studio.answer(page, 5)
    page.keyboard.press("v")
    page.get_by_role("button", name="Unsure").click()
    page.wait_for_selector(f'#review[data-ready] .row[data-item="{item}"]')
    assert page.locator("#review .row[data-item]").count() == 1


def test_arrows_go_back_change_and_return(page, studio):
    items = studio.answer(page, 4)
    question = shown(page)
    page.keyboard.press("ArrowLeft")
    assert shown(page, question) == items[3]
    reads(page, "#purpose", "An earlier answer")
    reads(page, "#guess", f"labelled {studio.kind(items[3])}")
    page.keyboard.press("ArrowLeft")
    assert shown(page, items[3]) == items[2]
    page.keyboard.press("ArrowRight")
    assert shown(page, items[2]) == items[3]
    page.keyboard.press("ArrowRight")
    assert shown(page, items[3]) == question
    assert studio.labels() == {item: studio.kind(item) for item in items}
    for before, item in zip((question, *items[:0:-1]), items[::-1], strict=True):
        page.keyboard.press("ArrowLeft")
        assert shown(page, before) == item
    wrong = next(name for name in KINDS if name != studio.kind(items[0]))
    page.keyboard.press(str(KINDS.index(wrong) + 1))
    until(lambda: studio.labels()[items[0]] == wrong)
    now = shown(page, items[0])
    assert now not in items, "a question that is open, not an answer again"
    saved(page)
    page.keyboard.press("u")
    until(lambda: studio.labels()[items[0]] == studio.kind(items[0]))


def test_keys_can_be_changed(page, studio, visits):
    item = shown(page)
    page.keyboard.press("?")
    field = page.locator("#remap").get_by_label(KINDS[0])
    for taken, words in (("2", f"the key of {KINDS[1]}"), ("u", "already does something else")):
        field.fill(taken)
        page.keyboard.press("Tab")
        reads(page, "#remap-problem", words)
    field.fill("d")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    until(lambda: studio.project.state.classes[KINDS[0]] == "d")
    reads(page, ".class kbd", "d")
    page.keyboard.press("1")
    page.keyboard.press("d")
    shown(page, item)
    until(lambda: studio.labels() == {item: KINDS[0]})
    page.reload()
    item = shown(page)
    page.keyboard.press("d")
    until(lambda: studio.labels().get(item) == KINDS[0])


def test_preparation_is_shown_and_leads_to_the_first_question(
    start, photos, visits, tmp_path, monkeypatch
):
    """Of two damaged images the page says how many and why; it opens the rest."""
    folder = make_photos(tmp_path / "photos")
    (folder / "empty.png").write_bytes(b"")
    content = (folder / "disc-00.png").read_bytes()
    (folder / "disc-00.png").write_bytes(content[: len(content) // 2])
    opening = opened(folder, tmp_path / "photos.poise")
    opening.catalogue = None
    studio = start(opening, wait=False)
    page = visits.open(studio.address)
    page.wait_for_selector("#prepare-name")
    reads(page, "#prepare-name", "photos")
    see, go_on = opening._see, threading.Event()

    def and_wait(content: bytes) -> None:
        see(content)
        go_on.wait(SOON)

    joins = threading.Event()

    def prepare(*given, **named):
        joins.wait(SOON)
        return preparing.prepare(*given, **named)

    opening._see = and_wait
    monkeypatch.setattr("poise.studio.opening.prepare", prepare)
    with ThreadPoolExecutor(1) as pool:
        opens = pool.submit(opening.open)
        try:
            page.wait_for_function("() => document.querySelector('#few img')?.naturalWidth > 0")
            assert opening.catalogue is None, "the first pictures are shown while the rest is read"
            go_on.set()
            reads(page, "#found", "59 images, 2 could not be read")
            page.locator("#unreadable summary").click()
            words = " ".join(page.locator("#unreadable li").all_text_contents())
        finally:
            go_on.set()
            joins.set()
        opens.result()
    assert "empty.png: it is empty (0 bytes)" in words
    assert "disc-00.png: it is damaged or cut short" in words
    shown(page)
    reads(page, "#counts", "59 items")
    reads(page, "#counts", "2 could not be read")


# Going away and coming back ---------------------------------------------------------------------


def test_a_restart_keeps_the_question_and_the_undo(command, visits, photos, folder):
    arguments = (photos, "--project", folder, "--classes", ",".join(KINDS), "--k", "8")
    server = command(*arguments)
    page = visits.open(server.address)
    items = []
    for _ in range(4):
        items.append(shown(page, items[-1] if items else None))
        page.keyboard.press("1")
    question = shown(page, items[-1])
    saved(page)
    page.reload()
    assert shown(page) == question
    assert server.end() in (0, 130)
    page.goto(command(*arguments).address)
    assert shown(page) == question
    now = question
    for item in items[::-1]:
        page.keyboard.press("u")
        assert shown(page, now) == item
        now = item
    saved(page)
    assert [event.kind for event in log(folder) if event.kind in ("label", "undo")] == [
        *["label"] * 4,
        *["undo"] * 4,
    ]
    visits.allow(GONE)


def test_an_answer_survives_a_server_crash(command, visits, photos, folder):
    """The page says so, keeps the answer and sends it once the server is back."""
    port = free_port()
    arguments = (photos, "--project", folder, "--classes", ",".join(KINDS), "--port", port)
    server = command(*arguments, "--k", "8")
    page = visits.open(server.address)
    first = shown(page)
    page.keyboard.press("1")
    item = shown(page, first)
    page.wait_for_function("item => document.body.dataset.ahead === item", arg=item)
    saved(page)
    server.end(signal.SIGKILL)
    page.keyboard.press("2")
    reads(page, "#unsaved", "Not saved yet: your last action is kept in this browser")
    reads(page, "#unsaved", "poise does not answer")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert in_sight(page, "#unsaved")
        assert page.locator("#unsaved").bounding_box()["width"] == width, "from edge to edge"
    assert page.locator("#saved").text_content() == "not saved"
    assert not [event for event in log(folder) if event.items == [item]]
    (waiting,) = unsent(page)
    assert waiting["body"]["data"]["items"] == [item]
    again = command(*arguments, "--k", "8")
    # Nobody comes in with the old token; whoever starts it opens the new address, when they like.
    reads(page, "#unsaved", "poise was restarted")
    other = visits.open(again.address, page.context)
    until(lambda: [event for event in log(folder) if event.items == [item]])
    saved(page)
    page.wait_for_selector("#unsaved", state="hidden")
    assert unsent(page) == []
    shown(other, item)
    labels = [event for event in log(folder) if event.kind == "label"]
    assert [event.items for event in labels] == [[first], [item]]
    assert labels[-1].data["label"] == KINDS[1]
    page.reload()
    shown(page, item)
    assert len([event for event in log(folder) if event.kind == "label"]) == 2
    visits.expect(GONE, "status of 403")


def test_kill_9_loses_no_acknowledged_answer(command, visits, photos, folder):
    acknowledged: dict[str, str] = {}
    rng = np.random.default_rng(0)
    context = visits.context()
    for _ in range(2):
        server = command(photos, "--project", folder, "--classes", ",".join(KINDS), "--k", "8")
        page = visits.open(server.address, context)
        item = None
        for _ in range(int(rng.integers(2, 6))):
            item = shown(page, item)
            page.keyboard.press("2")
            shown(page, item)
            saved(page)
            acknowledged[item] = KINDS[1]
        server.end(signal.SIGKILL)
        page.close()
        labels = [event for event in log(folder) if event.kind == "label"]
        written = [event.items[0] for event in labels]
        assert len(set(written)) == len(written), "none twice"
        assert acknowledged.items() <= {e.items[0]: e.data["label"] for e in labels}.items()
    visits.allow(GONE)


# What goes wrong --------------------------------------------------------------------------------


def test_the_guess_is_fetched_again_after_a_lost_connection(page, visits, studio):
    studio.answer(page, 3)
    lost = []

    def without_guess(route):
        state = route.fetch().json()
        state["question"] |= {"explained": False, "guess": None}
        route.fulfill(json=state)

    def lose_the_first(route):
        if lost:
            route.continue_()
        else:
            lost.append(route.request.url)
            route.abort("connectionreset")

    page.route("**/api/state*", without_guess)
    page.route("**/api/question*", lose_the_first)
    page.reload()
    shown(page)
    reads(page, "#guess", "probably")
    assert lost
    visits.expect("ERR_CONNECTION_RESET")


def test_an_answer_that_cannot_be_written_is_not_counted(page, studio, visits, monkeypatch):
    item = shown(page)

    def full(*events):
        raise StoreError("the answer could not be written: the disk is full; free some space")

    monkeypatch.setattr(studio.project.store, "append", full)
    page.keyboard.press("1")
    reads(page, "#problem", "the disk is full")
    reads(page, "#problem", "It is not saved; press the key again")
    assert "saved" not in page.locator("#saved").text_content()
    assert shown(page) == item
    reads(page, "#counts", "0 answers")
    assert studio.labels() == {}
    monkeypatch.undo()
    page.keyboard.press("1")
    shown(page, item)
    until(lambda: studio.labels() == {item: KINDS[0]})
    visits.expect("status of 507")


def test_a_disk_that_is_really_full(command, visits, photos, prepared, tmp_path):
    """On a small file system, in a namespace where mounting is allowed."""
    place = tmp_path / "small"
    place.mkdir()
    private = ("unshare", "--user", "--map-root-user", "--mount")
    size = sum(file.stat().st_size for file in prepared.iterdir()) + 400_000
    mount = f"mount -t tmpfs -o size={size} tmpfs {place}"
    try:
        subprocess.run([*private, "sh", "-c", mount], check=True, capture_output=True, timeout=20)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"nothing can be mounted here: {error}")
    script = f'{mount} && cp -r {prepared} {place} && exec "$@"'
    folder = place / "photos.poise"
    arguments = (photos, "--project", folder, "--classes", ",".join(KINDS), "--k", "8")
    server = command(*arguments, before=(*private, "sh", "-c", script, "sh"))
    inside = Path(f"/proc/{server.process.pid}/root{folder}")
    page = visits.open(server.address)
    item = shown(page)
    with (inside / "filler").open("wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(512))
        except OSError:
            pass
    answers = 0
    for _ in range(40):  # what the log had reserved is filled first
        page.keyboard.press("1")
        page.wait_for_function(
            # The next item may be shown before the server has refused the answer.
            "old => document.getElementById('problem').textContent"
            " || (document.getElementById('stage').dataset.item !== old"
            " && document.getElementById('saved').textContent.endsWith(' saved'))",
            arg=item,
        )
        if page.locator("#problem").text_content():
            break
        answers += 1
        item = shown(page, item)
    reads(page, "#problem", "the disk is full")
    reads(page, "#counts", f"{answers} {'answer' if answers == 1 else 'answers'} ·")
    assert shown(page) == item
    (inside / "filler").unlink()
    page.keyboard.press("2")
    shown(page, item)
    saved(page)
    # SQLite would look for the log outside of the name space.
    address = f"{server.address.split('?')[0]}api/export?format=jsonl&include=labelled"
    rows = [json.loads(line) for line in page.request.get(address).text().splitlines()]
    assert len(rows) == answers + 1
    assert [row["label"] for row in rows if row["id"] == item] == [KINDS[1]]
    visits.expect("status of 507")


def test_a_file_that_disappears_is_reported_and_can_be_skipped(start, visits, tmp_path):
    folder = make_photos(tmp_path / "photos")
    studio = start(opened(folder, tmp_path / "photos.poise"))
    page = visits.open(studio.address)
    item = studio.answer(page, 1)[0]
    for file in folder.iterdir():
        file.unlink()
    page = visits.open(studio.address)  # one that has nothing of it loaded
    gone = shown(page)
    assert gone != item
    page.wait_for_selector("#stage .gone")
    assert (
        studio.project.catalogue.sources[studio.project.nodes[gone]]
        in page.locator("#stage .gone").text_content()
    )
    page.keyboard.press("s")
    shown(page, gone)
    until(lambda: gone in studio.project.state.skipped)
    visits.expect("status of 410")


HOSTILE = [
    "<script>window.poisoned = 1; alert(1)</script>",
    '<img src=x onerror="window.poisoned = 1; alert(1)">',
    "</textarea><svg onload=alert(1)>",
    "javascript:alert(1)",
    "{{7*7}} ${7*7} '; DROP TABLE events; --",
]


def hostile_text(folder):
    path = folder / "texts.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text"])
        writer.writerows([f"{words} number {i}"] for i in range(4) for words in HOSTILE)
    return path, "#stage .text"


def hostile_names(folder):
    make_photos(folder / "photos", 5)
    for number, file in enumerate(sorted((folder / "photos").iterdir())):
        words = HOSTILE[number % len(HOSTILE)].replace("/", "⁄")
        file.rename(file.with_name(f"{words}{number}.png"))
    return folder / "photos", "#stage img"


@pytest.mark.parametrize("make", [hostile_text, hostile_names])
def test_hostile_text_is_shown_as_text(start, visits, tmp_path, make):
    source, place = make(tmp_path)
    studio = start(opened(source, tmp_path / "hostile.poise", classes=tuple(HOSTILE[:2])))
    page = visits.open(studio.address)
    sources = studio.project.catalogue.sources
    item = None
    for key in "12":
        item = shown(page, item)
        page.wait_for_selector(place)
        page.keyboard.press(key)
    item = shown(page, item)
    page.keyboard.press("n")
    page.keyboard.type(HOSTILE[2])
    page.keyboard.press("Enter")
    shown(page, item)
    # Texts that differ in a number alone get one answer together.
    until(lambda: len(set(studio.labels().values())) == 3)
    assert list(studio.project.state.classes) == HOSTILE[:3]
    assert page.locator(".class .name").all_text_contents() == HOSTILE[:3]
    page.wait_for_selector("#guess b")
    assert page.locator("#guess b").text_content() in HOSTILE
    page.keyboard.press("?")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.wait_for_selector(".tile")
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    page.wait_for_selector("#review[data-ready] .row[data-item]")
    titles = page.locator("#review .row[data-item] .source").evaluate_all(
        "found => found.map((one) => one.title)"
    )
    assert titles
    assert set(titles) <= set(sources)
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.wait_for_selector("#map[data-ready]")
    assert page.locator(".map-legend .map-name").all_text_contents()[:3] == HOSTILE[:3]
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    page.wait_for_selector("#export[data-ready]")
    assert page.evaluate("window.poisoned") is None
    assert page.locator("script:not([src]), svg[onload], img[onerror]").count() == 0


# How it looks and is reached --------------------------------------------------------------------


SCREENS = {"label": None, "map": "m", "review": "v", "export": "e"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_or_overlaps(studio, visits, scheme):
    page = visits.open(studio.address, color_scheme=scheme)
    studio.answer(page, 2)
    for screen, key in SCREENS.items():
        if key:
            page.keyboard.press("Escape")
            page.keyboard.press(key)
            page.wait_for_selector(f"#{screen}[data-ready]")
        for width in (1440, 1024, 390):
            page.set_viewport_size({"width": width, "height": 844})
            page.wait_for_timeout(100)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, screen
            if screen == "label":
                assert_apart(page.locator("#label > section"))


def assert_apart(parts):
    boxes = [part.bounding_box() for part in parts.all()]
    boxes = [box for box in boxes if box is not None and box["height"] > 0]
    assert boxes
    for i, one in enumerate(boxes):
        for other in boxes[i + 1 :]:
            apart = (
                one["x"] + one["width"] <= other["x"] + 1
                or other["x"] + other["width"] <= one["x"] + 1
                or one["y"] + one["height"] <= other["y"] + 1
                or other["y"] + other["height"] <= one["y"] + 1
            )
            assert apart, "parts of the page do not overlap"


def test_a_thumb_labels_on_a_phone(studio, visits):
    page = visits.open(
        studio.address, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    item = None
    for _ in range(3):
        item = shown(page, item)
        button = page.get_by_role("button", name=studio.kind(item))
        box = until(button.bounding_box)
        assert box["y"] + box["height"] <= 844, "in reach without scrolling"
        assert box["height"] >= 40, "large enough for a thumb"
        button.tap()
    shown(page, item)
    until(lambda: len(studio.labels()) == 3)
    assert all(label == studio.kind(item) for item, label in studio.labels().items())
    page.locator('footer [data-key="u"]').tap()
    until(lambda: len(studio.labels()) == 2)


REACHABLE = """() => [
    ...document.querySelectorAll("button, input, select, summary, a[href], [tabindex]"),
  ].filter((one) => one.tabIndex >= 0 && !one.disabled
    && one.checkVisibility({ visibilityProperty: true })
    // Of radio buttons in a group, Tab reaches the chosen one; arrows do the rest.
    && !(one.type === "radio" && !one.checked))
  .map((one) => { one.dataset.reach ??= String(Math.random()); return one.dataset.reach; })"""


@pytest.mark.parametrize("screen", SCREENS)
def test_tab_reaches_every_control_and_shows_where_it_is(page, studio, screen):
    studio.answer(page, 3)
    if SCREENS[screen]:
        page.keyboard.press(SCREENS[screen])
        page.wait_for_selector(f"#{screen}[data-ready]")
    else:
        page.locator("#settings > summary").press("Enter")
        page.locator("#settings .advanced summary").press("Enter")
        page.wait_for_selector("#settings select")
    page.wait_for_timeout(300)
    wanted = set(page.evaluate(REACHABLE))
    assert len(wanted) >= 10
    found, unnamed, unseen = set(), [], []
    for _ in range(2 * len(wanted) + 10):
        page.keyboard.press("Tab")
        reached = page.evaluate("document.activeElement.dataset.reach")
        if reached is None or reached in found:
            continue
        found.add(reached)
        seen, named = page.evaluate(
            """() => {
              const one = document.activeElement;
              const near = one.closest("label") ?? one;
              const name = one.getAttribute("aria-label") || one.textContent || one.title
                || one.labels?.[0]?.textContent;
              const ring = (style) => style.outlineStyle !== "none" && style.outlineWidth !== "0px"
                || style.boxShadow !== "none";
              const beside = one.nextElementSibling;
              const frame = one.closest(".frame"); // its border lies above the rows
              return [ring(getComputedStyle(one)) || ring(getComputedStyle(near))
                || beside && ring(getComputedStyle(beside))
                || frame && getComputedStyle(frame, "::after").borderStyle === "solid",
                Boolean(name?.trim())];
            }"""
        )
        if not seen:
            unseen.append(focused(page))
        if not named:
            unnamed.append(focused(page))
        if found >= wanted:
            break
    missed = page.evaluate(
        """left => left.map((one) => {
          const { tagName, id, className } = document.querySelector(`[data-reach="${one}"]`) ?? {};
          return `${tagName}#${id}.${className}`;
        })""",
        sorted(wanted - found),
    )
    assert missed == []
    assert unnamed == []
    assert unseen == []


def test_a_large_picture_fits(start, visits, tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(6):
        Image.new("RGB", (3000, 700), (20 * number, 90, 90)).save(folder / f"{number}.png")
    studio = start(opened(folder, tmp_path / "photos.poise"))
    page = visits.open(studio.address)
    shown(page)
    box, stage = (page.locator(place).bounding_box() for place in ("#stage img", "#stage"))
    assert box["width"] <= stage["width"] + 1
    assert box["width"] / box["height"] == pytest.approx(3000 / 700, rel=0.02)
