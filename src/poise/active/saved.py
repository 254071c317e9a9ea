"""Sessions as JSON text: settings by name, events as they were, no arrays and no pickle."""

import dataclasses
import json
from collections.abc import Sequence
from typing import Any, Protocol

from poise.active.acquisition.registry import acquisitions
from poise.active.policies import policies
from poise.active.schedules import schedules
from poise.active.session import Session
from poise.active.settings import Settings
from poise.active.state import Event
from poise.errors import InputError, PoiseError, WrongGraphError
from poise.graph import Graph
from poise.models.poisson_weights import SHIFT
from poise.registry import Registry

FORMAT = "poise.learner"
VERSION = 1
#: Settings that are saved; the model stands in "shift", which is null in Laplace learning.
SAVED = (
    "acquisition",
    "policy",
    "tau",
    "predict_tau",
    "predictor",
    "shift",
    "seeding",
    "n_seeding",
    "seed",
    "anticipate",
)
_registries: dict[str, Registry[Any]] = {
    "acquisition": acquisitions,
    "seeding": acquisitions,
    "policy": policies,
    "tau": schedules,
}


class Fingerprinted(Protocol):
    """A graph, in one process or several."""

    @property
    def n_nodes(self) -> int: ...

    @property
    def fingerprint(self) -> str: ...


def dump(
    graph: Fingerprinted, settings: Settings, session: Session, names: Sequence[str] = SAVED
) -> str:
    """JSON text of a learner's settings and events.

    Parameters
    ----------
    names : settings that are saved
    """
    described = {name: getattr(settings, name) for name in names}
    for name in _registries.keys() & described.keys():
        if described[name]:
            described[name] = describe(name, described[name])
    if settings.model == "laplace":
        described["shift"] = None  # that is how the format says it
    return json.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "graph": {"fingerprint": graph.fingerprint, "n_nodes": graph.n_nodes},
            "settings": described,
            "given": list(session.initial.items()),
            "classes": list(session.known),
            "events": [_event_as_dict(event) for event in session.events],
        },
        indent=1,
    )


def load(
    graph: Graph, text: str, replacements: dict[str, Any], *, grown: bool = False
) -> tuple[dict[str, Any], Session]:
    """Settings for the constructor and the session, from what `dump` wrote.

    With `grown`, the graph may have more nodes than the one that the session was saved with.
    """
    try:
        saved = json.loads(text)
        if saved["format"] != FORMAT:
            raise KeyError("format")
        version, of_graph = saved["version"], saved["graph"]
        described = dict(saved["settings"])
        initial = dict(saved["given"])
        known, events = saved["classes"], [_event_from_dict(e) for e in saved["events"]]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"this text is not a saved learner: {error!r}") from None
    if version != VERSION:
        raise InputError(
            f"the saved learner has version {version}, this poise reads {VERSION}: upgrade poise"
        )
    n_nodes = of_graph.get("n_nodes")
    larger = isinstance(n_nodes, int) and n_nodes <= graph.n_nodes
    if of_graph.get("fingerprint") != graph.fingerprint and not (grown and larger):
        remedy = "load it with the graph it was made on"
        if larger and not grown:
            remedy += ", or pass grown=True if this is that graph extended"
        raise WrongGraphError(
            f"the saved learner belongs to another graph ({n_nodes} nodes, "
            f"fingerprint {str(of_graph.get('fingerprint'))[:12]}; this one has {graph.n_nodes} "
            f"nodes, {graph.fingerprint[:12]}): {remedy}"
        )
    settings: dict[str, Any] = {}
    for name, value in described.items():
        if name in replacements:
            continue
        settings[name] = _rebuild(name, value) if name in _registries and value else value
    if settings.get("shift", SHIFT) is None:
        del settings["shift"]
        settings["model"] = "laplace"
    settings |= replacements
    session = Session(graph.n_nodes, initial, known, anticipate=settings.get("anticipate", True))
    try:
        for event in events:
            _replay(session, event)
    except PoiseError as error:
        raise InputError(f"the saved learner's events contradict each other: {error}") from None
    return settings, session


def _replay(session: Session, event: Event) -> None:
    match event.kind:
        case "ask":
            (node,) = session.numbers(event.nodes)
            session.ask(node, event.guess)
        case "tell":
            session.tell(event.nodes, event.labels)
        case "relabel":
            session.relabel(event.nodes, event.labels)
        case "skip" | "exclude" | "release":
            session.set_aside(event.kind, event.nodes)
        case _:
            raise InputError(f"unknown event {event.kind!r}")


def _event_as_dict(event: Event) -> dict[str, Any]:
    return {key: value for key, value in dataclasses.asdict(event).items() if value != ()}


def _event_from_dict(saved: dict[str, Any]) -> Event:
    return Event(
        saved["kind"],
        tuple(saved["nodes"]),
        tuple(saved.get("labels", ())),
        tuple(saved.get("guess", ())),
    )


def describe(setting: str, value: Any) -> Any:
    """An acquisition, policy or schedule (`setting` "tau") in a form that JSON can hold."""
    return _describe(_registries[setting], value)


def _describe(registry: Registry[Any], value: Any) -> Any:
    """Name and parameters of a registered part; for others only their representation."""
    name = registry.name_of(type(value)) if dataclasses.is_dataclass(value) else None
    if name is None:
        return {"custom": repr(value)}
    parameters = {
        field.name: _describe_parameter(registry, getattr(value, field.name))
        for field in dataclasses.fields(value)
    }
    return {"name": name, "parameters": parameters}


def _describe_parameter(registry: Registry[Any], value: Any) -> Any:
    if callable(value):
        return _describe(registry, value)
    if isinstance(value, tuple):
        return [_describe_parameter(registry, part) for part in value]
    return value


def _rebuild(setting: str, described: Any) -> Any:
    registry = _registries[setting]
    if "custom" in described:
        raise InputError(
            f"the saved learner's {setting} is your own {described['custom']}: "
            f"pass it again, from_json(graph, text, {setting}=...)"
        )
    parameters = {
        key: _rebuild_parameter(setting, value) for key, value in described["parameters"].items()
    }
    return registry.make(described["name"], **parameters)


def _rebuild_parameter(setting: str, value: Any) -> Any:
    if isinstance(value, dict):
        return _rebuild(setting, value)
    if isinstance(value, list):
        return tuple(_rebuild_parameter(setting, part) for part in value)
    return value
