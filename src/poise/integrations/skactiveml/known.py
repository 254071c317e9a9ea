"""Which strategies of scikit-activeml poise can ask by; readable without scikit-activeml."""

from dataclasses import dataclass

#: What the names of these acquisitions begin with.
PREFIX = "skactiveml:"
#: Classifiers that a strategy may be given: see `making.classifier`.
CLASSIFIERS = ("logistic", "parzen", "mixture", "poise")


@dataclass(frozen=True)
class Known:
    """What a strategy is given besides the features and the labels, and what it takes.

    Attributes
    ----------
    classifier : the usual one of `CLASSIFIERS`; "" if the strategy needs none
    argument : the name of that argument
    square : whether it makes arrays of n x n numbers
    gradients : whether it makes arrays of n x classes x features numbers
    """

    classifier: str = ""
    argument: str = "clf"
    square: bool = False
    gradients: bool = False


#: Left out are strategies that need a committee, a discriminator, a regressor or declared classes,
#: that refit a classifier for each candidate, or that know two classes only.
STRATEGIES = {
    "Badge": Known("logistic", gradients=True),
    "Clue": Known("logistic", "estimator"),
    "ContrastiveAL": Known("logistic"),
    "CoreSet": Known(),
    "DropQuery": Known("logistic"),
    "Falcun": Known("logistic"),
    "FourDs": Known("mixture"),
    "GreedySamplingX": Known(square=True),
    "MaxHerding": Known(square=True),
    "ProbCover": Known(square=True),
    "ProbabilisticAL": Known("parzen"),
    "RandomSampling": Known(),
    "TypiClust": Known(),
    "UncertaintySampling": Known("logistic"),
}
