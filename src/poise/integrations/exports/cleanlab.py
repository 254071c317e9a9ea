"""Arrays for cleanlab: labels, and probabilities from models that did not see them."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from poise.arrays import Floats
from poise.errors import InputError
from poise.files import write_bytes, write_whole
from poise.studio.borrowing import Borrowed
from poise.studio.exchange import MODEL, Row

LABELS_FILE, PROBABILITIES_FILE = "labels.npy", "pred_probs.npy"
IDS_FILE, CLASSES_FILE, AUTHORS_FILE = "ids.json", "classes.json", "authors.json"
#: The same for items without a label.
REST_PROBABILITIES_FILE, REST_IDS_FILE = "pred_probs_unlabeled.npy", "ids_unlabeled.json"


def write_arrays(project: Borrowed, rows: Sequence[Row], folder: Path) -> None:
    """Write what ``cleanlab.filter.find_label_issues(labels, pred_probs)`` takes.

    labels (m,) are positions in the classes, of labelled items alone; row i of pred_probs (m, C)
    sums to one and comes from a model without label i. Classes without a label are left out, as
    cleanlab wants. Items without a label have arrays of their own.
    """
    given = [row for row in rows if row.by != MODEL]
    present = {row.label for row in given}
    classes = [name for name in project.state.classes if name in present]
    if len(classes) < 2:
        raise InputError(
            f"the labels name {len(classes)} class: cleanlab compares two or more, so label items "
            "of another class first"
        )
    code = {name: number for number, name in enumerate(classes)}
    labels = np.array([code[row.label] for row in given], dtype=np.int64)
    nodes = [project.catalogue.nodes[row.id] for row in given]
    learner = project.learner
    columns = [learner.classes.index(name) for name in classes]
    held_out = learner.held_out_probabilities
    shares = np.array([held_out[node][columns] for node in nodes])
    arrays = {LABELS_FILE: labels, PROBABILITIES_FILE: _normalised(shares)}
    texts = {
        IDS_FILE: [row.id for row in given],
        CLASSES_FILE: classes,
        AUTHORS_FILE: [{"label": r.label, "by": r.by, "time": r.time} for r in given],
    }
    rest = [row.id for row in rows if row.by == MODEL]
    if rest:
        shares = learner.probabilities[[project.catalogue.nodes[item] for item in rest]]
        arrays[REST_PROBABILITIES_FILE] = _normalised(shares[:, columns])
        texts[REST_IDS_FILE] = rest
    for name, array in arrays.items():
        write_whole(folder / name, partial(np.save, arr=array))
    for name, values in texts.items():
        write_bytes(folder / name, json.dumps(values, ensure_ascii=False).encode("utf-8"))


def _normalised(shares: Floats) -> Floats:
    """Rows that sum to one; a row without any is uniform."""
    total = shares.sum(axis=1, keepdims=True)
    uniform = np.full_like(shares, 1 / shares.shape[1])
    return np.asarray(np.where(total > 0, shares / np.where(total > 0, total, 1.0), uniform))
