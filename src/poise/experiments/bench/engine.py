"""The sections of the engine's benchmark; each yields rows."""

from collections.abc import Callable, Iterator

from poise.experiments.bench.agreement import agreement
from poise.experiments.bench.answers import answers
from poise.experiments.bench.components import components
from poise.experiments.bench.parity import parity
from poise.experiments.bench.row import Row
from poise.experiments.bench.speed import speed
from poise.progress import Progress

#: In order of their time, the quickest first.
SECTIONS: dict[str, Callable[[Progress], Iterator[Row]]] = {
    "agreement": agreement,
    "answers": answers,
    "components": components,
    "speed": speed,
    "parity": parity,
}
