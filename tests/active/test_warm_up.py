"""After a warm-up nothing is left to compile."""

import subprocess
import sys

from poise.active import warm_up


def test_questions_and_predictions_after_it_compile_nothing():
    code = """
import numpy as np, poise
from poise.active.acquisition import compiled_gains, walks
from poise.active.warm_up import warm_up
from poise.linalg import compiled
from poise.models import combined, compiled_rows, rows
rows.COMPILED_MIN_ROWS = walks.COMPILED_MIN_ROWS = combined.LARGE_MIN_NODES = 1000
warm_up()
modules = compiled, compiled_rows, compiled_gains
functions = [f for m in modules for f in vars(m).values() if hasattr(f, "signatures")]
before = [len(f.signatures) for f in functions]
X = np.random.default_rng(0).normal(size=(1500, 4))
for acquisition in ("auto", "norm", "margin"):
    learner = poise.Learner(
        poise.knn_graph(X, k=10), {0: "a", 1: "b", 2: "c"}, acquisition=acquisition
    )
    for label in "abcdefgh":
        learner.tell(int(learner.ask()[0]), label)
        learner.predictions
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
