"""scikit-learn's own checks, on every estimator."""

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

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


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: EXPECTED_FAILURES)
def test_scikit_learn_s_conventions(estimator: Any, check: Any) -> None:
    check(estimator)
