"""How many labels Review calls suspicious, and how many of them are wrong.

    POISE_DATA=folder python benchmarks/suspicious_labels.py [SET ...]

For docs/decisions/noisy-answers.md: the sessions of 100 labels in results/accuracy, by `auto` and
at random, 3 trials of each set, with 0%, 2% and 10% of the labels flipped to a random other class,
4 times each. For comparison, the previous rule: labels that a walk leads to another class at least
as often as to their own.
"""

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np

from poise.experiments.efficiency.methods import AUTO
from poise.experiments.efficiency.noise import flip
from poise.experiments.efficiency.records import Lines
from poise.experiments.efficiency.sessions import asked_sessions
from poise.models.label_walk import RTOL, label_walk
from poise.models.labels import Labels
from poise.models.poisson_weights import poisson_weights
from poise.models.suspicion import averaged_trust
from poise.studio.asking.suspicion import SUSPICIOUS_PROBABILITY

RECORDS = Path(__file__).parents[1] / "results" / "accuracy" / "questions.jsonl"
SETS = ("digits", "mnist-imb", "cifar10", "banking77")
TRIALS, LABELS, FLIPS, SHARES = 3, 100, 4, (0.0, 0.02, 0.1)


def by_walk(walk: np.ndarray, labels: Labels) -> np.ndarray:
    """Share of the strongest other class, against the label's own: the rule before."""
    reach = walk @ labels.one_hot
    own = reach[np.arange(len(labels)), labels.codes]
    reach[np.arange(len(labels)), labels.codes] = 0.0
    rival = reach.max(axis=1)
    alone = labels.counts[labels.codes] == 1
    return np.where(alone, 0.0, rival / np.maximum(rival + own, 1e-12))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=SETS, metavar="SET")
    sets = parser.parse_args().sets
    questions = Lines(RECORDS, ("set", "trial", "method"))
    found = defaultdict(list)
    for asked in asked_sessions(questions, sets, (AUTO, "random"), TRIALS, LABELS):
        if asked.grouping:
            continue
        trial, truth = asked.load()
        nodes = np.sort(np.array(asked.queries))
        gamma = poisson_weights(trial.graph, [nodes], rtol=RTOL)
        walk, n_classes = label_walk(trial.graph, nodes, gamma[:, 0]), int(truth.max()) + 1
        for share in SHARES:
            for turn in range(FLIPS if share else 1):
                rng = np.random.default_rng([asked.trial, turn])
                codes, wrong = flip(truth[nodes], n_classes, rng, share)
                labels = Labels(nodes, codes, tuple(range(n_classes)))
                doubted = 1.0 - averaged_trust(walk, labels)
                now, before = doubted >= SUSPICIOUS_PROBABILITY, by_walk(walk, labels) >= 0.5
                hits = np.isin(np.arange(len(nodes)), wrong)
                row = (now.sum(), (now & hits).sum(), len(wrong), doubted[now].sum())
                found[asked.set, asked.method, share].append(
                    (*row, before.sum(), (before & hits).sum())
                )
    columns = ("set", "labels by", "wrong", "suspicious", "right", "found", "claimed")
    print(f"| {' | '.join((*columns, 'before', 'right before'))} |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for (name, method, share), rows in sorted(found.items()):
        now, hits, wrong, claimed, before, hits_before = np.sum(rows, axis=0)
        cells = [
            name,
            method,
            f"{share:.0%}",
            f"{now / len(rows):.1f}",
            f"{hits / now:.0%}" if share and now else "",
            f"{hits / wrong:.0%}" if share else "",
            f"{claimed / now:.0%}" if now else "",
            f"{before / len(rows):.1f}",
            f"{hits_before / before:.0%}" if share and before else "",
        ]
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
