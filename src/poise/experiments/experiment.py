"""Experiments: frozen, checked when they are made, read from TOML or written in Python."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from poise import Dataset, acquisitions, load_dataset, policies, schedules
from poise.active.acquisition import as_acquisition, usual_tau
from poise.active.policies import as_policy
from poise.active.saved import describe
from poise.active.schedules import as_schedule
from poise.active.settings import MODELS
from poise.checks import whole_number
from poise.errors import InputError
from poise.models import models
from poise.progress import Progress
from poise.registry import Registry, known_name

#: The seeds of the authors' scripts, one trial each.
SEEDS = (2, 3, 5, 6, 15, 16, 29, 30, 49, 50)
#: Evaluation in the model that chose the questions.
CHOOSING = "choosing"


@dataclass(frozen=True)
class Method:
    """A way to choose questions: acquisition, model, policy and schedule.

    Parameters
    ----------
    name : the name in records and on the command line
    acquisition, policy : a name, a table ``{"name": ..., parameter: ...}``, or the object itself
    tau : a number, or a schedule in one of these forms; by default that of the acquisition
    model : "pwll", or "laplace" for plain Laplace learning
    title : the name in charts; `name` by default
    group : the set of curves that it belongs to
    """

    name: str
    acquisition: Any = "auto"
    tau: Any = None
    policy: Any = "max"
    model: str = "pwll"
    title: str = ""
    group: str = "methods"

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise InputError(
                f"a method has the name {self.name!r}: give it a text that is not empty"
            )
        for setting, registry, resolve in (
            ("acquisition", acquisitions, as_acquisition),
            ("policy", policies, as_policy),
            ("tau", schedules, as_schedule),
        ):
            value = getattr(self, setting)
            if setting == "tau" and value is None:
                value = usual_tau(self.acquisition)
            object.__setattr__(self, setting, resolve(_made(registry, value, self.name)))
        if self.model not in MODELS:
            raise InputError(
                f"the model of {self.name} is {self.model!r}: choose questions in "
                f"{' or '.join(MODELS)}; other models can be listed in evaluate"
            )
        object.__setattr__(self, "title", self.title or self.name)

    def described(self) -> dict[str, Any]:
        """All parameters that its numbers depend on, as JSON types."""
        return {
            "acquisition": describe("acquisition", self.acquisition),
            "policy": describe("policy", self.policy),
            "tau": describe("tau", self.tau),
            "model": self.model,
        }


@dataclass(frozen=True)
class Experiment:
    """Simulated labelling of one data set by several methods, several times each.

    Parameters
    ----------
    name : its name, and that of the folder of its records
    data : a data set's name, a table ``{"name": ..., option: ...}``, or an .npz file of X and y
    methods : the methods to compare
    embedding : see ``poise.embeddings()``
    k : neighbours per point of the graph
    budget : questions per trial
    initial : "one-per-class", or the number of points labelled at the start
    seeds : one trial each
    evaluate : models in which accuracy is measured; "choosing" is the method's own model
    """

    name: str
    data: Any
    methods: tuple[Method, ...]
    embedding: str = "raw"
    k: int = 20
    budget: int = 100
    initial: str | int = "one-per-class"
    seeds: tuple[int, ...] = SEEDS
    evaluate: tuple[str, ...] = (CHOOSING, "pwll")

    def __post_init__(self) -> None:
        if not self.name or not set(self.name) <= _name_letters:
            raise InputError(
                f"an experiment has the name {self.name!r}: use letters, digits, '-', '_' and '.'"
            )
        for name in ("methods", "seeds", "evaluate"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not self.methods:
            raise InputError(f"{self.name} has no methods: list at least one")
        _distinct("methods", [method.name for method in self.methods])
        whole_number(self.k, "k", 1)
        whole_number(self.budget, "budget", 1)
        for seed in self.seeds:
            whole_number(seed, "a seed", 0)
        if not self.seeds:
            raise InputError(f"{self.name} has no seeds: give at least one")
        _distinct("seeds", list(self.seeds))
        if self.initial != "one-per-class":
            whole_number(self.initial, "initial", 0)
        for model in self.evaluate:
            known_name("model", model, [CHOOSING, *models])
        if not self.evaluate:
            raise InputError("evaluate is empty: name a model, such as pwll")

    def with_trials(self, trials: int) -> "Experiment":
        """The same with another number of trials: the authors' seeds first, then 51, 52, ..."""
        more = range(51, 51 + max(0, whole_number(trials, "trials", 1) - len(SEEDS)))
        return replace(self, seeds=(*SEEDS, *more)[:trials])

    def only(self, *names: str) -> "Experiment":
        """The same with only some of its methods."""
        known = {method.name: method for method in self.methods}
        for name in names:
            known_name("method", name, known)
        return replace(self, methods=tuple(known[name] for name in names))

    def load(self, progress: Progress | None = None) -> Dataset:
        """Its data set; `progress` is called with (done, total) by downloads and trainings."""
        options = {"name": self.data} if isinstance(self.data, str) else dict(self.data)
        return load_dataset(embedding=self.embedding, progress=progress, **options)

    def check(self, data: Dataset) -> None:
        """Refuse a budget that the data set cannot meet, before any work is done."""
        initial = data.n_classes if self.initial == "one-per-class" else int(self.initial)
        if initial + self.budget >= data.n_points:
            raise InputError(
                f"{self.name}: {initial} labels at the start and a budget of {self.budget:,} leave "
                f"none of the {data.n_points:,} points to measure accuracy on; choose a budget of "
                f"at most {max(data.n_points - initial - 1, 0):,}"
            )
        if self.k >= data.n_points:
            raise InputError(
                f"{self.name}: k is {self.k}, and there are only {data.n_points:,} points; choose "
                "a smaller k"
            )

    def described(self) -> dict[str, Any]:
        """All parameters that its numbers depend on, without methods and seeds, which may grow."""
        return {
            "name": self.name,
            "data": self.data if isinstance(self.data, str) else dict(self.data),
            "embedding": self.embedding,
            "k": self.k,
            "budget": self.budget,
            "initial": self.initial,
            "evaluate": list(self.evaluate),
        }


_name_letters = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


def read_experiment(path: Path) -> Experiment:
    """The experiment in a TOML file.

    The keys are the parameters of `Experiment`, with a table ``[[methods]]`` of the parameters of
    `Method` for each method. ``trials = N`` is another way to set the seeds.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not TOML: {error}") from None
    trials = table.pop("trials", None)
    if trials is not None and "seeds" in table:
        raise InputError(f"{path} gives both trials and seeds: choose one")
    table.setdefault("name", path.stem)
    listed = table.get("methods", [])
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise InputError(f"{path}: give each method a table [[methods]]")
    table["methods"] = tuple(_from_table(Method, entry, f"a method of {path}") for entry in listed)
    if "data" not in table:
        raise InputError(
            f'{path} has no data: add data = "digits", or the name of another data set'
        )
    experiment: Experiment = _from_table(Experiment, table, str(path))
    return experiment if trials is None else experiment.with_trials(trials)


def _from_table(kind: Any, table: Mapping[str, Any], where: str) -> Any:
    names = [field.name for field in fields(kind)]
    for key in table:
        if key not in names:
            near = get_close_matches(key, names)
            known = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(names)}"
            raise InputError(f"{where} has the key {key!r}: {known}")
    if "name" not in table:
        raise InputError(f'{where} has no name: add name = "..."')
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in table.items()})


def _made(registry: Registry[Any], value: Any, method: str) -> Any:
    """The object that ``{"name": ..., parameter: ...}`` describes; any other value unchanged."""
    if not isinstance(value, Mapping):
        return value
    parameters = dict(value)
    name = parameters.pop("name", None)
    if name is None:
        raise InputError(f"the {registry.kind} of {method} has no name: {dict(value)}")
    try:
        return registry.make(name, **parameters)
    except TypeError:
        raise InputError(
            f"the {registry.kind} {name} of {method} has no parameter {', '.join(parameters)}: "
            f"see help(poise.{registry.kind}s)"
        ) from None


def _distinct(kind: str, values: list[Any]) -> None:
    twice = {value for value in values if values.count(value) > 1}
    if twice:
        raise InputError(f"{kind} must be distinct, and {sorted(twice)[0]} occurs twice")
