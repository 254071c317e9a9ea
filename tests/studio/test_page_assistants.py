"""Assistants in the app: judged blind, listed in Review, discarded as one group; over HTTP."""

import json
import shlex
import sys
from urllib.request import ProxyHandler, Request, build_opener

import pytest
from browser import KINDS, log, reads, saved, shown, until, wait_for
from test_page_access import violations

from poise.cli.main import main
from poise.errors import InputError, RunError
from poise.integrations.assistant.desks import AppDesk
from poise.studio import assisting
from poise.studio.asking.assistants import items_to_answer, standing

NAME = "ask.sh"


def answer_all(studio, *, wrong_every=10):
    """The assistant answers every open item, one in some wrongly; returns item -> answer."""
    project = studio.project
    assisting.introduce(project, NAME, 10)
    said = {}
    for number, item in enumerate(items_to_answer(project.state, NAME, project.catalogue.ids)):
        position = KINDS.index(studio.kind(item)) + (number % wrong_every == 0)
        said[item] = KINDS[position % 3]
        assisting.take(project, NAME, item, said[item])
    return said


def judge_all(page, studio, n=10):
    page.get_by_role("button", name="Judge answers").click()
    reads(page, "#purpose-words", f"Judging {NAME}: {n} to go")
    items = [shown(page)]
    for left in range(n - 1, -1, -1):
        page.keyboard.press(studio.key(items[-1]))
        if left:
            reads(page, "#purpose-words", f"{left} to go")
            items.append(shown(page, items[-1]))
    saved(page)
    return items


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_people_judge_answers_without_seeing_them(studio, visits, scheme):
    said = answer_all(studio)
    page = visits.open(studio.address, color_scheme=scheme)
    shown(page)
    reads(page, "#counts", "0 answers")
    reads(page, ".assistant", "60 answers. They do not count yet: judge 10 of them first.")
    page.get_by_role("button", name="Judge answers").click()
    reads(page, "#purpose-words", f"Judging {NAME}: 10 to go")
    item = shown(page)
    reads(page, "#reason", "Its answer is hidden.")
    assert page.locator("#guess").text_content() == "What is it?"
    assert violations(page) == []
    state = page.request.get(f"{studio.address.split('?')[0]}api/state").json()
    assert said[item] not in json.dumps(state["question"] | {"source": ""})
    page.get_by_role("button", name="Stop the audit").click()
    reads(page, "#purpose-words", "")
    items = judge_all(page, studio)
    right = sum(said[each] == studio.kind(each) for each in items)
    now = standing(studio.project.state, NAME)
    assert (now.judged, now.right) == (10, right)
    reads(page, ".assistant", f"({right} of 10 judged)")
    events = [e for e in studio.events("label") if e.data.get("via") == "audit"]
    assert all(e.data["of"] == NAME and "guess" not in e.data for e in events)
    reads(page, "#counts", "10 answers")
    assert violations(page) == []


def test_review_lists_the_answers_and_discards_them(studio, visits):
    said = answer_all(studio)
    page = visits.open(studio.address)
    shown(page)
    page.keyboard.press("v")
    page.wait_for_selector("#review[data-ready]")
    page.get_by_role("button", name=f"By assistant {NAME}").click()
    wait_for(
        page, "the list", "() => document.querySelector('.bar .count').textContent === '60 items'"
    )
    page.wait_for_selector("#review[data-ready]")
    row = page.locator(".row[data-item]").first
    item = row.get_attribute("data-item")
    assert f"{NAME} says {said[item]}" in row.text_content()
    assert violations(page) == []
    page.get_by_role("button", name="Discard its answers").click()
    wait_for(
        page, "no rows", "() => document.querySelector('.bar .count').textContent === '0 items'"
    )
    assert len(studio.project.state.assistants.answers) == 0
    page.keyboard.press("u")
    reads(page, "#toast", f"the answers of {NAME} are back")
    wait_for(
        page, "the list", "() => document.querySelector('.bar .count').textContent === '60 items'"
    )
    assert len(studio.project.state.assistants.answers) == 60


def test_what_is_being_judged_is_not_in_the_list(studio):
    said = answer_all(studio)
    item = assisting.judge(studio.project, "", NAME)
    desk = AppDesk(studio.address)
    listed = desk._send(f"/api/review?show=assisted&assistant={NAME}&limit=100")
    while listed.get("preparing"):
        listed = desk._send(f"/api/review?show=assisted&assistant={NAME}&limit=100")
    assert {row["item"] for row in listed["rows"]} == said.keys() - {item}
    everything = desk._send("/api/review?limit=100")
    (row,) = [row for row in everything["rows"] if row["item"] == item]
    assert row["assistant"] is None


def test_the_command_answers_in_the_running_app(photos, folder, command, tmp_path, capsys):
    """The app holds the project, so `poise assist` talks to it; each answer is on disk at once."""
    app = command(photos, "--project", folder, "--classes", ",".join(KINDS), "--k", "8")
    path = tmp_path / "ask.py"
    path.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    question = json.loads(line)\n"
        "    open(question['path'], 'rb').close()\n"
        "    kind = question['source'].split('-')[0]\n"
        "    print(json.dumps({'id': question['id'], 'class': kind}), flush=True)\n"
    )
    program = f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"
    with pytest.raises(SystemExit) as ended:
        main(["assist", str(folder), "--command", program, "--name", NAME, "--budget", "20"])
    out, err = capsys.readouterr()
    assert ended.value.code == 0, err
    assert "20 answered" in err
    assert f"{NAME}: 20 answers, which do not count yet" in out
    assert app.end(9) == -9
    answered = [event for event in log(folder) if event.kind == "assist"]
    assert len({event.data["item"] for event in answered}) == 20


def test_the_addresses_refuse_what_they_cannot_use(studio):
    desk = AppDesk(studio.address)
    with pytest.raises(InputError, match="no assistant 'nobody'"):
        desk.questions("nobody")
    with pytest.raises(InputError, match="expected a number of answers"):
        desk._send("/api/assistants", {"name": NAME, "audit": "many"})
    with pytest.raises(InputError, match="name is missing"):
        desk._send("/api/assistants", {"audit": 10})
    desk.introduce(NAME, 10)
    assert desk.content("no such item") is None
    with pytest.raises(InputError, match="there is no item"):
        desk.take(NAME, "no such item", "disc", None, False)
    (first, *_) = desk.questions(NAME)["questions"]
    with pytest.raises(InputError, match="there is no class"):
        desk.take(NAME, first["id"], "cube", None, False)
    assert desk.take(NAME, first["id"], "disc", 0.5, False)
    assert not desk.take(NAME, first["id"], "disc", 0.5, False), "sent twice, it counts once"
    with pytest.raises(InputError, match="another name"):
        AppDesk(studio.address.replace("127.0.0.1", "localhost"))


def test_a_page_of_another_site_cannot_answer(studio):
    request = Request(
        f"{studio.address.split('?')[0]}api/assistants",
        b"{}",
        {"Content-Type": "application/json", "Origin": "http://evil.example"},
    )
    with pytest.raises(OSError, match="403"):
        build_opener(ProxyHandler({})).open(request)


def test_an_app_that_is_gone_is_said_in_one_line(studio):
    desk = AppDesk(studio.address)
    studio.server.should_exit = True
    until(lambda: not studio.thread.is_alive())
    with pytest.raises(RunError, match=r"does not answer .*: finished work is kept"):
        desk.questions(NAME)
