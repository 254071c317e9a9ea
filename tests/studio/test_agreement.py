"""Agreement between people, against published examples and a count over all pairs."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from crowds import answer, asked

from poise.studio.log.agreement import agreement, krippendorff_alpha
from poise.studio.log.events import Event
from poise.studio.web.review import Wanted, review

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), sections B and C: two observers
# and nominal values; four observers, nominal values, some missing.
TWO = ["ab", "aa", "bb", "bb", "db", "cc", "cc", "cc", "ee", "dd", "dd", "ad"]
FOUR = """
    123321412...
    1233224125.3
    .3332342251.
    12332441251.
"""


def by_unit(table):
    rows = ["".join(row.split()) for row in table.strip().splitlines()]
    return [[value for value in unit if value != "."] for unit in zip(*rows, strict=True)]


def pairs_alpha(units):
    """One minus the disagreement of pairs within units over that of all pairs."""
    units = [list(values) for values in units if len(values) > 1]
    everything = [value for values in units for value in values]
    n = len(everything)
    observed = sum(
        Fraction(sum(a != b for a, b in permutations(values, 2)), len(values) - 1)
        for values in units
    )
    expected = Fraction(sum(a != b for a, b in permutations(everything, 2)), n - 1)
    return None if not expected else float(1 - observed / expected)


def test_the_published_examples():
    assert krippendorff_alpha(TWO) == pytest.approx(0.692, abs=5e-4)
    assert krippendorff_alpha(by_unit(FOUR)) == pytest.approx(0.743, abs=5e-4)


@pytest.mark.parametrize("seed", range(20))
def test_alpha_equals_a_count_over_all_pairs(seed):
    rng = np.random.default_rng(seed)
    units = []
    for _ in range(15):
        true = rng.integers(4)
        answers = np.where(rng.random(5) < 0.7, true, rng.integers(4, size=5))
        units.append([str(one) for one in answers[: rng.integers(0, 6)]])
    assert krippendorff_alpha(units) == pytest.approx(pairs_alpha(units))


def test_alpha_at_its_limits():
    assert krippendorff_alpha([["a", "a"], ["b", "b"], ["a"]]) == 1.0
    assert krippendorff_alpha([["a", "b"], ["b", "a"]]) < 0
    assert krippendorff_alpha([["a", "a"], ["a", "a"]]) is None, "one class: nothing to agree about"
    assert krippendorff_alpha([["a"], []]) is None


def test_items_that_one_person_labelled_do_not_count(project):
    answer(project, asked(project, "anna"), "anna")
    assert agreement(project.state.votes) is None
    assert review(project, Wanted(), None, None)["agreement"] is None


def test_review_shows_agreement_and_lists_what_people_disagree_about(project):
    project.record(Event("setting", {"name": "overlap", "value": 2}))
    answers = {}
    for number in range(4):
        item = asked(project, "anna")
        answers[item] = "left" if number % 2 else "right"
        answer(project, item, "anna", label=answers[item])
    different = list(answers)[1]
    for _ in range(4):
        item = asked(project, "ben")
        label = answers[item] if item != different else "right"
        answer(project, item, "ben", label=label)
    shown = review(project, Wanted(show="disagreed"), None, None)
    assert [row["item"] for row in shown["rows"]] == [different]
    assert shown["rows"][0]["votes"] == {"anna": "left", "ben": "right"}
    found = shown["agreement"]
    assert (found["items"], found["people"], found["disagreed"]) == (4, 2, 1)
    units = [[vote.label for vote in given.values()] for given in project.state.votes.values()]
    assert found["alpha"] == pytest.approx(pairs_alpha(units))
    assert shown["said"].startswith("Agreement of 2 people on 4 items: Krippendorff's alpha 0.5")
    assert shown["said"].endswith("different labels on 1.")


@pytest.mark.parametrize("wanted", [2, 3])
def test_no_more_people_are_asked_than_the_overlap(project, wanted):
    project.record(Event("setting", {"name": "overlap", "value": wanted}))
    item = asked(project, "anna")
    answer(project, item, "anna", label="left")
    also = [who for who in ("ben", "cleo", "dan", "eve") if asked(project, who) == item]
    assert len(also) == wanted - 1
