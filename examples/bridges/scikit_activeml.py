"""poise in scikit-activeml: who needs fewer labels for the digits, with the same classifier?

Needs ``pip install 'poise[skactiveml]'``; takes half a minute.
"""

import numpy as np
from skactiveml.pool import RandomSampling, TypiClust
from sklearn.datasets import load_digits

from poise import PWLL
from poise.integrations.skactiveml import PoiseClassifier, PoiseSampling

BUDGETS, TRIALS = (10, 20, 30), 2

X, digits = load_digits(return_X_y=True)


def accuracies(strategy) -> list[float]:
    """Accuracy on the digits without a label after each of `BUDGETS` questions."""
    y = np.full(len(X), np.nan)
    classifier = PoiseClassifier(PWLL(k=10), classes=range(10), random_state=0)
    reached = []
    for labels in range(1, BUDGETS[-1] + 1):
        (asked,) = strategy.query(X, y)
        y[asked] = digits[asked]
        if labels in BUDGETS:
            rest = np.isnan(y)
            reached.append(classifier.fit(X, y).score(X[rest], digits[rest]))
    return reached


print("labels          " + "".join(f"{budget:>7}" for budget in BUDGETS))
for make in (PoiseSampling, TypiClust, RandomSampling):
    options = {"k": 10} if make is PoiseSampling else {}
    trials = [accuracies(make(random_state=seed, **options)) for seed in range(TRIALS)]
    print(f"{make.__name__:<16}" + "".join(f"{mean:>7.1%}" for mean in np.mean(trials, axis=0)))
