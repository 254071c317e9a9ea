"""The table of all items: filtered, sorted, a page at a time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.arrays import Ints
from poise.errors import InputError
from poise.studio.asking.predictions import Predictions
from poise.studio.asking.suspicion import SUSPICIOUS_PROBABILITY, sentence
from poise.studio.log.agreement import Agreement, agreement
from poise.studio.log.state import State
from poise.studio.project import Project
from poise.studio.source.catalogue import Catalogue

SHOWS = (
    "all",
    "labelled",
    "predicted",
    "unsure",
    "skipped",
    "suspicious",
    "disagreed",
    "assisted",
)
SORTS = ("order", "confidence", "-confidence", "suspicion", "time")
#: Most rows of a page.
MAX_ROWS = 500


@dataclass(frozen=True)
class Wanted:
    """Which rows, in which order."""

    show: str = "all"
    label: str = ""
    low: float = 0.0
    high: float = 1.0
    sort: str = "order"
    text: str = ""
    like: str = ""
    offset: int = 0
    limit: int = 100
    assistant: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Wanted":
        """From the parameters of an address."""
        try:
            wanted = cls(
                query.get("show", "all"),
                query.get("class", ""),
                float(query.get("from", 0)),
                float(query.get("to", 1)),
                query.get("sort", "order"),
                query.get("text", "").strip(),
                query.get("like", ""),
                int(query.get("offset", 0)),
                int(query.get("limit", 100)),
                query.get("assistant", ""),
            )
        except ValueError:
            raise InputError("from, to, offset and limit must be numbers") from None
        for name, value, known in (("show", wanted.show, SHOWS), ("sort", wanted.sort, SORTS)):
            if value not in known:
                raise InputError(f"{name} is {value!r}: expected one of {', '.join(known)}")
        if not (wanted.offset >= 0 and 1 <= wanted.limit <= MAX_ROWS):
            raise InputError(f"offset must be 0 or more, limit from 1 to {MAX_ROWS}")
        return wanted


def review(
    project: Project,
    wanted: Wanted,
    predictions: Predictions | None,
    suspicion: Mapping[str, float] | None,
) -> dict[str, Any]:
    """One page of the table; `suspicion` is None while it is unknown.

    Unless another order is wanted, results of a search by words come with the best match first, and
    those of a search by likeness with the nearest first.
    """
    state, catalogue = project.state, project.catalogue
    if wanted.like and wanted.like not in catalogue.nodes:
        raise InputError(f"there is no item {wanted.like[:60]!r}: the source may have changed")
    if predictions is not None and len(predictions) != len(catalogue):
        predictions = None  # more items have arrived since
    against, agreed = suspicion or {}, agreement(state.votes)
    chosen = _chosen(project, catalogue, state, wanted, predictions, against, agreed)
    page = chosen[wanted.offset : wanted.offset + wanted.limit]
    rows, blind = [], state.blind
    for node in page.tolist():
        item = catalogue.ids[node]
        labelled = state.labels.get(item)
        guess, confidence = None, None
        if predictions is not None and item not in blind:
            guess, confidence = predictions.of(node)
        rows.append(
            {
                "item": item,
                "node": node,
                "source": catalogue.sources[node],
                "label": labelled.label if labelled else None,
                "by": labelled.by if labelled else None,
                "time": labelled.time if labelled else None,
                "guess": guess,
                "confidence": confidence,
                "suspicion": against.get(item) if labelled else None,
                "votes": {who: vote.label for who, vote in state.votes.get(item, {}).items()},
                "assistant": None if item in blind else _said(state, item),
                "state": _standing(state, item, guess is not None),
                "version": state.version.get(item, 0),
            }
        )
    like = catalogue.sources[catalogue.nodes[wanted.like]] if wanted.like else None
    return {
        "total": len(chosen),
        "rows": rows,
        "judged": suspicion is not None,
        "like": like,
        "agreement": None
        if agreed is None
        else {
            "alpha": agreed.alpha,
            "items": agreed.items,
            "people": agreed.people,
            "disagreed": len(agreed.disagreed),
        },
        "said": _sentence(wanted, suspicion, agreed),
    }


def _sentence(
    wanted: Wanted, suspicion: Mapping[str, float] | None, agreed: Agreement | None
) -> str:
    """The sentence above the table."""
    if wanted.show == "suspicious":
        return "" if suspicion is None else sentence(suspicion.values())
    return "" if agreed is None else agreed.sentence


def _said(state: State, item: str) -> dict[str, str] | None:
    """What an assistant said about an item."""
    answer = state.assistants.answers.get(item)
    label = None if answer is None else state.known.name(answer.number)
    return None if answer is None or label is None else {"by": answer.by, "label": label}


def _standing(state: State, item: str, known: bool) -> str:
    if item in state.labels:
        return "labelled"
    if item in state.unsure:
        return "unsure"
    if item in state.skipped:
        return "skipped"
    return "predicted" if known else "unknown"


def _chosen(
    project: Project,
    catalogue: Catalogue,
    state: State,
    wanted: Wanted,
    predictions: Predictions | None,
    against: Mapping[str, float],
    agreed: Agreement | None,
) -> Ints:
    """Nodes of the wanted items, in order."""
    n, nodes = len(catalogue), catalogue.nodes

    def mask(items: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        is_in = np.zeros(n, dtype=bool)
        is_in[[nodes[item] for item in items if item in nodes]] = True
        return is_in

    labelled = mask(state.labels)
    keep = np.ones(n, dtype=bool)
    match wanted.show:
        case "labelled":
            keep = labelled
        case "predicted":
            keep = ~labelled
        case "unsure" | "skipped":
            keep = mask(getattr(state, wanted.show))
        case "suspicious":
            keep = mask(item for item, wrong in against.items() if wrong >= SUSPICIOUS_PROBABILITY)
        case "disagreed":
            keep = mask(() if agreed is None else agreed.disagreed)
        case "assisted":
            answers = state.assistants.answers.items()
            allowed = {answer.by for _, answer in answers}
            allowed = allowed & {wanted.assistant} if wanted.assistant else allowed
            said = (item for item, answer in answers if answer.by in allowed)
            # What somebody is judging must not be told from the list.
            keep = mask(i for i in said if _said(state, i) and i not in state.blind)
    ranged = wanted.low > 0 or wanted.high < 1
    if ranged and predictions is not None and predictions.calibration is not None:
        sure = predictions.confidence
        keep &= labelled | ((sure >= wanted.low) & (sure <= wanted.high))
    if wanted.label:
        labels = state.labels.items()
        same = mask(item for item, label in labels if label.label == wanted.label)
        if predictions is not None and wanted.label in predictions.classes:
            code = predictions.classes.index(wanted.label)
            same |= ~labelled & (predictions.codes == code)
        keep &= same
    chosen = np.flatnonzero(keep)
    if wanted.text:
        matches = project.results.words().result().find(wanted.text)
        matches = matches[matches < n]
        chosen = matches[keep[matches]]
    if wanted.like:
        also = np.zeros(n, dtype=bool)
        also[chosen] = True
        order = project.results.finder.like(nodes[wanted.like])
        order = order[order < n]
        chosen = order[also[order]]
    return _sorted(catalogue, state, chosen, wanted, predictions, against)


def _sorted(
    catalogue: Catalogue,
    state: State,
    chosen: Ints,
    wanted: Wanted,
    predictions: Predictions | None,
    against: Mapping[str, float],
) -> Ints:
    ids = catalogue.ids
    sort = "suspicion" if wanted.show == "suspicious" and wanted.sort == "order" else wanted.sort
    if sort in ("confidence", "-confidence") and predictions is not None:
        sure = predictions.confidence[chosen]
        return chosen[np.argsort(sure if sort == "confidence" else -sure, kind="stable")]
    if sort == "suspicion":
        shares = np.array([against.get(ids[node], -1.0) for node in chosen])
        return chosen[np.argsort(-shares, kind="stable")]
    if sort == "time":
        newest = np.array([state.version.get(ids[node], 0) for node in chosen])
        return chosen[np.argsort(-newest, kind="stable")]
    return chosen
