"""The engine's benchmark: sections that each yield rows."""

from collections.abc import Callable, Iterable, Iterator

from poise.experiments.bench.accuracy import accuracy
from poise.experiments.bench.agreement import agreement
from poise.experiments.bench.answers import answers
from poise.experiments.bench.components import components
from poise.experiments.bench.row import Row
from poise.experiments.bench.scaling import scaling
from poise.experiments.bench.speed import speed

Report = Callable[[int, int], None]

#: Quick ones first.
SECTIONS: dict[str, Callable[[Report], Iterator[Row]]] = {
    "agreement": agreement,
    "answers": answers,
    "components": components,
    "speed": speed,
    "scaling": scaling,
    "accuracy": accuracy,
}


def run(names: Iterable[str], begin: Callable[[str], Report]) -> Iterator[tuple[str, Row]]:
    """Rows of the named sections as they are measured; `begin` announces a section."""
    for name in names:
        report = begin(name)
        for row in SECTIONS[name](report):
            yield name, row
