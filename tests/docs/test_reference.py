"""Every public name has an example in the reference, and the examples run."""

import doctest
import inspect
import pydoc
import re
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.graph import kernels
from poise.models import models
from poise.studio.exchange import make_class
from poise.studio.log.events import Event
from poise.studio.opening import Opening, Source

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs" / "api.md").read_text("utf-8")
#: Where the reference says what a variable is: the lines of its entry.
ENTRY = r"^\.\. py:data:: poise\.{name}\n((?:\n|   .*\n)*)"
PARSER = doctest.DocTestParser()


def has_docstring(name: str) -> bool:
    """Whether `poise.name` is a class or a function; other names are described in the reference."""
    return inspect.isclass(getattr(poise, name)) or inspect.isroutine(getattr(poise, name))


def documented(name: str) -> str:
    """What the reference says of `poise.name`, and of the methods of a class."""
    if has_docstring(name):
        thing = getattr(poise, name)
        methods = members(name) if inspect.isclass(thing) else []
        found = [thing, *(pydoc.locate(f"poise.{path}") for path in methods)]
        return "\n\n".join(inspect.getdoc(one) or "" for one in found)
    entry = re.search(ENTRY.format(name=re.escape(name)), REFERENCE, re.MULTILINE)
    return entry[1] if entry else ""


def members(name: str) -> list[str]:
    """The public methods of a class of poise whose docstrings have examples."""
    return [
        f"{name}.{attribute}"
        for attribute, value in inspect.getmembers(getattr(poise, name))
        if not attribute.startswith("_") and ">>> " in (inspect.getdoc(value) or "")
    ]


NAMES = [name for name in poise.__all__ if has_docstring(name)]
METHODS = [
    path for name in NAMES if inspect.isclass(getattr(poise, name)) for path in members(name)
]


def run(text: str, name: str) -> None:
    """Run the examples of a text in an empty namespace."""
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(PARSER.get_doctest(text, {}, name, None, 0), out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


@pytest.fixture(autouse=True)
def nothing_remains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples write their files, and register their parts, where no other test sees them."""
    monkeypatch.chdir(tmp_path)
    for registry in (poise.acquisitions, poise.policies, poise.schedules, kernels, models):
        monkeypatch.setattr(registry, "_factories", dict(registry._factories))


def make_project() -> None:
    """The project that the example of `poise.open_project` opens: two groups of points."""
    np.save(
        "points.npy", np.random.default_rng(0).normal(size=(24, 2)) + np.repeat([0, 9], 12)[:, None]
    )
    project = Opening(Source("points.npy", Path("points.poise"), embedding="raw")).open()
    for label, node in (("left", 0), ("right", 12)):
        make_class(project, label)
        item = project.catalogue.ids[node]
        project.record(Event("label", {"items": [item], "label": label, "via": "map"}))
    project.close()


@pytest.mark.parametrize("name", poise.__all__)
def test_a_public_name_has_an_example_that_runs(name: str) -> None:
    text = documented(name)
    where = "an Examples section in its docstring" if has_docstring(name) else "docs/api.md"
    assert PARSER.get_examples(text), f"poise.{name} has no example: expected one in {where}"
    if name == "open_project":
        make_project()
    run(text, name)


@pytest.mark.parametrize("path", METHODS)
def test_the_example_of_a_method_runs(path: str) -> None:
    run(pydoc.getdoc(pydoc.locate(f"poise.{path}")), path)


def test_an_example_that_prints_something_else_is_noticed() -> None:
    with pytest.raises(AssertionError, match="Expected:"):
        run(">>> 1 + 1\n3\n", "wrong")
