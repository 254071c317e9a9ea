"""Out and in again: nothing lost, nothing invented, whatever the names."""

import pytest
from crowds import answer, make_project
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.errors import InputError
from poise.studio.events import Event
from poise.studio.exchange import FORMATS, read, rows, take_in, take_in_known, written

names = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)
people = names.filter(lambda name: name.lower() not in ("model", "person", "source"))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(names, st.one_of(st.just(""), people)), min_size=1, max_size=8))
def test_every_format_is_lossless(tmp_path_factory, given_labels):
    project = make_project(tmp_path_factory.mktemp("out"))
    for place, (label, who) in enumerate(given_labels):
        project.record(Event("class", {"name": label}))
        answer(project, f"item{place}", who, label=label)
    exported = rows(project, None)
    for kind in FORMATS:
        other = make_project(tmp_path_factory.mktemp("in"))
        found = take_in(other, read(written(exported, kind), f"labels.{kind}"))
        assert found.imported == len(given_labels)
        assert rows(other, None) == exported
        other.close()
    project.close()


def test_rows_are_known_by_source_if_ids_differ(project):
    text = "source,label\nrow 3,left\nrow 999,left\n"
    found = take_in(project, read(text.encode(), "mine.csv"))
    assert (found.imported, found.unknown) == (1, 1)
    assert project.state.labels["item2"].label == "left"


def test_labels_of_the_source_are_taken_once(tmp_path):
    project = make_project(tmp_path, known={"item0": "left", "item40": "right"})
    assert take_in_known(project) == 2
    assert [row[3] for row in rows(project, None)] == ["source", "source"]
    project.record(Event("clear", {"items": ["item0"]}))
    assert take_in_known(project) == 0, "what a person took away stays away"
    assert list(project.state.labels) == ["item40"]
    project.close()


def test_names_that_mean_something_else_are_refused(project):
    with pytest.raises(InputError, match="take another name"):
        take_in(project, [{"id": "item0", "label": "left", "by": "Model"}])
