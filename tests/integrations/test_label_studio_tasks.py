"""Labelling configurations and tasks of Label Studio: which are read, and how answers count."""

import math

import pytest

from poise.errors import InputError
from poise.integrations.label_studio.config import Question, read_config
from poise.integrations.label_studio.planning import differs
from poise.integrations.label_studio.tasks import Predicted, read
from poise.integrations.label_studio_json import Tags

TEXT = '<Text name="text" value="$text"/>'
QUESTION = Question(Tags("topic", "item", "text"), False, ("left", "right"))


def choices(attributes: str = "", inside: str = "<Choice value='a'/><Choice value='b'/>") -> str:
    return f"<Choices name='topic' toName='text' {attributes}>{inside}</Choices>"


def over_text(attributes: str = "", **inside: str) -> str:
    return f"<View>{TEXT}{choices(attributes, **inside)}</View>"


def annotation(label, by=1, time="2026-01-01T00:00:00Z", **fields):
    result = {"type": "choices", "from_name": "topic", "value": {"choices": [label]}}
    return {"result": [result], "completed_by": by, "updated_at": time} | fields


def label_of(*annotations):
    return read({"id": 1, "data": {"text": "x"}, "annotations": list(annotations)}, QUESTION).label


def test_the_single_choice_is_found_among_other_tags():
    config = f"""<?xml version="1.0"?>
    <View><!-- a note --><Style>.a {{ color: red }}</Style>
      <Header value="Which?"/><Image name="photo" value="$url"/>
      <Choices name="kind" toName="photo" showInline="true">
        <Choice value="cat" alias="c"/><View><Choice value="dog"/></View>
      </Choices>
      {TEXT}<TextArea name="why" toName="text"/>
    </View>"""
    tags = Tags("kind", "photo", "url")
    assert read_config(config) == Question(tags, True, ("c", "dog"))


def test_one_of_several_choices_is_named():
    other = '<Choices name="mood" toName="text"><Choice value="sad"/></Choices>'
    config = f"<View>{TEXT}{choices()}{other}</View>"
    assert read_config(config, "mood").classes == ("sad",)
    with pytest.raises(InputError, match="choose one with --control, of topic, mood"):
        read_config(config)
    with pytest.raises(InputError, match="there is no Choices 'moods': choose one of topic, mood"):
        read_config(config, "moods")


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("<View>", "is no XML"),
        ("", "is no XML"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><View/>", "has a DOCTYPE"),
        ("<!doctype a [<!ENTITY b 'c'>]><View/>", "has a DOCTYPE"),
        (" " * (1 << 21), "too long"),
        (f"<View>{TEXT}</View>", "has no Choices"),
        (over_text("choice='multiple'"), "allows several classes per task"),
        (over_text("perRegion='true'"), "is for regions"),
        (f"<View>{choices()}</View>", "no tag is called so"),
        (f"<View><Audio name='text' value='$a'/>{choices()}</View>", "is about a tag Audio"),
        (f"<View><Text name='text' value='Hi'/>{choices()}</View>", r"no value such as \$text"),
        (over_text(inside=""), "needs a list of different classes"),
        (over_text("value='$options'", inside=""), "no classes that come with the tasks"),
        (over_text(inside="<Choice value='a'/><Choice value='a'/>"), "different classes"),
        (over_text(inside="<Choice value='a'><Choice value='b'/></Choice>"), "a tree of classes"),
    ],
)
def test_other_configurations_are_refused_in_one_line(config, words):
    with pytest.raises(InputError, match=words) as e:
        read_config(config)
    assert "\n" not in str(e.value)


def test_most_people_decide_and_then_the_newest():
    early, late = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00+00:00"
    assert label_of() is None
    assert label_of(annotation("left")) == "left"
    left, right = annotation("left", 1), annotation("right", 2)
    assert label_of(left, right, annotation("left", 3)) == "left"
    assert label_of(annotation("left", 1, early), annotation("right", 2, late)) == "right"
    assert label_of(annotation("left", 1, late), annotation("right", 2, early)) == "left"
    assert label_of(annotation("left", 1, "no time"), annotation("right", 2, early)) == "right"


def test_people_count_once_with_their_newest_answer():
    days = [f"2026-01-0{day}T00:00:00Z" for day in (1, 2, 3, 4)]
    first = [annotation("left", 1, days[0]), annotation("left", 1, days[1])]
    assert label_of(*first, annotation("right", 2, days[2])) == "right"
    changed = [annotation("left", 1, days[0]), annotation("right", 2, days[1])]
    assert label_of(*changed, annotation("right", 1, days[2])) == "right"


def test_ground_truth_overrules_the_others():
    truth = annotation("right", 3, "2020-01-01T00:00:00Z", ground_truth=True)
    assert label_of(annotation("left", 1), annotation("left", 2), truth) == "right"
    unknown = annotation("gone", 3, ground_truth=True)
    assert label_of(annotation("left", 1), unknown) == "left"


def test_skipped_and_unknown_answers_do_not_count():
    skipped = annotation("left", was_cancelled=True)
    task = {"id": 1, "data": {"text": "x"}, "annotations": [skipped]}
    assert read(task, QUESTION).label is None
    assert read(task, QUESTION).skipped
    task["annotations"].append(annotation("right", 2))
    assert read(task, QUESTION).label == "right"
    assert not read(task, QUESTION).skipped
    assert label_of(annotation("renamed")) is None
    other = annotation("left")
    other["result"][0]["from_name"] = "mood"
    assert label_of(other) is None


@pytest.mark.parametrize(
    "task",
    [
        {},
        {"data": None},
        {"data": []},
        {"data": {}},
        {"data": {"text": None}},
        {"data": {"text": " \n"}},
        {"data": {"text": ["x"]}},
        {"data": {"text": True}},
        {"data": {"text": "x"}, "annotations": 3},
        {"data": {"text": "x"}, "annotations": ["left"]},
    ],
)
def test_a_task_of_another_form_shows_nothing(task):
    found = read({"id": 1, **task}, QUESTION)
    assert (found.shown, found.label, found.skipped) == (None, None, False)


@pytest.mark.parametrize("time", [None, 3, "yesterday", "0001-01-01T00:00:00+23:00", ""])
def test_odd_times_and_predictions_are_passed_over(time):
    given = [
        None,
        {"id": "1", "model_version": "poise"},
        {"id": 2, "model_version": ["poise"], "score": 0.5},
    ]
    task = {"id": 1, "data": {"text": 3.5}, "predictions": given, "updated_at": time}
    found = read(task | {"annotations": None}, QUESTION)
    assert found.shown == "3.5"
    assert found.predictions == {}
    assert found.others
    assert found.updated is None


def test_a_text_with_half_a_character_stays_a_text():
    assert read({"id": 1, "data": {"text": "a\ud800"}}, QUESTION).shown == "a?"


def test_a_text_without_a_key_is_found():
    assert read({"id": 1, "data": {"$undefined$": "hello"}}, QUESTION).shown == "hello"


@pytest.mark.parametrize(
    ("score", "result"),
    [
        (None, []),
        (True, []),
        ("0.5", []),
        (10**400, []),
        (math.nan, []),
        (-0.1, []),
        (0.5, None),
        (0.5, {"choices": ["left"]}),
        (0.5, [{"type": "rating"}]),
    ],
)
def test_a_prediction_that_poise_would_not_write_is_replaced(score, result):
    prediction = {"id": 7, "model_version": "poise", "score": score, "result": result}
    found = read({"id": 1, "data": {"text": "x"}, "predictions": [prediction]}, QUESTION)
    for wanted in (Predicted(None, 0.5), Predicted("left", 0.5)):
        assert differs(found.predictions[7], wanted)


@pytest.mark.parametrize(
    ("now", "wanted", "expected"),
    [
        (("left", 0.5), ("left", 0.5), False),
        (("left", 0.5), ("right", 0.5), True),
        ((None, 0.5), ("right", 0.5), True),
        (("left", 0.5), ("left", 0.54), False),
        (("left", 0.5), ("left", 0.56), True),
        (("left", 0.005), ("left", 0.01), True),
        (("left", 0.005), ("left", 0.005), False),
        (("left", 0.095), ("left", 0.12), True),
        (("left", 0.12), ("left", 0.095), True),
    ],
)
def test_small_changes_cost_no_request(now, wanted, expected):
    assert differs(Predicted(*now), Predicted(*wanted)) is expected
