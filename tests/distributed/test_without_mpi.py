"""The parts of a rank that need neither MPI nor PETSc."""

import io
import json
import os
import socket
import threading
import time
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import numpy as np
import pytest
from tests.distributed.alone import Alone, learner_alone, partition

import poise
from poise.active.acquisition import as_acquisition
from poise.active.policies.max import largest
from poise.distributed import watchdog
from poise.distributed.acquisitions import check_acquisition
from poise.distributed.choice import choose
from poise.distributed.median import median
from poise.distributed.memory import needed
from poise.distributed.ranks import RankLostError
from poise.distributed.watchdog import watch
from poise.errors import InputError, LabelError
from poise.models.balance import balance_factors


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kinds", [1, 2, 5, 1000])
def test_ties_are_broken_as_the_policy_breaks_them(seed: int, kinds: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(70, 2)), rng.normal(size=(60, 2)) + 50.0])
    graph = poise.knn_graph(X, k=4)
    values = rng.integers(kinds, size=graph.n_nodes).astype(float)
    candidates = rng.random(graph.n_nodes) < 0.7
    masked = np.where(candidates, values, np.nan)
    snapshot: Any = SimpleNamespace(graph=graph)
    expected = largest(masked, snapshot, 1, np.random.default_rng([seed, 3, 1]))
    here = partition(graph)
    node = choose(here, values[here.nodes], candidates[here.nodes], [seed, 3, 1])
    assert node == expected[0]


def test_having_no_candidates_is_an_error() -> None:
    here = partition(poise.knn_graph(np.random.default_rng(0).normal(size=(20, 2)), k=3))
    with pytest.raises(InputError, match="NaN for every candidate"):
        choose(here, np.zeros(20), np.zeros(20, dtype=bool), [0, 0, 1])


@pytest.mark.parametrize("size", [0, 1, 2, 7, 100])
def test_the_median_is_that_of_numpy(size: int) -> None:
    ranks: Any = Alone()
    values = np.random.default_rng(size).lognormal(sigma=20.0, size=size)
    assert median(ranks, values) == (np.median(values) if size else None)


def test_an_acquisition_that_needs_more_than_products_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"VOpt.*norm, margin, coverage, auto"):
        check_acquisition(as_acquisition("vopt"))
    check_acquisition(as_acquisition("diffused"))


def test_the_memory_of_a_rank_falls_with_the_ranks() -> None:
    one_rank, two_ranks = needed(10**6, 15 * 10**6, 1), needed(10**6, 15 * 10**6, 2)
    assert one_rank.weights == 2 * two_ranks.weights == 15 * 10**6 * 24
    assert one_rank.vectors == 2 * two_ranks.vectors == 10**6 * (368 + 320)


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b"doing a solve\nsafe a/file\n", "ended from outside while a solve"),
        (b"doing a solve\nsafe a/file\ngoodbye\n", ""),
    ],
)
def test_the_watchdog_says_what_a_rank_that_ended_was_doing(sent: bytes, message: str) -> None:
    source, target = os.pipe()
    os.write(target, sent)
    os.close(target)
    out = io.StringIO()
    assert watch(source, 0, 5.0, "rank 3 of 4", out) == (1 if message else 0)
    os.close(source)
    assert message in out.getvalue()
    assert (
        ("rank 3 of 4" in out.getvalue()) == ("safe in a/file" in out.getvalue()) == bool(message)
    )


@pytest.mark.parametrize("acquisition", ["norm", "auto"])
def test_nodes_asked_apart_are_those_of_the_policy_local_max(acquisition: str) -> None:
    rng = np.random.default_rng(2)
    X = np.concatenate([rng.normal(size=(150, 2)), rng.normal(size=(60, 2)) + 40.0])
    graph = poise.knn_graph(X, k=6)
    labels = {3: "a", 77: "b", 180: "a"}
    here = learner_alone(graph, labels=labels, acquisition=acquisition, tau=1e-2)
    one = poise.Learner(graph, labels, acquisition=acquisition, tau=1e-2)
    if acquisition == "auto":  # without its gain, which needs features
        one = poise.Learner(
            poise.Graph.from_weights(graph.weights), labels, acquisition="auto", tau=1e-2
        )
    guesses = here.ask_apart(6)
    expected = one.ask(6, policy="local-max").tolist()
    assert [guess.node for guess in guesses] == expected
    assert here.pending == tuple(expected)
    scores = here.scores[expected] * balance_factors(here.scores)
    shares = scores / scores.sum(axis=1, keepdims=True)
    np.testing.assert_allclose([guess.shares for guess in guesses], shares, atol=1e-6)
    np.testing.assert_allclose([guess.norm for guess in guesses], here.norms[expected], atol=1e-6)
    here.close()


def test_as_many_nodes_are_asked_apart_as_there_are() -> None:
    graph = poise.knn_graph(np.random.default_rng(0).normal(size=(12, 2)), k=3)
    here = learner_alone(graph, labels={0: "a"}, acquisition="norm")
    assert sorted(guess.node for guess in here.ask_apart(50)) == list(range(1, 12))
    assert here.ask_apart(1) == []
    here.close()


def test_asking_about_given_nodes_opens_them_again() -> None:
    graph = poise.knn_graph(np.random.default_rng(0).normal(size=(60, 2)), k=5)
    here = learner_alone(graph, labels={0: "a", 9: "b"}, acquisition="norm")
    here.skip(4)
    (guess,) = here.ask_about([4])
    assert here.pending == (4,)
    (again,) = here.guesses([4])
    assert guess.shares == pytest.approx(again.shares, abs=1e-6)
    assert here.guesses([0])[0].shares == pytest.approx([1.0, 0.0])
    here.close()


def test_solves_are_only_reported_where_there_were_some() -> None:
    graph = poise.knn_graph(np.random.default_rng(0).normal(size=(60, 2)), k=5)
    here = learner_alone(graph, labels={0: "a", 9: "b"}, acquisition="norm")
    assert here.prepare()
    assert not here.prepare()
    here.close()


def test_after_a_loss_no_rank_is_called_and_the_listener_is_told() -> None:
    graph = poise.knn_graph(np.random.default_rng(0).normal(size=(60, 2)), k=5)
    here = learner_alone(graph, labels={0: "a", 9: "b"}, acquisition="norm")
    told: list[BaseException] = []
    here.when_lost = told.append
    with pytest.raises(LabelError):  # a mistake of the user loses nothing
        here.tell(0, "b")
    assert not told

    def fail(data: bytes) -> bytes:
        raise RankLostError("rank 1 is gone")

    ranks: Any = here.partition.ranks
    ranks.from_first = fail
    with pytest.raises(RankLostError, match="rank 1 is gone"):
        here.ask()
    ranks.from_first = lambda data: data
    with pytest.raises(RankLostError):
        here.ask()
    assert [str(error) for error in told] == ["rank 1 is gone"]
    here.close()


def test_the_page_is_told_why_its_rank_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "LAST_WORDS_SECONDS", 3.0)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    source, target = os.pipe()
    os.write(target, f"doing a solve\nserving {port}\n".encode())
    os.close(target)
    watching = threading.Thread(
        target=watch, args=(source, 0, 5.0, "rank 0 of 2", io.StringIO()), daemon=True
    )
    watching.start()
    for _ in range(200):
        try:
            urlopen(f"http://127.0.0.1:{port}/api/state")
        except HTTPError as error:
            with error:
                answer = json.load(error) | {"code": error.code}
            break
        except URLError:
            time.sleep(0.05)
    assert answer["ended"]
    assert answer["code"] == 503
    assert answer["error"].startswith("RankLostError: rank 0 of 2: it was ended from outside")
    with pytest.raises(HTTPError) as refused:
        urlopen(Request(f"http://127.0.0.1:{port}/", headers={"Host": "evil.example"}))
    assert refused.value.code == 421
    refused.value.close()
    watching.join(30)
    assert not watching.is_alive()
    os.close(source)
