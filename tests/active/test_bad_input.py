"""Every registered acquisition function and policy where the input is thin, odd or wrong."""

import numpy as np
import pytest

import poise
from poise.errors import GraphError, InputError, PoiseError, PoolExhausted

SETTINGS = [{"acquisition": name} for name in poise.acquisitions]
SETTINGS += [{"policy": name} for name in poise.policies]
everything = pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: "-".join(s.values()))


@pytest.fixture(scope="session")
def apart() -> tuple[poise.Graph, np.ndarray]:
    """Clouds of 30, 20 and 8 points that are not joined, with features and neighbours."""
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], [30, 20, 8])
    X = 50.0 * y[:, None] + rng.normal(size=(58, 3))
    graph = poise.knn_graph(X, k=5)
    assert graph.component_sizes.tolist() == [30, 20, 8]
    return graph, y


@pytest.fixture(scope="session")
def lonely() -> tuple[poise.Graph, np.ndarray]:
    """A cloud of 40 points and 5 points with no neighbour at all."""
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=(40, 2)), 100.0 * np.arange(1, 6)[:, None] * np.ones(2)])
    graph = poise.epsilon_graph(X, radius=2.5)
    assert graph.component_sizes.tolist() == [40, 1, 1, 1, 1, 1]
    return graph, np.repeat([0, 1, 2, 3, 4, 5], [40, 1, 1, 1, 1, 1])


def start(graph, labels=None, **settings):
    """A learner that has what it needs, or None after a check that the error says what to do."""
    learner = poise.Learner(graph, labels or {}, **settings)
    try:
        learner.ask()
    except GraphError as error:
        message = str(error)
        assert ": " in message
        assert "\n" not in message
        assert any(remedy in message for remedy in ("knn_graph", "features", "neighbours"))
        assert graph.features is None or graph.neighbours is None
        return None
    return poise.Learner(graph, labels or {}, **settings)


def answer(learner, y, n_queries):
    """Ask and answer; what was asked."""
    asked = []
    for _ in range(n_queries):
        (i,) = learner.ask()
        asked.append(int(i))
        learner.tell(i, int(y[i]))
    return asked


# Few labels -------------------------------------------------------------------------------------


@everything
@pytest.mark.parametrize("graph", ["blobs", "apart"])
def test_no_labels(request, settings, graph):
    graph, y = request.getfixturevalue(graph)
    learner = poise.Learner(graph, {}, **settings)
    asked = answer(learner, y, 4)
    assert len(set(asked)) == 4
    batch = poise.Learner(graph, {}, **settings).ask(6)
    assert len(set(batch.tolist())) == 6


@everything
def test_one_class_only(blobs, settings):
    graph, _ = blobs
    learner = poise.Learner(graph, {0: "only", 60: "only"}, **settings)
    for _ in range(4):
        (i,) = learner.ask()
        assert i not in learner.labels
        learner.tell(i, "only")
    assert set(learner.predictions) == {"only"}


@everything
def test_classes_known_beforehand_and_never_seen(blobs, settings):
    graph, y = blobs
    learner = poise.Learner(graph, {0: 0}, classes=[0, 7, 8], **settings)
    assert len(set(answer(learner, y * 0, 4))) == 4


# Odd graphs -------------------------------------------------------------------------------------


@everything
@pytest.mark.parametrize("name", ["islands", "apart", "lonely"])
def test_unlabelled_components_and_isolated_nodes(request, settings, name):
    graph, y = request.getfixturevalue(name)
    labels = {int(np.flatnonzero(y == 0)[0]): 0}
    learner = start(graph, labels, **settings)
    if learner is None:
        return
    asked = answer(learner, y, 8)
    assert len({*asked, *labels}) == 9
    values = learner.acquisition(snapshot := learner.snapshot())
    assert np.isfinite(np.asarray(values)[snapshot.candidates]).all()
    assert (learner.predictions[list(learner.labels)] == y[list(learner.labels)]).all()


@everything
def test_labels_on_an_isolated_node_alone(lonely, settings):
    graph, y = lonely
    learner = start(graph, {42: int(y[42])}, **settings)
    if learner is not None:
        assert len(set(answer(learner, y, 3)) - {42}) == 3


@everything
def test_weights_without_features_or_neighbours(blobs, settings):
    graph, y = blobs
    bare = poise.Graph.from_weights(graph.weights)
    learner = start(bare, {0: 0, 50: 1}, **settings)
    if learner is not None:
        assert len(set(answer(learner, y, 4))) == 4


@everything
@pytest.mark.parametrize("n", [1, 2, 3])
def test_smallest_graphs(settings, n):
    graph = poise.Graph.from_weights(np.ones((n, n)) - np.eye(n))
    learner = start(graph, **settings)
    if learner is not None:
        assert sorted(learner.ask(5).tolist()) == list(range(n))


@everything
def test_coinciding_points(settings):
    X = np.repeat(np.random.default_rng(4).normal(size=(6, 2)), 6, axis=0)
    graph = poise.knn_graph(X, k=8)
    learner = poise.Learner(graph, {}, **settings)
    assert len(set(answer(learner, np.repeat(range(6), 6), 5))) == 5


# Few candidates ---------------------------------------------------------------------------------


@everything
def test_nothing_left_to_ask(blobs, settings):
    learner = poise.Learner(blobs[0], {0: 0}, **settings)
    learner.exclude(range(1, 120))
    with pytest.raises(PoolExhausted, match="of 120 nodes 1 are labelled, 0 pending and 119 ex"):
        learner.ask()
    assert learner.pending == ()


@everything
@pytest.mark.parametrize("which", ["sparsest", "densest"])
def test_the_only_candidate_is_chosen(blobs, settings, which):
    graph, y = blobs
    order = np.argsort(graph.spacing.scale)
    node = int(order[-1 if which == "sparsest" else 0])
    learner = poise.Learner(graph, {}, **settings)
    learner.exclude([i for i in range(120) if i != node])
    assert learner.ask(3).tolist() == [node]
    learner.tell(node, int(y[node]))
    with pytest.raises(PoolExhausted):
        learner.ask()


@everything
def test_batch_larger_than_the_pool(blobs, settings):
    graph, y = blobs
    labels = {i: int(y[i]) for i in range(0, 120, 10)}
    learner = poise.Learner(graph, labels, **settings)
    batch = learner.ask(1000)
    assert sorted([*batch.tolist(), *labels]) == list(range(120))
    with pytest.raises(PoolExhausted, match="108 pending"):
        learner.ask()


@everything
@pytest.mark.parametrize("k", [0, -1, "x", 1.5, None, True])
def test_wrong_numbers_of_questions(blobs, settings, k):
    learner = poise.Learner(blobs[0], {0: 0}, **settings)
    with pytest.raises(InputError, match=r"k is .*: it must be a whole number, at least 1"):
        learner.ask(k)
    assert learner.events == ()


# Histories --------------------------------------------------------------------------------------


@everything
def test_continued_from_json(blobs, settings):
    graph, y = blobs
    learner = poise.Learner(graph, {0: 0, 50: 1}, seed=3, **settings)
    answer(learner, y, 4)
    learner.ask(2)  # two questions stay open
    again = poise.Learner.from_json(graph, learner.to_json())
    for _ in range(3):
        nodes, others = learner.ask(2), again.ask(2)
        assert nodes.tolist() == others.tolist()
        for a in (learner, again):
            a.tell(nodes, [int(y[i]) for i in nodes])


@everything
def test_skip_and_undo_leave_nothing_behind(blobs, settings):
    graph, y = blobs

    def common():
        learner = poise.Learner(graph, {0: 0, 50: 1}, seed=1, **settings)
        answer(learner, y, 3)
        (skipped,) = learner.ask()
        learner.skip(skipped)
        (i,) = learner.ask()
        return learner, int(i)

    wavering, i = common()
    wavering.tell(i, int(y[i]))
    wavering.undo()
    wavering.tell(i, 2 - int(y[i]))
    wavering.prepare()
    wavering.undo()
    straight, j = common()
    assert i == j
    assert wavering.to_json() == straight.to_json()
    for learner in (wavering, straight):
        learner.tell(i, int(y[i]))
    assert answer(wavering, y, 4) == answer(straight, y, 4)


@everything
def test_a_skipped_question_is_forgotten(blobs, settings):
    """After ask and skip the next question is that of a learner that never kept anything."""
    graph, y = blobs
    learner = poise.Learner(graph, {0: 0, 50: 1}, seed=2, **settings)
    answer(learner, y, 3)
    learner.skip(learner.ask())
    fresh = poise.Learner.from_json(graph, learner.to_json())
    assert learner.ask().tolist() == fresh.ask().tolist()


@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_of_thousands_of_digits(sign):
    """Python does not write them, so an error that quotes one would be another error."""
    huge = sign * 10**5000
    X = np.random.default_rng(0).normal(size=(20, 2))
    graph = poise.knn_graph(X, k=4)
    learner = poise.Learner(graph, {0: "a"})
    for refused in (
        lambda: poise.Learner(graph, {huge: "a"}),
        lambda: learner.tell(huge, "b"),
        lambda: learner.relabel(huge, "b"),
        lambda: learner.skip(huge),
        lambda: poise.knn_graph(X, k=huge),
        lambda: poise.PWLL(tau=huge).fit([[0.0], [1.0]], [0, 1]),
    ):
        with pytest.raises(PoiseError, match="too long to write"):
            refused()
