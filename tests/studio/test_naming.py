"""Names of classes: which are allowed, and which are similar."""

import pytest
from test_server import client as client  # a fixture
from test_server import send
from test_server import stranger as stranger  # a fixture

from poise.errors import InputError
from poise.studio.log.events import Event
from poise.studio.log.naming import alike


@pytest.mark.parametrize(
    "name", ["👩\u200d🔬", "می\u200cخواهم", "क्\u200dष", "🏳️\u200d🌈", "naïve", "猫", "C++"]
)
def test_names_with_joiners(name, project):
    project.record(Event("class", {"name": name}))
    assert name in project.state.classes


@pytest.mark.parametrize(
    "name",
    [
        *("\u200d", " \u200c ", "", " ", "a\x00", "a\n", "a\x1b[1m", "\u202ecat", "a\u2066b"),
        *("\ud800", "a\u200b", "a\u2028b", "\ufeffa"),
    ],
)
def test_invisible_characters_are_refused(name):
    with pytest.raises(InputError, match="printable"):
        Event("class", {"name": name})


@pytest.mark.parametrize(
    ("name", "other"),
    [("Cat", "cat"), ("cat ", "cat"), ("ｃａｔ", "cat"), ("STRASSE", "straße"), ("a b", "a  B")],
)
def test_names_that_differ_in_case_width_or_spaces_are_alike(name, other):
    assert alike(name, ["dog", name, other]) == other
    assert alike(name, ["dog", name]) is None


def test_different_names_are_not_alike():
    assert alike("cat", ["cats", "car", "dog"]) is None
    assert alike("é", ["e"]) is None


def test_a_class_with_a_similar_name_is_made_and_reported(client, project):
    def made(name):
        body = {"kind": "class", "data": {"name": name}, "client": name}
        return send(client, body).json()

    assert made("cat")["alike"] is None
    assert made("Cat")["alike"] == "cat"
    assert {"cat", "Cat"} <= set(project.state.classes), "nothing is lost"
    assert made("Left")["alike"] == "left"
