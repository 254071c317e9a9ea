"""Entry points: acquisitions, policies and embeddings of packages that are installed."""

import importlib
import subprocess
import sys
import warnings

import numpy as np
import pytest

import poise
from poise.errors import UnknownNameError
from poise.registry import PluginWarning, Registry

MODULE = '''
from dataclasses import dataclass
import numpy as np


@dataclass(frozen=True)
class Degree:
    """The best connected nodes first."""

    power: float = 1.0

    def __call__(self, snapshot):
        return snapshot.graph.degrees**self.power


@dataclass(frozen=True)
class First:
    """The candidates with the smallest numbers."""

    def __call__(self, values, snapshot, k, rng):
        return np.flatnonzero(~np.isnan(values))[:k]


@dataclass(frozen=True)
class Halved:
    """Half of every number."""

    def __call__(self, items):
        return np.asarray(items, dtype=np.float32) / 2


def silent(snapshot):
    return snapshot.graph.degrees
'''


@pytest.fixture
def install(tmp_path, monkeypatch):
    """A distribution on the path with entry points; what they add is removed afterwards."""
    registries = (poise.acquisitions, poise.policies, poise.embeddings)
    before = [(dict(registry._factories), set(registry._tried)) for registry in registries]
    (tmp_path / "degree_plugin.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)

    def add(**groups):
        folder = tmp_path / "degree_plugin-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: degree-plugin\nVersion: 1.0")
        lines = (
            line
            for group, entries in groups.items()
            for line in (f"[poise.{group}]", *(f"{k} = {v}" for k, v in entries.items()))
        )
        (folder / "entry_points.txt").write_text("\n".join(lines))
        importlib.invalidate_caches()
        return tmp_path

    yield add
    for registry, (factories, tried) in zip(registries, before, strict=True):
        registry._factories.clear()
        registry._factories.update(factories)
        registry._tried.clear()
        registry._tried.update(tried)
    sys.modules.pop("degree_plugin", None)


def test_an_installed_acquisition_is_used_by_name(blobs, install):
    graph, y = blobs
    install(acquisitions={"plugin-degree": "degree_plugin:Degree"})
    assert "degree_plugin" not in sys.modules
    learner = poise.Learner(graph, {0: 0}, acquisition="plugin-degree")
    assert "degree_plugin" in sys.modules
    again = poise.Learner.from_json(graph, learner.to_json())
    assert again.acquisition == learner.acquisition
    assert learner.ask() == np.argmax(np.where(np.arange(120) == 0, 0, graph.degrees))
    trace = poise.simulate(graph, y, acquisition="plugin-degree", budget=2)
    assert len(trace.queries) == 2


def test_installed_parts_are_listed(install):
    install(
        acquisitions={"plugin-degree": "degree_plugin:Degree"},
        policies={"plugin-first": "degree_plugin:First"},
        embeddings={"plugin-halved": "degree_plugin:Halved"},
    )
    assert poise.acquisitions()["plugin-degree"] == "The best connected nodes first."
    assert poise.policies()["plugin-first"] == "The candidates with the smallest numbers."
    assert poise.embeddings()["plugin-halved"] == "Half of every number."
    X = poise.embed(np.ones((3, 2)), "plugin-halved", cached=False)
    assert (X == 0.5).all()


def test_a_plugin_that_fails_is_left_out_with_one_warning(install):
    install(
        acquisitions={"broken": "no_such_module:Thing", "plugin-degree": "degree_plugin:Degree"}
    )
    with pytest.warns(PluginWarning) as caught:
        names = [*poise.acquisitions, *poise.acquisitions]
    assert "plugin-degree" in names
    assert "broken" not in names
    (warning,) = caught
    assert str(warning.message) == (
        "the acquisition 'broken' of degree-plugin is left out: "
        "ModuleNotFoundError: No module named 'no_such_module'"
    )
    with pytest.raises(UnknownNameError, match="no acquisition is called 'broken'"):
        poise.acquisitions.make("broken")


def test_a_plugin_without_a_description_is_left_out(install):
    install(acquisitions={"silent": "degree_plugin:silent"})
    with pytest.warns(PluginWarning, match="'silent' of degree-plugin .* has no docstring"):
        assert "silent" not in poise.acquisitions


def test_a_name_that_exists_is_refused(install):
    install(acquisitions={"norm": "degree_plugin:Degree"})
    assert type(poise.acquisitions.make("norm")).__name__ == "Norm"
    with pytest.warns(PluginWarning, match="'norm' of degree-plugin .* registered already"):
        list(poise.acquisitions)
    assert type(poise.acquisitions.make("norm")).__name__ == "Norm"


def test_known_names_load_nothing(install):
    install(acquisitions={"broken": "no_such_module:Thing"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        poise.acquisitions.make("norm")
        assert "margin" in poise.acquisitions


def test_a_registry_without_a_group_loads_nothing(install):
    install(acquisitions={"broken": "no_such_module:Thing"})
    assert list(Registry("thing")) == []


def test_the_command_line_lists_them(install):
    folder = install(
        acquisitions={"plugin-degree": "degree_plugin:Degree", "broken": "no_such_module:Thing"}
    )
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); "
        "from poise.cli.main import main; main(['acquisitions', '--json'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "The best connected nodes first." in done.stdout
    (line,) = done.stderr.splitlines()
    assert "'broken' of degree-plugin is left out" in line
