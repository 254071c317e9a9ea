"""What the log keeps with each question: how much is explored, and how much changes."""

from typing import Any

import numpy as np
import numpy.typing as npt

from poise.studio.asking.question import Question


class Course:
    """Compares the predicted classes at a question with those at the one before."""

    def __init__(self) -> None:
        self._codes: npt.NDArray[np.int32] | None = None
        self._n_labels = 0

    def begin_anew(self) -> None:
        """The classes or the items are others now: nothing can be compared with them."""
        self._codes = None

    def next(self, question: Question, n_labels: int) -> dict[str, Any]:
        """Where the model stands at a question, as its event keeps it."""
        if question.explored is None or question.codes is None:
            return {}
        stands = {"explored": round(min(question.explored, 1.0), 4)}
        before = self._codes
        is_comparable = before is not None and len(before) == len(question.codes)
        if is_comparable and self._n_labels < n_labels + 1:
            stands["changed"] = round(float((question.codes != before).mean()), 6)
        self._codes, self._n_labels = question.codes, n_labels
        return stands
