"""Several people, tabs and servers: nobody overwrites anybody else's labels."""

from datetime import timedelta

import pytest
from browser import KINDS, focused, opened, reads, saved, shown, until


def come(visits, studio, name):
    """Open the page in a browser of its own and enter a name."""
    page = visits.open(studio.address)
    page.wait_for_selector("#who-dialog[open]")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.wait_for_selector("#who-dialog", state="hidden")
    shown(page)
    # Asked once without a name, the server says that it wants one.
    return page


@pytest.fixture
def together(start, photos, folder):
    """Start the app for several people."""
    return lambda **options: start(opened(photos, folder, **options), names=True)


def test_two_people_never_get_the_same_item(together, visits):
    studio = together()
    pages = {name: come(visits, studio, name) for name in ("Ann", "Bo")}
    seen = {name: [shown(page)] for name, page in pages.items()}
    for _ in range(6):
        for name, page in pages.items():
            page.keyboard.press(studio.key(seen[name][-1]))
            seen[name].append(shown(page, seen[name][-1]))
            assert len({seen["Ann"][-1], seen["Bo"][-1]}) == 2
    assert not set(seen["Ann"]) & set(seen["Bo"])
    until(lambda: len(studio.labels()) == 12)
    given = studio.project.state.labels
    for name, items in seen.items():
        assert {given[item].annotator for item in items[:-1]} == {name}
    assert all(found.label == studio.kind(item) for item, found in given.items())
    assert pages["Ann"].locator("#who").text_content() == "Ann"


def test_people_undo_their_own_answers(together, visits):
    studio = together()
    ann, bo = (come(visits, studio, name) for name in ("Ann", "Bo"))
    first, second = shown(ann), shown(bo)
    ann.keyboard.press("1")
    now = shown(ann, first)
    bo.keyboard.press("2")
    shown(bo, second)
    until(lambda: len(studio.labels()) == 2)
    saved(ann)
    ann.keyboard.press("u")
    assert shown(ann, now) == first
    until(lambda: studio.labels() == {second: KINDS[1]})


def test_overlap_asks_both_people(together, visits):
    studio = together(settings={"overlap": 2})
    ann, bo = (come(visits, studio, name) for name in ("Ann", "Bo"))
    items = []
    for _ in range(3):
        items.append(shown(ann, items[-1] if items else None))
        ann.keyboard.press("1")
    shown(ann, items[-1])
    item = None
    for _ in range(5):
        item = shown(bo, item)
        bo.keyboard.press("2")
    shown(bo, item)

    def both():
        votes = studio.project.state.votes
        return all({"Ann", "Bo"} <= votes[one].keys() for one in items)

    until(both)
    votes = studio.project.state.votes[items[0]]
    assert {name: vote.label for name, vote in votes.items()} == {"Ann": KINDS[0], "Bo": KINDS[1]}


def test_an_abandoned_question_goes_to_somebody_else(together, visits):
    studio = together()
    ann = come(visits, studio, "Ann")
    item = shown(ann)
    bo = come(visits, studio, "Bo")
    other = shown(bo)
    assert other != item
    ann.close()
    studio.project.turns.patience = timedelta(seconds=0.5)
    bo.wait_for_timeout(600)
    bo.keyboard.press("2")
    assert shown(bo, other) == item
    bo.keyboard.press("1")
    until(lambda: studio.labels() == {other: KINDS[1], item: KINDS[0]})
    assert studio.project.state.labels[item].annotator == "Bo"


def test_a_name_is_required_remembered_and_changeable(together, visits):
    studio = together()
    page = visits.open(studio.address)
    page.wait_for_selector("#who-dialog[open]")
    assert "who-name" in focused(page)
    page.keyboard.press("Enter")
    assert page.locator("#who-dialog").is_visible()
    page.keyboard.press("Escape")
    page.wait_for_selector("#who-dialog[open]")
    page.keyboard.type("Zoë <b>")
    page.keyboard.press("Enter")
    item = shown(page)
    page.keyboard.press("1")
    shown(page, item)
    until(lambda: studio.project.state.labels)
    assert studio.project.state.labels[item].annotator == "Zoë <b>"
    page.reload()
    shown(page)
    assert page.locator("#who").text_content() == "Zoë <b>"
    page.locator("#who").press("Enter")
    page.wait_for_selector("#who-dialog[open]")


def test_a_stale_tab_overwrites_nothing(studio, visits):
    context = visits.context()
    old, new = (visits.open(studio.address, context) for _ in range(2))
    item = shown(old)
    assert shown(new) == item
    new.keyboard.press("1")
    now = shown(new, item)
    until(lambda: studio.labels() == {item: KINDS[0]})
    old.keyboard.press("2")
    reads(old, "#problem", "changed elsewhere in the meantime")
    assert shown(old, item) == now
    assert studio.labels() == {item: KINDS[0]}
    assert len(studio.events("label")) == 1
    old.keyboard.press("2")
    until(lambda: studio.labels() == {item: KINDS[0], now: KINDS[1]})
    visits.expect("status of 409")


def test_a_stale_review_overwrites_nothing(studio, visits):
    context = visits.context()
    old, new = (visits.open(studio.address, context) for _ in range(2))
    shown(old)
    items = studio.answer(new, 2)
    for page in (old, new):
        page.keyboard.press("v")
        page.get_by_role("button", name="Labelled").click()
        page.locator(f'#review[data-ready] .row[data-item="{items[0]}"]').click()
    second, third = (name for name in KINDS if name != studio.kind(items[0]))
    new.keyboard.press(str(KINDS.index(second) + 1))
    until(lambda: studio.labels()[items[0]] == second)
    old.keyboard.press(str(KINDS.index(third) + 1))
    reads(old, "#review .trouble", "Could not change 1 item")
    assert studio.labels()[items[0]] == second
    visits.expect("status of 409")


def test_a_question_answered_in_review_elsewhere_is_not_asked(studio, visits):
    context = visits.context()
    old, new = (visits.open(studio.address, context) for _ in range(2))
    item = shown(old)
    assert shown(new) == item
    new.keyboard.press("v")
    new.get_by_label("Search texts and names").fill(
        studio.project.catalogue.sources[studio.project.nodes[item]]
    )
    new.locator(f'#review[data-ready] .row[data-item="{item}"]').click()
    new.keyboard.press("3")
    until(lambda: studio.labels() == {item: KINDS[2]})
    old.reload()
    assert shown(old) != item


def test_two_projects_in_one_browser(start, visits, photos, folder, tmp_path):
    studio = start(opened(photos, folder))
    context = visits.context()
    page = visits.open(studio.address, context)
    item = shown(page)
    other = start(opened(photos, tmp_path / "other.poise"), token="another-token")
    shown(visits.open(other.address, context))
    page.keyboard.press("1")
    try:
        until(lambda: studio.labels() == {item: KINDS[0]}, 3)
    finally:
        visits.allow("status of 403")


def test_remote_users_need_the_password(command, visits, photos, folder):
    # Another address of this machine: it needs a password, and stays on this machine.
    arguments = ("--project", folder, "--classes", ",".join(KINDS), "--host", "127.0.0.2")
    server = command(photos, *arguments, "--k", "8", POISE_PASSWORD="open sesame")
    assert "token" not in server.address
    page = visits.open(server.address)
    page.wait_for_url("**/login")
    assert "password" in focused(page)
    page.keyboard.type("open barley")
    page.keyboard.press("Enter")
    reads(page, "#problem", "this is not the password")
    page.locator("#password").fill("open sesame")
    page.keyboard.press("Enter")
    item = shown(page)
    page.keyboard.press("1")
    shown(page, item)
    saved(page)
    stranger = visits.context()
    for path in ("api/state", "api/export", f"api/items/{item}"):
        assert stranger.request.get(server.address + path).status == 403
    page.keyboard.press("?")
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login")
    assert page.request.get(server.address + "api/state").status == 403
    visits.expect("status of 403")


def test_nobody_gets_in_without_the_token(studio, visits):
    page = visits.context().new_page()
    for address in (studio.address.split("?")[0], studio.address + "x"):
        response = page.goto(address)
        assert response.status == 403
        assert "poise label" in page.locator("body").text_content()
