"""How far people agree on the items that several of them labelled."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from poise.studio.log.answers import Labelled


def krippendorff_alpha(units: Iterable[Collection[str]]) -> float | None:
    """Krippendorff's alpha of nominal values, with any number of them for each unit.

    With m_u values of unit u, n_uc of them c, the coincidences ``o_ck`` are the sums over u of
    ``n_uc (n_uk - [c = k]) / (m_u - 1)``. With n_c their row sums and n their total,

        alpha = 1 - (n - 1) (n - sum_c o_cc) / (n^2 - sum_c n_c^2).

    It is 1 for perfect agreement and 0 for agreement by chance. Units with fewer than two values do
    not count. None if no unit has two values, or if all values are the same.

    References
    ----------
    K. Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011.
    """
    totals: Counter[str] = Counter()
    agreed = 0.0
    for values in units:
        if len(values) < 2:
            continue
        counts = Counter(values)
        totals += counts
        agreed += sum(n * (n - 1) for n in counts.values()) / (len(values) - 1)
    n = totals.total()
    different = n * n - sum(count * count for count in totals.values())
    return None if different == 0 else 1.0 - (n - 1) * (n - agreed) / different


@dataclass(frozen=True)
class Agreement:
    """How far people agree, and on which items they disagree.

    Attributes
    ----------
    alpha : `krippendorff_alpha`; None if all labels are of one class
    items : number of items that two or more people labelled
    people : number of people who labelled those
    disagreed : items with different labels
    """

    alpha: float | None
    items: int
    people: int
    disagreed: tuple[str, ...]

    @property
    def sentence(self) -> str:
        alpha = "is not defined for a single class" if self.alpha is None else f"{self.alpha:.2f}"
        items = "1 item" if self.items == 1 else f"{self.items:,} items"
        return (
            f"Agreement of {self.people} people on {items}: Krippendorff's alpha {alpha}; "
            f"different labels on {len(self.disagreed):,}."
        )


def agreement(votes: Mapping[str, Mapping[str, Labelled]]) -> Agreement | None:
    """The agreement of votes, item -> person -> label; None if no item has two."""
    shared = {item: by_person for item, by_person in votes.items() if len(by_person) > 1}
    if not shared:
        return None
    values = {item: [vote.label for vote in some.values()] for item, some in shared.items()}
    return Agreement(
        krippendorff_alpha(values.values()),
        len(shared),
        len({person for by_person in shared.values() for person in by_person}),
        tuple(item for item, labels in values.items() if len(set(labels)) > 1),
    )
