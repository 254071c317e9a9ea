"""After a warm-up nothing is left to compile."""

import subprocess
import sys

from poise.linalg import warm_up


def test_a_solve_after_it_compiles_nothing():
    code = """
import numpy as np, poise
from poise.linalg import compiled
from poise.linalg.warm_up import warm_up
warm_up()
functions = [f for f in vars(compiled).values() if hasattr(f, "signatures")]
before = [len(f.signatures) for f in functions]
X = np.random.default_rng(0).normal(size=(1500, 4))
learner = poise.Learner(poise.knn_graph(X, k=10), {0: "a", 1: "b", 2: "c"})
for label in "abcdefgh":
    learner.tell(int(learner.ask()[0]), label)
learner.ask()
assert [len(f.signatures) for f in functions] == before, "something was compiled after it"
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_warm_up_in_progress_is_reported(monkeypatch):
    seen = []
    monkeypatch.setattr(warm_up, "solve", lambda *_, **__: seen.append(warm_up.is_warming_up()))
    warm_up.warm_up()
    assert seen
    assert all(seen)
    assert not warm_up.is_warming_up()
