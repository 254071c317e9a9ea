"""scikit-learn's own checks, on every estimator."""

from collections.abc import Iterator
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

import poise

ESTIMATORS = [
    poise.PWLL(),
    poise.LaplaceLearning(),
    poise.PoissonLearning(),
    poise.WNLL(),
    poise.ProperlyWeighted(),
]

EXPECTED_FAILURES = {
    "check_classifiers_classes": (
        "fits with the classes -1 and 1, but -1 says 'not labelled' in semi-supervised learning; "
        "scikit-learn exempts its own LabelPropagation by name"
    ),
    "check_dtype_object": (
        "features that are no numbers are refused with poise's FeatureError, a ValueError, where "
        "this check wants a TypeError"
    ),
}


def checks() -> Iterator[Any]:
    """Every check of every estimator; the expected failures are marked with their reason."""
    for model in ESTIMATORS:
        for estimator, check in estimator_checks_generator(model):
            name = check.func.__name__
            reason = EXPECTED_FAILURES.get(name)
            marks = [pytest.mark.xfail(reason=reason)] if reason else []
            yield pytest.param(estimator, check, id=f"{type(model).__name__}-{name}", marks=marks)


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_s_conventions(estimator: Any, check: Any) -> None:
    check(estimator)
