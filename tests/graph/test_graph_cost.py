"""Cost estimates, and errors instead of a process that is killed for lack of memory."""

from itertools import pairwise

import numpy as np
import pytest

from poise import knn_graph, machine
from poise.errors import MemoryShortError, PoiseError
from poise.graph.cost import knn_cost
from poise.graph.search import choose_backend


def test_what_does_not_fit_is_refused_with_the_numbers(monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 10_000_000)
    monkeypatch.setattr(machine, "UNCHECKED_MAX_BYTES", 1_000_000)
    X = np.random.default_rng(0).normal(size=(2_000, 20))
    with pytest.raises(MemoryShortError, match=r"joining 2,000 points.*0\.1 GB.*0\.0 GB are free"):
        knn_graph(X, 10)
    assert issubclass(MemoryShortError, PoiseError)


def test_small_needs_are_never_refused(monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 0)
    assert knn_graph(np.random.default_rng(0).normal(size=(200, 3)), 5).n_nodes == 200


def test_nothing_is_refused_if_free_memory_is_unknown(monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: None)
    machine.check_room(1e15, "this", "that")
    monkeypatch.setattr(machine, "available_memory", lambda: 10**9)
    with pytest.raises(MemoryShortError, match=r"this needs about 1,000.0 GB .* 1.0 GB are free"):
        machine.check_room(1e12, "this", "that")


def test_the_limit_of_a_container_counts(monkeypatch, tmp_path):
    files = tmp_path / "max", tmp_path / "current"
    monkeypatch.setattr(machine, "CGROUP_FILES", files)
    whole = machine.available_memory()
    assert whole is None or whole > 0
    files[0].write_text("5000\n")
    files[1].write_text("2000\n")
    assert machine.available_memory() == 3000
    files[0].write_text("max\n")
    assert machine.available_memory() != 3000


@pytest.mark.parametrize("d", [3, 20, 64, 300])
def test_more_points_cost_more(d):
    sizes = [1_000, 10_000, 100_000, 1_000_000, 10_000_000]
    costs = [knn_cost(n, d, 10, choose_backend(n, d, "euclidean")) for n in sizes]
    for less, more in pairwise(costs):
        assert less.seconds < more.seconds
        assert less.memory < more.memory
    one_core = knn_cost(10**6, d, 10, "faiss-cells")
    two_cores = knn_cost(10**6, d, 10, "faiss-cells", 2)
    assert one_core.seconds == 2 * two_cores.seconds
    assert "of memory" in str(one_core)
