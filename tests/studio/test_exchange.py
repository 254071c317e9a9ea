"""Export and import: nothing is lost or invented, whatever the names."""

import csv
import io
import json
import re

import pytest
from crowds import answer, make_project
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.errors import InputError
from poise.studio.exchange import FORMATS, read, rows, take_in, take_in_known, written
from poise.studio.log.events import Event

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


@given(st.text(st.sampled_from("'=+-@\t\r\n＝1.,eéa \""), max_size=6))
def test_no_cell_is_a_formula_and_import_restores_it(text):
    content = written([["item0", text, "left"]], "csv", ("id", "source", "label"))
    (cell,) = (row["source"] for row in csv.DictReader(io.StringIO(content.decode(), newline="")))
    number = re.fullmatch(r"[+-]?\d+([.,]\d+)?", cell, re.ASCII)
    assert number or not cell.startswith(tuple("=+-@\t\r\n＝"))
    assert read(content, "x.csv")[0]["source"] == text
    exact = written([["item0", text, "left"]], "csv", ("id", "source", "label"), exact=True)
    (cell,) = (row["source"] for row in csv.DictReader(io.StringIO(exact.decode(), newline="")))
    assert cell == text


@pytest.mark.parametrize(
    ("label", "cell"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("@SUM(1)", "'@SUM(1)"),
        ("-1", "-1"),
        ("+0.5", "+0.5"),
        ("-1+cmd|' /C calc'!A0", "'-1+cmd|' /C calc'!A0"),
        ("'tis", "'tis"),
        ("''=x", "'''=x"),
    ],
)
def test_only_csv_marks_formulas(project, label, cell):
    project.record(Event("class", {"name": label}))
    answer(project, "item0", label=label)
    found = rows(project, None)
    content = written(found, "csv").decode()
    assert next(csv.DictReader(io.StringIO(content)))["label"] == cell
    assert json.loads(written(found, "jsonl"))["label"] == label


def test_rows_are_recognised_by_source_if_ids_differ(project):
    text = "source,label\nrow 3,left\nrow 999,left\n"
    found = take_in(project, read(text.encode(), "mine.csv"))
    assert (found.imported, found.unknown) == (1, 1)
    assert project.state.labels["item2"].label == "left"


def test_labels_of_the_source_are_recorded_once(tmp_path):
    project = make_project(tmp_path, known={"item0": "left", "item40": "right"})
    assert take_in_known(project) == 2
    assert [row[3] for row in rows(project, None)] == ["source", "source"]
    project.record(Event("clear", {"items": ["item0"]}))
    assert take_in_known(project) == 0, "what a person took away stays away"
    assert list(project.state.labels) == ["item40"]
    project.close()


def test_names_with_another_meaning_are_refused(project):
    with pytest.raises(InputError, match="choose another name"):
        take_in(project, [{"id": "item0", "label": "left", "by": "Model"}])
