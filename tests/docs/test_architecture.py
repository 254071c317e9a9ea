"""The page on the architecture keeps up with the code: its files exist, its picture is current."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "poise"
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
DRAW = "python docs/images/architecture.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """docs/images/architecture.py, as a module."""
    path = ROOT / "docs" / "images" / "architecture.py"
    spec = importlib.util.spec_from_file_location("architecture", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_file_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`([\w/-]+(?:\.(?:py|js|html)|/))`", PAGE))
    assert len(named) > 40
    missing = [name for name in named if not any((at / name).exists() for at in (PACKAGE, ROOT))]
    assert not missing, f"docs/architecture.md names {', '.join(sorted(missing))}"


def test_the_page_passes_through_every_layer_of_the_engine() -> None:
    for layer in ("linalg", "graph", "models", "active", "data", "experiments", "studio", "cli"):
        assert f"`{layer}/" in PAGE


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_picture_shows_the_imports_of_today(script: ModuleType, scheme: str) -> None:
    path = ROOT / "docs" / "images" / f"architecture-{scheme}.svg"
    assert path.read_text("utf-8") == script.picture(scheme), f"{path.name} is old: run {DRAW}"


def test_the_picture_has_an_arrow_for_every_import(script: ModuleType) -> None:
    """Drawn, or following from those that are drawn."""
    edges = script.imports()
    drawn: dict[str, set[str]] = {name: set() for name in edges}
    for upper, lower in script.arrows(edges):
        drawn[upper].add(lower)
    assert {name: script.reachable(drawn, name) for name in edges} == {
        name: script.reachable(edges, name) for name in edges
    }
