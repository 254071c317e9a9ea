"""scikit-activeml's own template tests, which its wheel does not contain.

They run with a checkout of scikit-activeml, whose folder the variable POISE_SKACTIVEML names:
the installed package then finds its tests there.
"""

import os
import unittest
from pathlib import Path

import numpy as np
import pytest
import skactiveml

import poise

CHECKOUT = os.environ.get("POISE_SKACTIVEML")
if not CHECKOUT:
    pytest.skip("needs a checkout of scikit-activeml: POISE_SKACTIVEML", allow_module_level=True)
skactiveml.__path__.append(str(Path(CHECKOUT) / "skactiveml"))

from skactiveml.tests.template_estimator import TemplateSkactivemlClassifier  # noqa: E402
from skactiveml.tests.template_query_strategy import (  # noqa: E402
    TemplateSingleAnnotatorPoolQueryStrategy,
)

from poise.integrations.skactiveml import PoiseClassifier, PoiseSampling  # noqa: E402


class TestPoiseSampling(TemplateSingleAnnotatorPoolQueryStrategy, unittest.TestCase):
    def setUp(self):
        X, unlabelled = np.linspace(0, 1, 20).reshape(10, 2), np.full(8, np.nan)
        super().setUp(
            qs_class=PoiseSampling,
            init_default_params={},
            query_default_params_clf={"X": X, "y": np.hstack([[0, 1], unlabelled])},
        )

    def test_init_param_acquisition(self):
        cases = [("norm", None), (poise.acquisitions.make("vopt"), None)]
        cases += [("nrom", ValueError), (3, ValueError)]
        self._test_param("init", "acquisition", cases)

    def test_init_param_policy(self):
        cases = [("proportional", None), ("minimum", ValueError), (None, ValueError)]
        self._test_param("init", "policy", cases)

    def test_init_param_k(self):
        cases = [(None, None), (1, None), (9, None), (0, ValueError), (10, ValueError)]
        self._test_param("init", "k", [*cases, (2.5, ValueError), ("all", ValueError)])

    def test_init_param_metric(self):
        cases = [("manhattan", None), ("cosine", None), ("miles", ValueError)]
        self._test_param("init", "metric", cases)

    def test_init_param_tau(self):
        cases = [(0.0, None), ("geometric", None), (-1.0, ValueError), ("never", ValueError)]
        self._test_param("init", "tau", cases)

    def test_query(self):
        (index,) = PoiseSampling(random_state=0).query(**self.query_default_params_clf)
        assert index >= 2


class TestPoiseClassifier(TemplateSkactivemlClassifier, unittest.TestCase):
    def setUp(self):
        super().setUp(
            estimator_class=PoiseClassifier,
            init_default_params={"missing_label": "nan"},
            fit_default_params={"X": np.zeros((3, 1)), "y": ["tokyo", "nan", "paris"]},
            predict_default_params={"X": [[1]]},
        )

    def test_init_param_model(self):
        cases = [(None, None), (poise.LaplaceLearning(k=2), None), (poise.PoissonLearning(), None)]
        self._test_param("init", "model", [*cases, ("pwll", ValueError), (poise.PWLL, ValueError)])

    def test_fit(self):
        fitted = PoiseClassifier(missing_label="nan").fit(**self.fit_default_params)
        assert fitted.classes_.tolist() == ["paris", "tokyo"]

    def test_predict(self):
        fitted = PoiseClassifier(missing_label="nan").fit(**self.fit_default_params)
        assert fitted.predict([[0.0]])[0] in ("tokyo", "paris")

    def test_predict_proba(self):
        fitted = PoiseClassifier(missing_label="nan").fit(**self.fit_default_params)
        np.testing.assert_allclose(fitted.predict_proba([[0.0], [9.0]]).sum(axis=1), 1.0)
