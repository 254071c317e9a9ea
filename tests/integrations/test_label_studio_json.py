"""Label Studio's JSON: what is written is read back, and what is odd is refused or left out."""

import json
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import InputError
from poise.integrations.label_studio_json import (
    Answer,
    Tags,
    annotation,
    labelling_config,
    local_file,
    prediction,
    read_task,
    tags_for,
    task,
)

names = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)
TAGS = tags_for("image")


@given(names, names, st.lists(st.tuples(names, names), max_size=3, unique_by=lambda pair: pair[1]))
def test_a_task_is_read_as_it_was_written(item, source, given_answers):
    answers = [
        Answer(label, by, f"2026-01-0{day + 1}T10:00:00+00:00")
        for day, (label, by) in enumerate(given_answers)
    ]
    text = json.dumps(task(item, source, "/a.jpg", TAGS, answers, ("cat", 0.75)))
    found = read_task(json.loads(text))
    assert (found.item, found.source) == (item, source)
    assert found.answers == tuple(answers)
    assert found.data["image"] == "/a.jpg"


@given(st.dictionaries(names, st.sampled_from(["", "1", '"', "<"]), min_size=1, max_size=5))
def test_the_configuration_has_every_class_whatever_its_name(classes):
    view = ElementTree.fromstring(labelling_config(classes, TAGS))
    choices = view.findall("Choices/Choice")
    assert [choice.get("value") for choice in choices] == list(classes)
    assert [choice.get("hotkey", "") for choice in choices] == list(classes.values())
    assert view.find("Image").get("name") == view.find("Choices").get("toName")
    assert view.find("Image").get("value") == "$image"


def test_results_name_the_tags_of_the_configuration_and_differ_in_id():
    tags = Tags("kind", "picture", "image")
    made = task("i", "a", "/a", tags, [Answer("cat", "Ada"), Answer("dog", "Bo")], ("cat", None))
    results = [one["result"][0] for one in made["annotations"] + made["predictions"]]
    assert {(one["from_name"], one["to_name"]) for one in results} == {("kind", "picture")}
    assert len({one["id"] for one in results}) == 3
    assert "score" not in made["predictions"][0]


def test_a_prediction_has_its_score_and_no_annotation_names_a_user():
    assert prediction("i", "cat", 0.5, TAGS)["score"] == 0.5
    assert "completed_by" not in annotation("i", Answer("cat", "Ada"), TAGS)


def test_an_answer_that_was_changed_in_label_studio_is_its_users():
    made = task("i", "a", "/a", TAGS, [Answer("cat", "Ada", "2026-01-01T10:00:00Z")])
    made["annotations"][0]["result"][0]["value"]["choices"] = ["dog"]
    made["annotations"][0] |= {
        "completed_by": {"id": 3, "email": "bo@example.org"},
        "created_at": "2026-01-02T10:00:00Z",
        "updated_at": "2026-01-03T10:00:00Z",
    }
    assert read_task(made).answers == (Answer("dog", "bo@example.org", "2026-01-03T10:00:00Z"),)


def test_the_newest_answer_comes_last():
    made = task("i", "a", "/a", TAGS)
    for user, time, label in (
        (4, "2026-01-03T10:00:00+02:00", "new"),
        (5, "2026-01-03T07:00:00Z", "old"),
        (6, None, "undated"),
    ):
        result = annotation("i", Answer(label), TAGS)["result"]
        del result[0]["meta"]
        made["annotations"].append({"result": result, "completed_by": user, "created_at": time})
    assert [(a.label, a.by) for a in read_task(made).answers] == [
        ("undated", "user 6"),
        ("old", "user 5"),
        ("new", "user 4"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"was_cancelled": True},
        {"result": None},
        {"result": [7]},
        {"result": [{"type": "choices", "value": {"choices": ["a", "b"]}}]},
        {"result": [{"type": "choices", "value": {"choices": [1]}}]},
        {"result": [{"type": "choices", "value": 3}]},
        {"result": [{"type": "rectanglelabels", "value": {"choices": ["a"]}}]},
    ],
)
def test_what_is_no_single_choice_is_left_out(change):
    made = task("i", "a", "/a", TAGS)
    made["annotations"] = [annotation("i", Answer("cat"), TAGS) | change]
    assert read_task(made).answers == ()


def test_only_the_tag_that_was_asked_for_counts():
    made = task("i", "a", "/a", TAGS, [Answer("cat")])
    assert read_task(made, "label").answers == (Answer("cat"),)
    assert read_task(made, "other").answers == ()


@pytest.mark.parametrize("odd", [None, 3, [], {"data": "x"}, {"data": {}, "annotations": 3}])
def test_what_is_no_task_is_refused(odd):
    with pytest.raises(InputError, match="Label Studio"):
        read_task(odd)


def test_a_task_without_an_id_is_read_without_one():
    assert read_task({"data": {"image": "/a.jpg", "poise_id": 7}}).item == ""


def test_the_address_of_a_file_is_quoted():
    assert local_file("my photos/ä&b.jpg") == "/data/local-files/?d=my%20photos/%C3%A4%26b.jpg"
