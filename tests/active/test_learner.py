"""The Learner: ask, tell, and taking things back."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poise
from poise.errors import (
    GraphError,
    InputError,
    LabelError,
    NodeIndexError,
    PoolExhausted,
    UnknownNameError,
)
from poise.models import Labels, pwll


def names(y, nodes):
    return [f"class {y[i]}" for i in nodes]


def label_some(learner, y, n_queries):
    for _ in range(n_queries):
        (i,) = learner.ask()
        learner.tell(i, f"class {y[i]}")


def test_scores_are_those_of_the_model(blobs):
    graph, y = blobs
    learner = poise.Learner(graph, {0: "class 0"}, acquisition="norm", tau=1e-2, predictor="pwll")
    label_some(learner, y, 6)
    labels = Labels.of(learner.labels, graph.n_nodes, learner.classes)
    np.testing.assert_allclose(learner.scores, pwll(graph, labels, tau=1e-2).scores, atol=2e-6)
    predicted = pwll(graph, labels, tau=0.0)
    np.testing.assert_allclose(learner.result.probabilities, predicted.probabilities, atol=2e-5)
    assert (learner.predictions == np.array(learner.classes)[predicted.codes]).all()


def test_query_is_the_smallest_norm(blobs):
    graph, _ = blobs
    learner = poise.Learner(graph, {0: "a", 50: "b"}, acquisition="norm")
    free = np.ones(graph.n_nodes, dtype=bool)
    free[[0, 50]] = False
    expected = np.flatnonzero(free)[np.argmin(learner.norms[free])]
    assert learner.ask().tolist() == [expected]


def test_accuracy_is_high_after_a_few_answers(blobs):
    graph, y = blobs
    learner = poise.Learner(graph, {})
    label_some(learner, y, 15)
    assert (learner.predictions == names(y, range(120))).mean() > 0.9


def test_tell_of_an_asked_node_solves_nothing_and_is_exact(blobs, counted):
    graph, _y = blobs
    learner = poise.Learner(graph, {0: "class 0", 50: "class 1"}, predict_tau=None)
    (i,) = learner.ask()
    learner.prepare()
    before = counted.solves
    learner.tell(i, "class 2")
    merged = learner.scores
    (j,) = learner.ask()
    assert counted.solves == before
    fresh = poise.Learner(graph, learner.labels, classes=learner.classes)
    np.testing.assert_allclose(merged, fresh.scores, atol=2e-6)
    assert j == fresh.ask()[0]


def test_another_tau_or_a_changed_answer_needs_no_poisson_solve(blobs, counted):
    graph, _ = blobs
    learner = poise.Learner(
        graph, {0: "a", 50: "b", 100: "b"}, acquisition="norm", predictor="pwll"
    )
    _ = learner.scores
    before = counted.solves
    _ = learner.predictions  # tau = 0 instead of 1e-3
    assert counted.solves == before + 1
    learner.relabel(100, "a")
    _ = learner.scores
    assert counted.solves == before + 2
    fresh = poise.Learner(graph, {0: "a", 50: "b", 100: "a"}, acquisition="norm")
    assert (learner.scores == fresh.scores).all()


def test_undo_of_a_prepared_answer_solves_nothing(blobs, counted):
    graph, _ = blobs
    learner = poise.Learner(graph, {0: "a", 50: "b"}, predict_tau=None)
    (i,) = learner.ask()
    learner.prepare()
    before_scores = learner.scores
    before = counted.solves
    learner.tell(i, "a")
    learner.undo()
    assert counted.solves == before
    assert learner.pending == (i,)
    assert (learner.scores == before_scores).all()
    learner.relabel(0, "b")
    assert learner.labels[0] == "b"


def test_prepared_or_not_asks_the_same(blobs):
    graph, y = blobs
    plain = poise.Learner(graph, {0: "class 0"})
    prepared = poise.Learner(graph, {0: "class 0"})
    for _ in range(12):
        (i,) = plain.ask()
        (j,) = prepared.ask()
        assert i == j
        prepared.prepare()
        plain.tell(i, f"class {y[i]}")
        prepared.tell(j, f"class {y[j]}")
        assert (plain.scores == prepared.scores).all()


def test_prepare_in_a_background_thread(blobs):
    graph, y = blobs
    quiet = poise.Learner(graph, {0: "class 0"})
    busy = poise.Learner(graph, {0: "class 0"})
    for _ in range(5):
        (i,) = quiet.ask()
        (j,) = busy.ask()
        worker = threading.Thread(target=busy.prepare)
        worker.start()
        busy.tell(j, f"class {y[j]}")
        worker.join()
        quiet.tell(i, f"class {y[i]}")
        assert i == j


def test_expected_answers_are_the_average_over_all_answers(blobs):
    """E|u|^2 with two open questions, against the explicit sum over their nine answers."""
    graph, _ = blobs
    learner = poise.Learner(graph, {0: "a", 50: "b", 100: "c"}, acquisition="norm", tau=1e-2)
    first, second = (int(i) for i in learner.ask(2))
    snapshot = learner.snapshot()
    guesses = {event.nodes[0]: np.array(event.guess) for event in learner.events}
    total = np.zeros(graph.n_nodes)
    mean = np.zeros((graph.n_nodes, 3))
    for a, p in zip("abc", guesses[first], strict=True):
        for b, q in zip("abc", guesses[second], strict=True):
            labels = Labels.of({0: "a", 50: "b", 100: "c", first: a, second: b}, 120, "abc")
            scores = pwll(graph, labels, tau=1e-2).scores
            total += p * q * (scores**2).sum(axis=1)
            mean += p * q * scores
    np.testing.assert_allclose(snapshot.norms**2, total, atol=1e-5)
    np.testing.assert_allclose(snapshot.scores, mean, atol=1e-5)


def test_batches_are_distinct_and_spread(blobs):
    graph, _ = blobs
    learner = poise.Learner(graph, {0: "a"})
    batch = learner.ask(10)
    assert len(set(batch.tolist())) == 10
    assert learner.pending == tuple(batch.tolist())
    # A batch that clumped would sit in one cloud: the three hold 40 nodes each.
    assert len({int(i) // 40 for i in batch}) == 3


def test_asking_again_gives_other_nodes(blobs):
    graph, _ = blobs
    learner = poise.Learner(graph, {0: "a"})
    asked = [int(learner.ask()[0]) for _ in range(5)]
    assert len(set(asked)) == 5


@pytest.mark.parametrize("acquisition", list(poise.acquisitions))
def test_start_from_nothing(islands, acquisition):
    graph, _ = islands
    learner = poise.Learner(graph, {}, acquisition=acquisition)
    assert learner.scores.shape == (67, 0)
    assert (learner.norms == 0).all()
    with pytest.raises(LabelError, match="nothing is labelled"):
        _ = learner.predictions
    (i,) = learner.ask()
    learner.tell(i, "only class")
    assert set(learner.predictions) == {"only class"}
    assert learner.ask()[0] != i


def test_unlabelled_components_are_asked_first_and_the_largest_before(islands):
    graph, y = islands
    learner = poise.Learner(graph, {}, acquisition="norm")
    order = []
    for _ in range(4):
        (i,) = learner.ask()
        order.append(int(y[i]))
        learner.tell(i, int(y[i]))
    assert order == [0, 1, 2, 3]


def test_unreached_nodes_get_the_most_frequent_class(islands):
    graph, y = islands
    inside = np.flatnonzero(y == 0)[:3]
    other = int(np.flatnonzero(y == 1)[0])
    learner = poise.Learner(graph, {**dict.fromkeys(inside.tolist(), "often"), other: "rare"})
    assert (learner.reached == np.isin(y, [0, 1])).all()
    assert (learner.predictions[~learner.reached] == "often").all()
    np.testing.assert_allclose(learner.probabilities[~learner.reached], [[0.75, 0.25]] * 7)


def test_a_class_first_seen_late_is_a_new_last_column(blobs):
    graph, _ = blobs
    learner = poise.Learner(graph, {0: "b", 50: "a"})
    assert learner.classes == ("b", "a")
    learner.tell(100, "new")
    assert learner.classes == ("b", "a", "new")
    assert learner.scores[100].tolist() == [0, 0, 1]


def test_every_node_labelled(blobs):
    graph, y = blobs
    learner = poise.Learner(graph, {i: int(y[i]) for i in range(120)})
    assert (learner.predictions == y).all()
    with pytest.raises(PoolExhausted, match="nothing left to ask: of 120 nodes 120 are labelled"):
        learner.ask()


def test_fewer_than_asked_for_are_left(islands):
    graph, y = islands
    learner = poise.Learner(graph, {i: int(y[i]) for i in range(65)})
    assert sorted(learner.ask(5).tolist()) == [65, 66]


def test_skip_comes_back_later(blobs):
    graph, _ = blobs
    learner = poise.Learner(graph, {0: "a"}, acquisition=lambda snapshot: np.arange(120.0))
    assert learner.ask().tolist() == [119]
    learner.skip(119)
    assert learner.pending == ()
    asked = []
    for _ in range(22):
        (i,) = learner.ask()
        asked.append(int(i))
        learner.tell(i, "a")
    assert asked == [*range(118, 98, -1), 119, 98]


def test_skipped_nodes_are_offered_when_nothing_else_is_left(islands):
    graph, y = islands
    learner = poise.Learner(graph, {i: int(y[i]) for i in range(66)})
    learner.skip(66)
    assert learner.ask().tolist() == [66]


def test_exclude_and_release(islands):
    graph, y = islands
    learner = poise.Learner(graph, {i: int(y[i]) for i in range(66)})
    learner.exclude(66)
    with pytest.raises(PoolExhausted, match="1 excluded"):
        learner.ask()
    with pytest.raises(LabelError, match="node 66 is excluded: release it first"):
        learner.tell(66, 1)
    learner.release(66)
    assert learner.ask().tolist() == [66]


def test_release_of_the_only_question_goes_back_without_a_solve(blobs, counted):
    graph, _ = blobs
    learner = poise.Learner(graph, {0: "a", 50: "b"}, predict_tau=None)
    scores = learner.scores
    (i,) = learner.ask()
    before = counted.solves
    learner.release(i)
    assert (learner.scores == scores).all()
    assert learner.ask()[0] == i
    assert counted.solves <= before + 2


def test_mappings_lists_and_scalars(blobs):
    graph, _ = blobs
    learner = poise.Learner(graph, {})
    learner.tell(1, "a")
    learner.tell([2, 3], ["a", "b"])
    learner.tell(np.array([4, 5]), np.array(["a", "b"]))
    learner.tell([6], "b")
    assert learner.labels == {1: "a", 2: "a", 3: "b", 4: "a", 5: "b", 6: "b"}
    assert all(type(c) is str for c in learner.labels.values())


@pytest.mark.parametrize("kind", [str, int, bool])
def test_kinds_of_classes(blobs, kind):
    graph, _ = blobs
    learner = poise.Learner(graph, {0: kind(0), 50: kind(1)})
    assert all(type(c) is kind for c in learner.classes)
    assert set(learner.predictions.tolist()) == {kind(0), kind(1)}
    again = poise.Learner.from_json(graph, learner.to_json())
    assert again.labels == learner.labels
    assert all(type(c) is kind for c in again.classes)


def test_the_same_answer_again_changes_nothing(blobs):
    graph, _ = blobs
    learner = poise.Learner(graph, {0: "a"})
    learner.tell(0, "a")
    assert learner.events == ()


def test_tau_follows_the_number_of_answers(blobs):
    graph, y = blobs
    learner = poise.Learner(graph, {0: "class 0", 50: "class 1"}, tau=poise.Geometric(K=2))
    taus = []
    for _ in range(6):
        taus.append(learner.snapshot().tau)
        (i,) = learner.ask()
        assert learner.snapshot().tau == learner.tau(len(taus))  # of the decision after this one
        learner.tell(i, f"class {y[i]}")
    assert taus == [learner.tau(n) for n in range(6)]
    assert taus[0] == 1e-3
    assert taus[4:] == [0.0, 0.0]


# Bad input: what is wrong, what was expected, what to do ------------------------------------


BAD_CALLS = {
    "contradiction": (lambda a: a.tell(0, "b"), LabelError, "to change an answer, call relabel"),
    "contradiction in one call": (lambda a: a.tell([1, 1], ["a", "b"]), LabelError, "relabel"),
    "relabel without a label": (lambda a: a.relabel(5, "b"), LabelError, "call tell"),
    "float class": (lambda a: a.tell(5, 1.5), LabelError, "text, a whole number or a truth value"),
    "None class": (lambda a: a.tell(5, None), LabelError, "NoneType"),
    "bool among ints": (lambda a: a.tell([5, 6], [1, True]), LabelError, "True equals 1"),
    "too few classes": (lambda a: a.tell([5, 6], ["a"]), LabelError, "one class per node"),
    "one text for two": (lambda a: a.tell([5, 6], "ab"), LabelError, "list of as many classes"),
    "node too large": (lambda a: a.tell(120, "a"), NodeIndexError, "nodes 0 to 119"),
    "negative node": (lambda a: a.tell(-1, "a"), NodeIndexError, "no node -1"),
    "float node": (lambda a: a.tell([1.0], ["a"]), NodeIndexError, "whole number"),
    "skip a label": (lambda a: a.skip(0), NodeIndexError, "for unlabelled nodes"),
    "release what is free": (lambda a: a.release(7), NodeIndexError, "nothing to release"),
    "ask for none": (lambda a: a.ask(0), InputError, "at least 1"),
    "ask for 1.5": (lambda a: a.ask(1.5), InputError, "whole number"),
    "nothing to undo": (lambda a: a.undo(), InputError, "nothing to undo"),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_calls_change_nothing(blobs, name):
    call, error, message = BAD_CALLS[name]
    learner = poise.Learner(blobs[0], {0: "a"})
    before = learner.to_json()
    with pytest.raises(error, match=message) as caught:
        call(learner)
    assert "\n" not in str(caught.value)
    assert learner.to_json() == before


BAD_SETTINGS = {
    "tau": ({"tau": -1.0}, InputError, "tau is -1.0"),
    "tau NaN": ({"tau": float("nan")}, InputError, "finite"),
    "predict_tau": ({"predict_tau": -1}, InputError, "predict_tau"),
    "acquisition": ({"acquisition": "nrm"}, UnknownNameError, "did you mean norm"),
    "policy": ({"policy": 3}, InputError, "policy is 3"),
    "schedule": ({"tau": "falling"}, UnknownNameError, "constant, geometric, joined"),
    "seed": ({"seed": -1}, InputError, "seed"),
    "label": ({"labels": {500: "a"}}, NodeIndexError, "no node 500"),
    "class": ({"labels": {5: 0.5}}, LabelError, "0.5"),
}


@pytest.mark.parametrize("name", BAD_SETTINGS)
def test_bad_settings(blobs, name):
    settings_, error, message = BAD_SETTINGS[name]
    with pytest.raises(error, match=message):
        poise.Learner(blobs[0], **settings_)


def test_an_array_is_not_a_graph():
    with pytest.raises(GraphError, match="make a Graph with"):
        poise.Learner(np.zeros((5, 2)), {})


def test_bad_shift(blobs):
    with pytest.raises(InputError, match="shift is 0"):
        poise.Learner(blobs[0], {0: "a"}, shift=0).ask()


def test_acquisition_of_the_wrong_shape(blobs):
    learner = poise.Learner(blobs[0], {0: "a"}, acquisition=lambda s: np.zeros(3))
    with pytest.raises(InputError, match=r"returned shape \(3,\): expected one value per node"):
        learner.ask()
    learner = poise.Learner(blobs[0], {0: "a"}, acquisition=lambda s: np.full(120, np.nan))
    with pytest.raises(InputError, match="NaN for every candidate"):
        learner.ask()


# Histories ------------------------------------------------------------------------------------


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "tell", "tell other", "relabel", "skip", "exclude", "release"]),
        st.integers(0, 10**6),
    ),
    max_size=12,
)


def act(learner, y, action, number):
    """Do something that is possible now; returns whether a person did it."""
    pending, labelled = learner.pending, tuple(learner.labels)
    free = sorted(
        set(range(67)) - set(labelled) - set(pending) - set(learner._session.state.excluded)
    )
    if action == "ask":
        learner.ask(1 + number % 2)
        return False
    pool = {
        "tell": pending, "tell other": free, "relabel": labelled, "skip": pending,
        "exclude": pending or free, "release": pending,
    }[action]  # fmt: skip
    if not pool:
        return False
    node = pool[number % len(pool)]
    before = learner.events
    match action:
        case "tell" | "tell other":
            learner.tell(node, int(y[node]))
        case "relabel":
            learner.relabel(node, number % 5)
        case "skip" | "exclude" | "release":
            getattr(learner, action)(node)
    return learner.events != before


def visible(learner):
    return (learner.labels, learner.classes, learner.pending, learner.scores.tobytes())


@settings(max_examples=25)
@given(actions=ACTIONS)
def test_undo_is_the_exact_inverse(islands, actions):
    graph, y = islands
    learner = poise.Learner(graph, {0: int(y[0])})
    stack = [visible(learner)]
    for action, number in actions:
        if action == "ask":
            act(learner, y, action, number)
            stack[-1] = visible(learner)
        elif act(learner, y, action, number):
            stack.append(visible(learner))
    # Undo leaves questions open that were asked after the answer, so the way back is exact as far
    # as it leads over no question.
    while learner.events and learner.events[-1].kind != "ask":
        undone = learner.events[-1]
        assert learner.undo() == undone
        stack.pop()
        assert visible(learner) == stack[-1]


@settings(max_examples=25)
@given(actions=ACTIONS)
def test_json_round_trip_continues_identically(islands, actions):
    graph, y = islands
    learner = poise.Learner(graph, {0: int(y[0])}, seed=5, tau=poise.Geometric(K=3))
    for action, number in actions:
        act(learner, y, action, number)
    again = poise.Learner.from_json(graph, learner.to_json())
    assert again.to_json() == learner.to_json()
    assert visible(again) == visible(learner)
    for _ in range(3):
        nodes, others = learner.ask(), again.ask()
        assert nodes.tolist() == others.tolist()
        learner.tell(nodes, [int(y[i]) for i in nodes])
        again.tell(others, [int(y[i]) for i in others])


def test_undone_and_told_again_asks_the_same(blobs):
    graph, y = blobs
    straight = poise.Learner(graph, {0: "class 0"})
    wavering = poise.Learner(graph, {0: "class 0"})
    for _ in range(8):
        (i,) = straight.ask()
        straight.tell(i, f"class {y[i]}")
        (j,) = wavering.ask()
        wavering.tell(j, "wrong")
        wavering.undo()
        wavering.tell(j, f"class {y[j]}")
        assert i == j


def test_undo_without_limit(blobs):
    graph, y = blobs
    learner = poise.Learner(graph, {0: "class 0"})
    start = learner.labels
    label_some(learner, y, 40)
    for _ in range(40):
        learner.undo()
    assert learner.labels == start
    with pytest.raises(InputError, match="nothing to undo"):
        learner.undo()


@pytest.mark.parametrize("chosen", [[], [0], [5, 5], [5, 6, 7]], ids=str)
def test_a_policy_that_breaks_its_contract(blobs, chosen):
    def policy(values, snapshot, k, rng):
        return np.array(chosen, dtype=np.int64)

    policy.batch = True
    learner = poise.Learner(blobs[0], {0: "a"}, policy=policy)
    with pytest.raises(InputError, match="the policy chose"):
        learner.ask(2)
    assert learner.pending == ()


def test_a_copy_goes_its_own_way_and_what_it_solved_is_shared(blobs):
    graph, y = blobs
    learner = poise.Learner(graph, {0: "class 0"})
    label_some(learner, y, 3)
    (i,) = learner.ask()
    learner.prepare()
    before = learner.to_json()
    following = {}
    for label in ("class 0", "class 1", "never seen"):
        twin = learner.copy()
        twin.tell(i, label)
        following[label] = int(twin.ask()[0])
    assert learner.to_json() == before
    learner.tell(i, "class 1")
    assert int(learner.ask()[0]) == following["class 1"]


def test_a_question_chosen_elsewhere_is_a_question(blobs):
    graph, y = blobs
    asked, told = (poise.Learner(graph, {0: "class 0"}) for _ in range(2))
    for _ in range(4):
        (i,) = asked.ask()
        told.pend(i)
        assert told.events == asked.events
        for learner in (asked, told):
            learner.tell(i, f"class {y[i]}")
    with pytest.raises(NodeIndexError, match="cannot be asked about"):
        told.pend(0)
    told.pend([5, 6])
    assert told.pending == (5, 6)
    with pytest.raises(NodeIndexError, match="cannot be asked about"):
        told.pend([7, 6])
    assert told.pending == (5, 6), "all or none"


def test_probabilities_are_calibrated_and_keep_the_predictions(blobs):
    graph, y = blobs
    learner = poise.Learner(graph)
    label_some(learner, y, 1)
    assert not learner.calibration.has_evidence
    label_some(learner, y, 19)
    assert learner.calibration.has_evidence
    probabilities = learner.probabilities
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert (np.array(learner.classes)[probabilities.argmax(axis=1)] == learner.predictions).all()
    nodes = list(learner.labels)
    assert (probabilities[nodes].max(axis=1) == 1.0).all()
    learner.tell(
        [i for i in range(40) if i not in nodes], ["class 0"] * len({*range(40)} - {*nodes})
    )
    assert learner.calibration.held_out > 20


def test_advice_counts_surprises_and_what_the_second_half_changed(blobs):
    graph, y = blobs
    learner = poise.Learner(graph)
    assert not learner.advice().stop
    label_some(learner, y, 90)
    advice = learner.advice()
    assert advice.stop
    assert "the last 45 answers changed" in advice.sentence
    again = poise.Learner.from_json(graph, learner.to_json())
    assert again.advice() == advice
    learner.undo()
    assert "44 answers" in learner.advice().reason or "45 answers" in learner.advice().reason


def test_advice_to_go_on_where_answers_surprise(blobs):
    graph, _ = blobs
    learner = poise.Learner(graph)
    rng = np.random.default_rng(0)
    for _ in range(90):
        (i,) = learner.ask()
        learner.tell(i, str(rng.integers(3)))  # answers that follow from nothing
    assert not learner.advice().stop
    assert "Keep labelling" in learner.advice().sentence


def test_another_policy_for_one_question(blobs):
    graph, _ = blobs

    def last(values, snapshot, k, rng):
        return np.flatnonzero(snapshot.candidates)[-k:]

    learner = poise.Learner(graph, {0: "a"})
    assert learner.ask(policy=last) == [119]
    again = learner.copy()
    assert learner.ask() == again.ask(policy="max")
    assert learner.policy == poise.policies.make("max")
    with pytest.raises(InputError, match="policy is 3: give a name"):
        learner.ask(policy=3)


def test_a_copy_with_other_settings(blobs):
    graph, _ = blobs
    learner = poise.Learner(graph, {0: "a", 60: "b"})
    plain = learner.copy(predictor="pwll")
    assert (learner.predictor, plain.predictor) == ("auto", "pwll")
    alone = poise.Learner(graph, {0: "a", 60: "b"}, predictor="pwll")
    np.testing.assert_array_equal(plain.probabilities, alone.probabilities)
    assert (plain.probabilities != learner.probabilities).any()
    with pytest.raises(InputError, match="no predictor is called 'best'"):
        learner.copy(predictor="best")


def test_prepare_says_whether_it_solved(blobs):
    learner = poise.Learner(blobs[0], {0: "a"})
    assert learner.prepare()
    assert not learner.prepare()
    assert not poise.Learner(blobs[0], {0: "a"}, acquisition="random").prepare()
