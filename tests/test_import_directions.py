"""Imports point one way: from the command line down to the matrices, never back."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "poise"

# What each layer may import, itself apart. `poise` is the package's front door (its __init__): the
# public names, so whatever sits above them may use them as any user does.
BASE = {
    "arrays",
    "errors",
    "extras",
    "files",
    "registry",
    "own_files",
    "checks",
    "machine",
    "progress",
}
ENGINE = BASE | {"linalg", "graph", "models", "active"}
ALLOWED: dict[str, set[str]] = {
    "arrays": set(),
    "errors": set(),
    "extras": {"errors"},
    "files": set(),
    "registry": {"errors"},
    "own_files": {"errors"},
    "checks": {"errors"},
    "machine": {"errors"},
    "progress": set(),
    "linalg": BASE,
    "graph": BASE,
    "models": BASE | {"linalg", "graph"},
    "active": BASE | {"linalg", "graph", "models"},
    "data": BASE,
    # The one exception: `poise.open_project` is a public name and reads projects of the app. It is
    # imported when it is first used, so nothing above the engine is loaded with `import poise`.
    "poise": ENGINE | {"data", "integrations"},
    "theory": ENGINE | {"data", "poise"},
    "experiments": ENGINE | {"data", "poise", "theory", "integrations"},
    "studio": ENGINE | {"data", "poise"},
    "distributed": ENGINE | {"data", "poise", "studio"},
    "integrations": ENGINE | {"data", "poise", "studio"},
    "cli": ENGINE
    | {"data", "poise", "theory", "experiments", "studio", "distributed", "integrations"},
    "__main__": {"cli"},
}
# The same for the rooms inside a layer; "" stands for the files beside the rooms. In the app these
# files join the rooms: a project has a source, a log and questions, and the web shows it. In
# `data` they find and read files, and know nothing of what becomes of the items. In `experiments`
# they are the base: what an experiment is, its records and the runner.
ROOMS: dict[str, dict[str, set[str]]] = {
    "studio": {
        "log": set(),
        "source": {"log"},
        "asking": {"log", "source"},
        "": {"log", "source", "asking"},
        "web": {"log", "source", "asking", ""},
    },
    "data": {
        "": set(),
        "embeddings": {""},
        "datasets": {"", "embeddings"},
        "sources": {"", "embeddings", "datasets"},  # items from all of these
    },
    "experiments": {
        "": set(),
        "drawing": set(),
        "demo": {"", "drawing"},
        "theory": {"drawing"},
        "efficiency": {"", "drawing"},
        "paper": {"", "drawing"},
        "plot": {"", "drawing", "paper"},  # curves look as in the paper's report
        "bench": {"", "theory", "paper"},  # it times the paper's experiments
    },
}


# Methods that only hand their object to a bridge, by `poise.extras.bridge`: `learner.widget(...)`
# is where a person in a notebook looks for it. The bridge is imported when the method is called.
HANDED_OVER = {
    ("poise.active.learner", "poise.integrations.notebook"),
    ("poise.graph.graph", "poise.integrations.notebook"),
}


def imported_modules(source: str) -> Iterator[str]:
    """Every module that `source` imports, at the top, in a function or for types alone."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "bridge":
            yield f"poise.integrations.{ast.literal_eval(node.args[0])}"
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            # `from poise import graph` imports poise.graph, `from poise import Graph` does not;
            # which of the two it is shows only in the folder.
            if node.module == "poise":
                yield from (f"poise.{n.name}" if n.name in ALLOWED else "poise" for n in node.names)
            elif node.module:
                yield node.module


def layer(module: str) -> str:
    """The layer of a module's dotted name: ``poise.graph.kernels`` -> ``graph``."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "poise"


def violations(module: str, source: str) -> list[str]:
    """A sentence for each import of `source` that points the wrong way."""
    here = layer(module)
    if here not in ALLOWED:
        return [f"{module}: the layer {here!r} is new, so add it to the table of this test"]
    imported = {name for name in imported_modules(source) if name.split(".")[0] == "poise"}
    return [
        f"{module} imports {name}: {here} may import only {', '.join(sorted(ALLOWED[here]))}"
        for name in sorted(imported)
        if layer(name) not in ALLOWED[here] | {here} and (module, name) not in HANDED_OVER
    ]


def room(module: str) -> tuple[str, str] | None:
    """Layer and room of a module: ``poise.studio.log.store`` -> ``studio``, ``log``."""
    parts = module.split(".")
    if parts[0] != "poise" or len(parts) < 3 or parts[1] not in ROOMS:
        return None
    return parts[1], parts[2] if parts[2] in ROOMS[parts[1]] else ""


def wrong_rooms(module: str, source: str) -> list[str]:
    """A sentence for each import of `source` that leads into a room it must not know."""
    home = room(module)
    if home is None:
        return []
    home_layer, here = home
    allowed = ROOMS[home_layer][here]
    rooms = {name: room(name) for name in imported_modules(source)}
    return [
        f"{module} imports {name}: {home_layer}/{here} may import only {sorted(allowed)}"
        for name, there in sorted(rooms.items())
        if there and there[0] == home_layer and there[1] not in allowed | {here}
    ]


def modules() -> list[tuple[str, Path]]:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("poise", *path.relative_to(SOURCE).with_suffix("").parts)
        found.append((".".join(parts).removesuffix(".__init__"), path))
    return found


@pytest.mark.parametrize(("module", "path"), modules(), ids=[name for name, _ in modules()])
def test_imports_point_one_way(module: str, path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert violations(module, source) + wrong_rooms(module, source) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("poise.studio.log.state", "from poise.studio.source.catalogue import Catalogue"),
        ("poise.studio.source.catalogue", "from poise.studio.asking.question import Question"),
        ("poise.studio.asking.progress", "from poise.studio.project import Project"),
        ("poise.studio.project", "from poise.studio.web.server import make_app"),
        ("poise.data.image_files", "from poise.data.embeddings.items import Images"),
        ("poise.data.vectors", "from poise.data.sources import read_items"),
        ("poise.experiments.runner", "from poise.experiments.paper.estimate import probe"),
        ("poise.experiments.drawing.plots", "from poise.experiments.records import Records"),
        ("poise.experiments.efficiency.peers", "from poise.experiments.paper.rules import best"),
        ("poise.experiments.paper.claims", "from poise.experiments.bench.row import Row"),
    ],
)
def test_the_checker_sees_the_wrong_room(module: str, source: str) -> None:
    assert len(wrong_rooms(module, source)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("poise.graph.graph", "from poise.linalg.pcg import solve"),
        ("poise.linalg.pcg", "import poise.graph"),
        ("poise.graph.graph", "def late():\n    from poise.models import pwll"),
        ("poise.models.pwll", "from poise import Learner"),
        ("poise.models.pwll", "from poise import active"),
        ("poise.active.learner", "import poise.data.datasets as datasets"),
        ("poise.active.learner", "if TYPE_CHECKING:\n    from poise.theory.bounds import s"),
        ("poise.experiments.demo", "from poise.cli.progress import bar"),
        ("poise.studio.app", "from poise.theory import bounds"),
        ("poise.errors", "from poise.registry import Registry"),
        ("poise", "from poise.experiments.demo import run"),
        ("poise.helpers.things", ""),
        ("poise.active.session", 'bridge("notebook").LabelWidget(self)'),
    ],
)
def test_the_checker_sees_a_wrong_direction(module: str, source: str) -> None:
    assert len(violations(module, source)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("poise.models.pwll", "from poise.graph.graph import Graph\nimport numpy.linalg"),
        ("poise.experiments.demo", "from poise import Learner, simulate_many\nimport poise"),
        ("poise.cli.demo", "from poise.experiments.demo import run"),
        ("poise.graph.build", "from poise.graph.kernels import kernels\nimport poised"),
    ],
)
def test_the_checker_lets_the_right_direction_pass(module: str, source: str) -> None:
    assert violations(module, source) == []


def test_importing_poise_pulls_no_extra_and_no_command_line() -> None:
    unwanted = [
        "anywidget",
        "matplotlib",
        "torch",
        "graphlearning",
        "click",
        "rich",
        "playwright",
        "pytest",
    ]
    code = f"import sys, poise; print(*[name for name in {unwanted} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
