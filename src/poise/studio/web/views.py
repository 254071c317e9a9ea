"""What the page shows, as plain data."""

from collections import Counter
from typing import Any

import numpy as np

from poise.errors import InputError
from poise.studio.asking.assistants import standings
from poise.studio.asking.foreseeing import NO_ANSWER
from poise.studio.asking.progress import progress
from poise.studio.asking.question import NEW_CLASS, Question
from poise.studio.log.classes import Shown
from poise.studio.project import Project
from poise.studio.source.details import details

#: Most earlier answers that the page can go back to.
MAX_HISTORY_ITEMS = 500
#: Most labelled items on the small map.
MAX_MAP_DOTS = 5_000
#: Most unreadable items that are listed.
MAX_UNREADABLE_ITEMS = 1_000
LAYOUTS = {"pca": "Principal components", "eigenmaps": "Neighbourhoods"}


def summary(project: Project, annotator: str) -> dict[str, Any]:
    """Everything that the label screen shows, with the open question if it is known by now."""
    question = project.question(annotator)
    state = project.state
    counts = Counter(labelled.label for labelled in state.labels.values())
    settings = dict(state.settings)
    only = settings.pop("only")
    return {
        "project": project.catalogue.name,
        "kind": project.catalogue.kind,
        "items": len(project.catalogue),
        "compared": project.compared,
        "unreadable": len(project.catalogue.unreadable),
        "answers": len(state.labels),
        "unsure": len(state.unsure),
        "skipped": len(state.skipped),
        "classes": [_class(project, shown, counts[shown.name]) for shown in state.known.shown()],
        "undoable": state.undoable(annotator) is not None,
        "settings": settings,
        "only": None if only is None else len(only),
        "last": state.last,
        "people": len(state.open),
        "auditing": state.audits[annotator].left if annotator in state.audits else 0,
        "queue": len(project.asker.waiting),
        "exhausted": question is None and project.asker.exhausted,
        "question": None if question is None else asked(project, question, annotator),
        "progress": progress(state, project.newest),
        "assistants": [each.as_json() for each in standings(state)],
    }


def _class(project: Project, shown: Shown, count: int) -> dict[str, Any]:
    """A class, with its note and examples if it has any."""
    look = {"name": shown.name, "key": shown.key, "code": shown.code, "colour": shown.colour}
    examples = [item for item in shown.examples if item in project.nodes]
    about = {"note": shown.note, "examples": examples}
    return look | {"count": count} | {name: value for name, value in about.items() if value}


def asked(project: Project, question: Question, annotator: str) -> dict[str, Any]:
    """One question."""
    state, ids = project.state, project.catalogue.ids
    item = ids[question.node]
    held = state.open.get(annotator)
    purpose = held.purpose if held is not None and held.item == item else "question"
    labelled = state.labels.get(item)
    guess, confidence = question.guess, question.confidence
    if guess == NEW_CLASS:
        guess = confidence = None  # the class has no name yet
    explained = project.asker.explained(question.node) is not None
    audit = state.audits.get(annotator) if purpose == "audit" else None
    if audit is not None and audit.of:
        guess = confidence = None
    elif purpose == "audit":
        guess, confidence = judged(project, question.node)
        explained = explained and (project.newest is not None or not state.labels)
    return {
        "item": item,
        "node": question.node,
        "source": project.catalogue.sources[question.node],
        "version": state.version.get(item, 0),
        "purpose": purpose,
        "of": "" if audit is None else audit.of,
        "label": None if labelled is None else labelled.label,
        "guess": guess,
        "confidence": None if confidence is None else round(confidence, 4),
        "worth_more": question.worth_more,
        "reason": question.reason,
        "explained": explained,
        "nearest": [
            {"item": ids[node], "label": state.labels[ids[node]].label}
            for node in question.nearest
            if ids[node] in state.labels
        ],
        "alike": [
            {"item": ids[node], "version": state.version.get(ids[node], 0)}
            for node in question.alike
        ],
        "duplicates": [
            {"item": other, "version": state.version.get(other, 0)}
            for other in project.duplicates(item, annotator)
        ]
        if labelled is None and purpose != "audit"
        else [],
    }


def judged(project: Project, node: int) -> tuple[str | None, float | None]:
    """The prediction that an audit judges: the exported one, not that of the asking model."""
    predictions = project.newest
    if predictions is None or node >= len(predictions):
        return None, None
    return predictions.of(node)


def ahead(project: Project, annotator: str, seconds: float) -> dict[str, Any]:
    """What follows each possible answer to this person's question, and the queued questions."""
    held = project.state.open.get(annotator)
    node = None if held is None else project.nodes.get(held.item)
    if node is None:
        return {"item": None, "answers": {}, "queue": []}

    def ready() -> bool | None:
        moved_on = project.state.open.get(annotator) != held
        return True if moved_on or project.asker.ahead(node) or project.asker.waiting else None

    project.asker.wait(ready, seconds)
    foreseen = project.asker.ahead(node) or {}
    names = {NEW_CLASS: "new", NO_ANSWER: "none"}
    shown = {
        answer: asked(project, question, annotator)
        for answer, question in foreseen.items()
        if question is not None
    }
    return {
        "item": project.catalogue.ids[node],
        "answers": {a: shown[a] for a in shown if a not in names},
        **{name: shown.get(answer) for answer, name in names.items()},
        # Without their guesses, which do not know the answer that comes before them.
        "queue": [asked(project, Question(q.node), annotator) for q in project.asker.waiting],
    }


def about(project: Project, item: str, seconds: float) -> dict[str, Any]:
    """An item's file, or the rest of its row in the table."""
    catalogue = project.catalogue
    if item not in catalogue.nodes:
        raise InputError(f"there is no item {item[:60]!r}: the source may have changed")
    node = catalogue.nodes[item]
    shown = details(catalogue, node, project.results.columns().result(seconds))
    return {"item": item, "source": catalogue.sources[node], "details": shown}


def left_out(project: Project) -> dict[str, Any]:
    """Items of the source that could not be read, with the reasons."""
    unreadable = project.catalogue.unreadable
    listed = [list(entry) for entry in unreadable[:MAX_UNREADABLE_ITEMS]]
    return {"total": len(unreadable), "items": listed}


def history(project: Project, annotator: str) -> dict[str, Any]:
    """Items that this person has answered, oldest first; each once, at its last answer."""
    items: dict[str, str] = {}
    for event in project.state.done:
        is_answer = len(event.items) == 1 or event.data.get("via") == "duplicates"
        if event.annotator == annotator and is_answer:
            items.pop(event.items[0], None)
            items[event.items[0]] = event.kind
    return {"items": list(items)[-MAX_HISTORY_ITEMS:]}


def map_values(project: Project) -> bytes | None:
    """Three arrays, see docs/labelling.md; None while the model computes."""
    future = project.predictions()
    if not future.done():
        return None
    predictions, state, catalogue = future.result(), project.state, project.catalogue
    n, nodes = len(catalogue), catalogue.nodes
    if predictions is not None and len(predictions) != n:
        return None  # more items have arrived since
    codes = {name: code + 1 for code, name in enumerate(state.classes)}
    labels, guesses = np.zeros((2, n), dtype="<u2")
    known = np.zeros(n, dtype=np.uint8)
    for item, labelled in state.labels.items():
        if item in nodes:
            labels[nodes[item]] = codes[labelled.label]
    if predictions is not None:
        predicted = np.array([codes.get(name, 0) for name in predictions.classes], dtype="<u2")
        guesses = predicted[predictions.codes]
        guesses[[nodes[item] for item in state.blind if item in nodes]] = 0
        known = np.rint(255 * predictions.known).astype(np.uint8)
    return labels.tobytes() + guesses.tobytes() + known.tobytes()


def map_labels(project: Project) -> dict[str, Any]:
    """Nodes of the labelled items and positions of their classes, which need no computation."""
    codes = {name: code for code, name in enumerate(project.state.classes)}
    nodes, labels = project.nodes, project.state.labels
    dots = [[nodes[item], codes[label.label]] for item, label in labels.items() if item in nodes]
    return {"labels": dots[-MAX_MAP_DOTS:]}


def map_item(project: Project, node: int) -> dict[str, Any]:
    """What the map shows about one item."""
    item = project.catalogue.ids[node]
    labelled = project.state.labels.get(item)
    future = project.predictions()
    predictions = future.result() if future.done() else None
    guess, confidence = None, None
    if predictions is not None and node < len(predictions) and item not in project.state.blind:
        guess, confidence = predictions.of(node)
    return {
        "item": item,
        "source": project.catalogue.sources[node],
        "label": None if labelled is None else labelled.label,
        "guess": guess,
        "confidence": confidence,
    }
