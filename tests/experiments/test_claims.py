import csv
import io
from typing import Any

import pytest
from hand_made import hand_made, of_paper

from poise.experiments.paper.claims import Claim, claims_csv, differences, judge
from poise.experiments.paper.experiments import EXPERIMENTS
from poise.experiments.paper.verdicts import Verdict
from poise.experiments.records import Records

HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED
NOT_RUN, UNTESTABLE = Verdict.NOT_RUN, Verdict.UNTESTABLE

PAPERS = (
    "norm",
    "norm-decay",
    "sm",
    "random",
    "mcvopt-truncated",
    "vopt-truncated",
    "sigmaopt-truncated",
)
POLICIES = ("norm-kde", "norm-proportional", "norm-decay-kde", "norm-decay-proportional")


def claims(records: Records, number: int, words: str = "") -> list[Claim]:
    """Claims with that number about what was run."""
    name = records.experiment.name
    return [
        claim
        for claim in judge([records])
        if (claim.number, claim.about) == (number, name) and words in claim.statement
    ]


def verdict(records: Records, number: int, words: str) -> Verdict:
    (claim,) = claims(records, number, words)
    return claim.verdict


def test_there_are_five_verdicts() -> None:
    words = [verdict.value for verdict in Verdict]
    assert words == ["holds", "does not hold", "undecided", "not run", "not testable here"]


def test_without_records_nothing_is_run() -> None:
    found = judge([])
    assert {claim.verdict for claim in found} == {NOT_RUN}
    assert {claim.number for claim in found} == {1, 2, 3, 4, 5, 6, 7}
    assert {claim.about for claim in found} >= set(EXPERIMENTS) - {"models"}
    assert all(claim.numbers and claim.rule and claim.statement for claim in found)


@pytest.mark.parametrize(("level", "expected"), [(0.61, HOLDS), (0.645, HOLDS), (0.8, FAILS)])
def test_sm_on_blobs(level: float, expected: Verdict) -> None:
    records = hand_made(of_paper("blobs", "sm", "norm"), {"sm": level, "norm": 0.95})
    (claim,) = claims(records, 1, "62%")
    assert claim.verdict is expected
    assert f"{100 * level:.0f}" in claim.numbers


@pytest.mark.parametrize("level", [0.62, 0.68])
def test_trials_that_vary_much_do_not_tell(level: float) -> None:
    records = hand_made(of_paper("blobs", "sm", "norm"), {"sm": level}, noise={"sm": 50.0})
    assert verdict(records, 1, "62%") is UNDECIDED


def test_what_cannot_run_here_has_its_reason() -> None:
    found = judge([], problems={"isolet": "it needs poise[x]"})
    told = [claim for claim in found if claim.verdict is UNTESTABLE]
    assert [claim for claim in found if claim.about == "isolet"] == told
    assert {claim.numbers for claim in told} == {"It needs poise[x]."}


@pytest.mark.parametrize(("explored", "expected"), [(1.0, HOLDS), (0.9, FAILS)])
def test_every_cluster_of_blobs(explored: float, expected: Verdict) -> None:
    experiment = of_paper("blobs", "norm", "norm-decay")
    records = hand_made(experiment, {}, explored={"norm-decay": explored})
    assert verdict(records, 1, "every cluster") is expected


@pytest.mark.parametrize(
    ("norm", "expected"), [(0.95, HOLDS), (0.985, UNDECIDED), (0.995, FAILS)], ids=str
)
def test_norm_levels_off_on_box(norm: float, expected: Verdict) -> None:
    experiment = of_paper("box", "norm", "norm-decay", "sm")
    records = hand_made(experiment, {"norm": norm, "norm-decay": 0.985, "sm": 0.985})
    assert [claim.verdict for claim in claims(records, 2)] == [expected] * 2


@pytest.mark.parametrize(("sm", "expected"), [(0.4, HOLDS), (0.7, FAILS)])
def test_sm_is_worse_than_random_on_isolet(sm: float, expected: Verdict) -> None:
    experiment = of_paper("isolet", "sm", "sm-laplace", "random")
    records = hand_made(experiment, {"sm": sm, "sm-laplace": 0.4, "random": 0.6})
    assert verdict(records, 3, "in PWLL") is expected
    assert verdict(records, 3, "in Laplace") is HOLDS


@pytest.mark.parametrize(
    ("decay", "accuracy", "explored", "exploration"),
    [(0.71, HOLDS, 0.9, HOLDS), (0.60, FAILS, 0.6, FAILS), (0.80, FAILS, 0.65, FAILS)],
    ids=str,
)
def test_norm_with_decay_and_vopt_on_isolet(
    decay: float, accuracy: Verdict, explored: float, exploration: Verdict
) -> None:
    records = hand_made(
        of_paper("isolet", "norm-decay", "vopt"),
        {"norm-decay": decay, "vopt": 0.7},
        explored={"norm-decay": explored, "vopt": 0.7},
    )
    assert verdict(records, 3, "accurate") is accuracy
    assert verdict(records, 3, "faster") is exploration


@pytest.mark.parametrize("level", [0.495, 0.505])
@pytest.mark.parametrize("trials", [4, 10])
def test_a_difference_without_confidence(trials: int, level: float) -> None:
    """An interval that contains 0 can neither refute nor confirm a claim."""
    experiment = of_paper("isolet", "sm", "random", trials=trials)
    records = hand_made(experiment, {"sm": level, "random": 0.5}, noise={"sm": 25.0})
    (claim,) = claims(records, 3, "in PWLL")
    assert claim.verdict is UNDECIDED
    assert f"{trials} trials" in claim.numbers


@pytest.mark.parametrize("trials", [4, 10])
@pytest.mark.parametrize("level", [0.47, 0.5])
def test_methods_that_differ_by_chance(trials: int, level: float) -> None:
    experiment = of_paper("isolet", "norm-decay", "vopt", trials=trials)
    levels = {"norm-decay": level, "vopt": 0.5}
    records = hand_made(experiment, levels, noise={"norm-decay": 25.0})
    assert verdict(records, 3, "accurate") is UNDECIDED


def large(levels: dict[str, float], name: str = "mnist", **options: Any) -> Records:
    methods = options.pop("methods", PAPERS)
    trials = options.pop("trials", 4)
    return hand_made(of_paper(name, *methods, trials=trials), levels, **options)


BEST = {"norm": 0.90, "norm-decay": 0.89}
#: The others find fewer clusters than the proposed methods.
FEWER = dict.fromkeys(PAPERS[2:], 0.7)


@pytest.mark.parametrize("name", ["mnist", "fashionmnist-imb", "emnist-vcd"])
def test_norm_and_its_decay_are_best(name: str) -> None:
    found = claims(large(BEST, name, explored=FEWER), 4)
    assert [claim.verdict for claim in found] == [HOLDS, HOLDS]
    for claim in found:
        assert claim.numbers.count("is ahead of every rival; the closest is") == 2


def test_a_method_that_is_not_ahead_is_not_best() -> None:
    """A tie, and a lead that may be chance: not shown to be worse, and no more than that."""
    accuracy, exploration = claims(large(BEST | {"sm": 0.90}), 4)
    assert accuracy.verdict is FAILS  # of the other method, which is a point lower
    assert "Norm is not shown to be worse than any rival, but it is not ahead of SM" in (
        accuracy.numbers
    )
    assert "Norm, τ → 0 is behind SM: a difference of −1.00 points" in accuracy.numbers
    assert exploration.verdict is UNDECIDED
    assert exploration.numbers.count("is not shown to be worse than any rival") == 2


def test_a_rival_above_either_method_refutes_the_claim() -> None:
    records = large(BEST | {"vopt-truncated": 0.897}, explored={"sm": 1, "norm": 0.8})
    found = claims(records, 4)
    assert [claim.verdict for claim in found] == [FAILS, FAILS]
    assert "Norm, τ → 0 is behind V-Opt, truncated: a difference of −0.7" in found[0].numbers


def test_a_rival_ahead_by_chance_leaves_the_claim_open() -> None:
    records = large(BEST | {"sm": 0.92}, noise={"sm": 25.0})
    (claim,) = claims(records, 4, "accuracy")
    assert claim.verdict is UNDECIDED
    assert claim.numbers.startswith("Areas: Norm 90")
    assert "but it is not ahead of SM: a difference of −2.00 points (" in claim.numbers


def test_methods_that_the_paper_leaves_out_are_not_rivals() -> None:
    records = large(BEST | {"probcover": 0.99}, methods=(*PAPERS, "probcover"))
    assert verdict(records, 4, "accuracy") is HOLDS


def test_without_rivals_the_claim_is_not_tested() -> None:
    assert verdict(large(BEST, methods=("norm", "norm-decay")), 4, "accuracy") is NOT_RUN


@pytest.mark.parametrize(("other", "level"), [("vopt", 0.8), ("vopt-subset", 0.8)])
def test_the_truncated_form_is_poor(other: str, level: float) -> None:
    methods = (*PAPERS, other)
    poor = large({"vopt-truncated": 0.4, other: level}, methods=methods)
    assert verdict(poor, 5, "poor") is HOLDS
    good = large({"vopt-truncated": 0.9, other: level}, methods=methods)
    assert verdict(good, 5, "poor") is FAILS
    assert verdict(large({}), 5, "poor") is NOT_RUN


@pytest.mark.parametrize(("share", "expected"), [(0.7, HOLDS), (0.0, FAILS)])
def test_the_truncated_form_oversamples(share: float, expected: Verdict) -> None:
    records = large({}, one_cluster={"vopt-truncated": share})
    assert verdict(records, 5, "too often") is expected


@pytest.mark.parametrize(
    ("level", "noise", "expected"),
    [
        (0.904, 1.0, HOLDS),
        (0.95, 1.0, FAILS),
        (0.85, 1.0, FAILS),
        (0.93, 15.0, UNDECIDED),
        (0.90, 15.0, UNDECIDED),
    ],
    ids=str,
)
def test_policies_change_little(level: float, noise: float, expected: Verdict) -> None:
    methods = ("norm", "norm-decay", *POLICIES)
    levels = dict.fromkeys(methods, 0.9) | {"norm-kde": level}
    records = large(levels, methods=methods, noise={"norm-kde": noise})
    assert verdict(records, 6, "change little") is expected


@pytest.mark.parametrize(
    ("seconds", "expected", "beaten"),
    [(300, HOLDS, False), (5.25, FAILS, True), (4000, FAILS, False)],
)
def test_the_time_on_500_candidates(seconds: float, expected: Verdict, beaten: bool) -> None:
    (claim,) = [one for one in judge([], {"vopt-subset": seconds}) if one.number == 7]
    assert claim.verdict is expected
    assert claim.beaten is beaten
    assert ("poise is 69 times as fast" in claim.numbers) is beaten
    assert claim.about == "V-Opt (Full), 500 points"
    assert claim.numbers.startswith(f"{seconds:,g} seconds")
    assert claim.differs


def test_the_time_on_500_candidates_comes_from_the_records_by_default() -> None:
    records = hand_made(of_paper("mnist", "vopt-subset"), {})
    (claim,) = [one for one in judge([records]) if one.number == 7]
    assert claim.verdict is FAILS
    assert claim.numbers.startswith("0.25 seconds")


def test_an_interrupted_run_proves_nothing() -> None:
    records = large(BEST, unfinished=(("mcvopt-truncated", 3),))
    (claim,) = claims(records, 4, "accuracy")
    assert claim.verdict is NOT_RUN
    assert claim.numbers == "3 of 4 trials of MCV-Opt are finished."


def test_one_trial_proves_nothing() -> None:
    (claim,) = claims(large(BEST, trials=1), 4, "accuracy")
    assert claim.verdict is UNDECIDED
    assert "one trial" in claim.numbers.lower()


def test_differences_from_the_paper_are_listed() -> None:
    quick = large(BEST, "emnist", trials=3, note="a class-balanced part")
    said = differences(quick, rivals=True)
    assert said.startswith("10 questions, the paper has 400; 3 trials, the paper has 10")
    assert "a class-balanced part" in said
    assert "autoencoder is not" in said
    assert claims(quick, 4)[0].differs == said
    own = large(BEST, "mnist-imb", note="embedded with vae, the authors' own points")
    assert "autoencoder" not in differences(own)
    whole = hand_made(EXPERIMENTS["blobs"].only("norm"), {})
    assert differences(whole) == ""


def test_the_verdicts_are_a_table_too() -> None:
    found = judge([large(BEST, explored=FEWER)], {"vopt-subset": 5.25})
    rows = list(csv.DictReader(io.StringIO(claims_csv(found))))
    assert [row["verdict"] for row in rows] == [claim.verdict.value for claim in found]
    assert [row["number"] for row in rows if row["beaten"] == "True"] == ["7"]


def test_what_was_left_out_of_a_comparison_is_said() -> None:
    (claim,) = claims(large(BEST), 4, "accuracy")
    assert "without V-Opt (Full), 500 points and Sigma-Opt (Full), 500 points" in claim.differs
    methods = ("norm", "norm-decay", *POLICIES)
    (other,) = claims(large(dict.fromkeys(methods, 0.9), methods=methods), 6)
    assert "without" not in other.differs
    whole = large(BEST, methods=(*PAPERS, "vopt-subset", "sigmaopt-subset"))
    assert "without" not in claims(whole, 4, "accuracy")[0].differs
