"""Tables for the terminal, JSON and Markdown."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from poise.experiments.efficiency.compare import Verdict
from poise.experiments.efficiency.sets import POOLS

#: JSON key of the goals of all parts.
GOALS = "goals"
#: Sets whose figures were known before the rule was chosen.
SEEN = {pool.name(g) for pool in POOLS.values() if pool.seen for g in pool.groupings}


@dataclass(frozen=True)
class Table:
    """A table with cells for people and records for programs.

    Attributes
    ----------
    key : JSON key of the records; tables with the same key share a list
    title : its title
    head : titles of the columns after the first
    rows : a title and a cell for each column
    records : the dataclasses or dictionaries that the rows show
    note : an explanation of the cells; may be empty
    """

    key: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    records: tuple[Any, ...]
    note: str = ""


def goal_table(title: str, verdicts: Sequence[Verdict]) -> Table:
    """The goals, and the measured values."""
    rows = tuple(
        (verdict.goal, verdict.measured, "met" if verdict.met else "missed") for verdict in verdicts
    )
    return Table(GOALS, title, ("measured", ""), rows, tuple(verdicts))


def as_json(tables: Sequence[Table]) -> dict[str, list[dict[str, Any]]]:
    """The records of tables by key."""
    lists: dict[str, list[dict[str, Any]]] = {}
    for table in tables:
        records = [r if isinstance(r, dict) else asdict(r) for r in table.records]
        lists.setdefault(table.key, []).extend(records)
    return lists


def as_markdown(table: Table) -> str:
    """A table with its title and its note."""
    note = f"{table.note}\n\n" if table.note else ""
    return f"### {table.title}\n\n{note}{markdown(['', *table.head], table.rows)}"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells below a head."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def marked(name: str) -> str:
    """The name of a set, with a mark if its figures were known before the rule was chosen."""
    return f"{name} (seen)" if name in SEEN else name


def per_cent(share: float) -> str:
    """A share in per cent with one decimal."""
    return f"{100 * share:.1f}%"


def points(difference: float) -> str:
    """A difference of shares in points; never "-0.0"."""
    return f"{round(100 * difference, 1) + 0.0:.1f}"


def difference_text(difference: float, low: float, high: float) -> str:
    """A difference of shares and its interval, in points."""
    return f"{100 * difference:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"


def counts(numbers: Iterable[int], noun: str) -> str:
    """``1 trial``, ``3 trials`` or, where sets differ, ``2 to 5 trials``."""
    low, *_, high = sorted([*numbers] * 2)
    return f"{low} {noun}" + "s" * (low > 1) if low == high else f"{low} to {high} {noun}s"
