"""Uncertainty acquisitions against GraphLearning, scikit-activeml and modAL on the same input."""

import importlib
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import poise
from poise.active.acquisition import Entropy, LargestMargin, LeastConfidence, Margin, Norm
from poise.models import Labels, pwll

N_CLASSES = (2, 3, 7)


def probabilities(n_classes):
    return np.random.default_rng(n_classes).dirichlet(np.full(n_classes, 0.7), 200)


def shown(u):
    return SimpleNamespace(scores=u, norms=np.linalg.norm(u, axis=1))


# GraphLearning ----------------------------------------------------------------------------------

THEIRS = {
    "smallest_margin": Margin(),
    "largest_margin": LargestMargin(),
    "unc_2norm": Norm(),
    "least_confidence": LeastConfidence(),
}


@pytest.fixture
def graphlearning(monkeypatch):
    """The package, with its conjugate gradients run to the end."""
    package = pytest.importorskip("graphlearning", reason="needs the package graphlearning")
    utils = importlib.import_module("graphlearning.utils")
    loose = utils.conjgrad
    monkeypatch.setattr(
        utils,
        "conjgrad",
        lambda A, b, x0=None, max_iter=1e5, tol=1e-10: loose(A, b, x0, max_iter, 1e-12),
    )
    return package


@pytest.mark.parametrize("n_classes", N_CLASSES)
@pytest.mark.parametrize("name", THEIRS)
def test_graphlearning_values_on_probabilities(graphlearning, name, n_classes):
    """Theirs are 1 + ours, but for the least confidence, which is ours."""
    u = probabilities(n_classes)
    theirs = graphlearning.active_learning.unc_sampling(name).compute(u, np.arange(200))
    ours = THEIRS[name](shown(u))
    np.testing.assert_allclose(ours, theirs - (name != "least_confidence"), atol=1e-12)


@pytest.mark.parametrize("tau", [0.0, 1e-3])
@pytest.mark.parametrize("name", THEIRS)
def test_graphlearning_order_on_scores(graphlearning, blobs, name, tau):
    graph, _ = blobs
    u = pwll(graph, Labels.of({0: 0, 50: 1, 100: 2}, 120), tau=tau).scores
    candidates = np.setdiff1d(np.arange(120), [0, 50, 100])
    theirs = graphlearning.active_learning.unc_sampling(name).compute(u, candidates)
    ours = THEIRS[name](shown(u))[candidates]
    # What their 1 - x rounds away may be ordered either way: their values never rise in our order.
    in_our_order = theirs[np.argsort(-ours, kind="stable")]
    rises = np.diff(in_our_order).max()
    if name == "least_confidence" and tau > 0:
        assert rises > 0.01  # theirs looks at the size of the scores, ours at proportions
    else:
        assert rises < 1e-6


def test_graphlearning_entropy_is_something_else(graphlearning):
    """With two classes theirs asks for the surest first; ours does not."""
    p = np.linspace(0.5, 0.999, 30)
    u = np.column_stack([p, 1 - p])
    theirs = graphlearning.active_learning.unc_sampling("entropy").compute(u, np.arange(30))
    assert (np.diff(theirs) > 0).all()
    assert (np.diff(Entropy()(shown(u))) < 0).all()


@pytest.mark.parametrize(
    ("ours", "theirs", "tau"),
    [
        ("norm", "unc_2norm", 1e-2),
        ("norm", "unc_2norm", 0.0),
        ("margin", "smallest_margin", 0.0),
        ("margin", "smallest_margin", 1e-2),
        ("largest-margin", "largest_margin", 1e-2),
        ("least-confidence", "least_confidence", 0.0),
    ],
)
def test_graphlearning_asks_the_same_questions(graphlearning, blobs, ours, theirs, tau):
    graph, y = blobs
    start = np.array([0, 50, 100])
    model = graphlearning.ssl.laplace(
        sparse.csr_matrix(graph.weights), reweighting="poisson", tau=tau
    )
    peer = graphlearning.active_learning.active_learner(
        model, graphlearning.active_learning.unc_sampling, start, y[start], unc_method=theirs
    )
    learner = poise.Learner(graph, {int(i): int(y[i]) for i in start}, acquisition=ours, tau=tau)
    for _ in range(12):
        query = peer.select_queries()
        (i,) = learner.ask()
        assert i == query[0]
        learner.tell(i, int(y[i]))
        peer.update(query, y[query])


# scikit-activeml and modAL ----------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", N_CLASSES)
@pytest.mark.parametrize(
    ("method", "acquisition", "offset"),
    [("least_confident", LeastConfidence(), 0), ("margin_sampling", Margin(), 1),
     ("entropy", Entropy(), 0)],
)  # fmt: skip
def test_scikit_activeml(n_classes, method, acquisition, offset):
    skactiveml = pytest.importorskip("skactiveml", reason="needs the package scikit-activeml")
    pool = importlib.import_module("skactiveml.pool")
    p = probabilities(n_classes)

    class Known(skactiveml.base.SkactivemlClassifier):
        """Row i of the features is i, and its probabilities are row i of p."""

        def fit(self, X, y, sample_weight=None):
            return self

        def predict_proba(self, X):
            return p[np.asarray(X)[:, 0].astype(int)]

    X = np.arange(200.0)[:, None]
    y = np.full(200, np.nan)
    y[:n_classes] = np.arange(n_classes)
    _, utilities = pool.UncertaintySampling(method=method, random_state=0).query(
        X,
        y,
        Known(classes=range(n_classes)),
        fit_clf=False,
        return_utilities=True,
    )
    theirs = utilities[0][n_classes:]
    np.testing.assert_allclose(acquisition(shown(p))[n_classes:] + offset, theirs, atol=1e-12)


@pytest.mark.parametrize("n_classes", N_CLASSES)
def test_modal(n_classes):
    uncertainty = pytest.importorskip("modAL.uncertainty", reason="needs the package modAL-python")
    p = probabilities(n_classes)
    known = SimpleNamespace(predict_proba=lambda X, **_: p)
    u = shown(p)
    for theirs, ours in [
        (uncertainty.classifier_uncertainty, LeastConfidence()(u)),
        (uncertainty.classifier_margin, -Margin()(u)),
        (uncertainty.classifier_entropy, Entropy()(u)),
    ]:
        np.testing.assert_allclose(ours, theirs(known, p), atol=1e-12)
