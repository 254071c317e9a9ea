"""Settings of a learner, checked once, and the models that follow from them."""

from dataclasses import dataclass
from typing import Any

from poise.active.acquisition import Acquisition, as_acquisition, traits_of, usual_tau
from poise.active.policies import Policy, as_policy
from poise.active.schedules import Schedule, as_schedule, is_relative
from poise.checks import decay, whole_number
from poise.errors import InputError
from poise.models.harmonic import Model
from poise.models.held_out import MOST_HELD_OUT
from poise.models.poisson_weights import SHIFT, check_shift
from poise.registry import known_name

#: Models that can choose questions.
MODELS = ("pwll", "laplace")
PREDICTORS = ("auto", "balanced", "pwll")


@dataclass(frozen=True, eq=False)
class Settings:
    """The settings of a learner, see `Learner`; names become what they stand for.

    Attributes
    ----------
    most_held_out : labels that are held out one by one at most: each is a column of n numbers
    """

    acquisition: Acquisition = "auto"  # type: ignore[assignment]
    policy: Policy = "max"  # type: ignore[assignment]
    tau: Schedule = None  # type: ignore[assignment]
    predict_tau: float | None = 0.0
    predictor: str = "auto"
    model: str = "pwll"
    shift: float = SHIFT
    seeding: Acquisition | None = None
    n_seeding: int = 10
    seed: int = 0
    anticipate: bool = True
    most_held_out: int = MOST_HELD_OUT

    def __post_init__(self) -> None:
        known_name("predictor", self.predictor, PREDICTORS)
        known_name("model", self.model, MODELS)
        self._check_shift()
        acquisition = as_acquisition(self.acquisition)
        tau: Any = self.tau
        checked: dict[str, Any] = {
            "acquisition": acquisition,
            "policy": as_policy(self.policy),
            "tau": as_schedule(usual_tau(acquisition) if tau is None else tau),
            "seeding": None if self.seeding is None else as_acquisition(self.seeding),
            "n_seeding": whole_number(self.n_seeding, "n_seeding", 1),
            "seed": whole_number(self.seed, "seed", 0),
            "anticipate": bool(self.anticipate),
            "most_held_out": whole_number(self.most_held_out, "most_held_out", 1),
        }
        if self.predict_tau is not None:
            checked["predict_tau"] = decay(self.predict_tau, "predict_tau")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def _check_shift(self) -> None:
        check_shift(self.shift)
        if self.model != "pwll" and self.shift != SHIFT:
            raise InputError(
                f"shift is {self.shift} and the model {self.model!r}: only the model 'pwll' has a "
                "shift, so leave it out"
            )

    def chooser(self, n_constrained: int) -> Acquisition:
        """What chooses the next question when `n_constrained` nodes are labelled or pending."""
        if self.seeding is not None and n_constrained < self.n_seeding:
            return self.seeding
        return self.acquisition

    def deciding(self, n_answers: int, chooser: Acquisition) -> Model:
        """The model in which `chooser` decides after `n_answers` answers."""
        return Model(
            decay(self.tau(n_answers), "the schedule's tau"),
            self.shift,
            is_relative(self.tau),
            traits_of(chooser).rtol,
            self.model == "pwll",
        )

    def predicting(self, deciding: Model) -> Model:
        """The model that predicts.

        It is as accurate as the one that decides: both share the solution of the Poisson equation.
        """
        if self.predict_tau is None:
            return deciding
        return Model(
            self.predict_tau, self.shift, rtol=deciding.rtol, reweighted=deciding.reweighted
        )

    @property
    def predicts_by(self) -> str:
        """The predictor; while the model that decides predicts too, the paper's."""
        return "pwll" if self.predict_tau is None else self.predictor
