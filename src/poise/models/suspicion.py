"""Which labels may be wrong: each is judged by what the others say in its place."""

from collections.abc import Sequence

import numpy as np

from poise.arrays import Floats, Ints
from poise.checks import real_number
from poise.errors import InputError
from poise.graph import Graph
from poise.models.balance import balance_factors
from poise.models.label_walk import RTOL, held_out_targets, label_walk
from poise.models.labels import Labels
from poise.models.poisson_weights import SHIFT, poisson_weights
from poise.models.registry import check_labels

#: Share of wrong labels that is expected where nothing else is known.
NOISE = 0.1
#: Shares that are averaged over if it is unknown; all have the same prior probability.
NOISE_SHARES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
#: Powers of the evidence among which the fit may choose: as it is, and sharper.
EVIDENCE_POWERS = (1.0, 3.0)
#: Smallest score of a class.
MIN_SCORE = 1e-6
#: Steps of the fit of the mixture. It is done in far fewer; a step costs microseconds.
MAX_FIT_STEPS = 200
#: Weight, while evidence is gathered, of a label whose odds of being right are even.
EVEN_ODDS_WEIGHT = 5.0
#: Power of the odds that is the weight of a label in the end.
ODDS_POWER = 2.0
#: Largest weight, and how often evidence and trust are computed from each other.
MAX_WEIGHT, N_PASSES = 1e3, 3


def label_trust(evidence: Sequence[Floats], codes: Ints, noise: float = NOISE) -> Floats:
    """Probability that each label is right, from what models say that did not see it.

    A label is wrong with probability `noise`, and then is any other class. How far a model's
    held-out scores can be believed is not known: the probability of the classes at label i is

        q_i = sum_k b_k p_ik,

    a mixture of the scores themselves, their third powers, all classes alike, and all classes alike
    that no *other* label has, because the first label of a class has no company to agree with. The
    shares b maximise the likelihood of the labels (by EM). So where labels are scattered and the
    models miss most of them, they are believed little, and no label is doubted for it.

    Parameters
    ----------
    evidence : one or more (m, C) arrays of held-out scores >= 0; rows of zeros do not count
    codes : (m,) classes of the labels
    noise : share of wrong labels expected, between 0 and 1

    Returns
    -------
    (m,) probabilities, by Bayes' rule:
    ``(1 - noise) q_y / ((1 - noise) q_y + noise (1 - q_y) / (C - 1))``
    """
    return _fit(evidence, codes, check_noise(noise))[0]


def _fit(evidence: Sequence[Floats], codes: Ints, noise: float) -> tuple[Floats, float]:
    """`label_trust`, and the logarithm of the likelihood of the labels."""
    m, n_classes = evidence[0].shape
    for scores in evidence:
        if scores.shape != (m, n_classes) or len(codes) != m:
            raise InputError(
                f"held-out scores of shape {scores.shape} for {len(codes)} labels: expected "
                f"({len(codes)}, {n_classes}) from every model"
            )
    if n_classes < 2 or m == 0:
        return np.ones(m), 0.0
    own = np.arange(m), codes
    parts = [_sharpened(scores, power)[own] for scores in evidence for power in EVIDENCE_POWERS]
    likelihood = np.array([*parts, np.full(m, 1 / n_classes), _alone(codes, n_classes)])
    other = noise / (n_classes - 1)
    noisy = (1 - noise) * likelihood + other * (1 - likelihood)
    b = np.full(len(noisy), 1 / len(noisy))
    for _ in range(MAX_FIT_STEPS):
        b = (b[:, None] * noisy / (b @ noisy)).mean(axis=1)
    q = np.clip(b @ likelihood, 0.0, 1.0)
    right = (1 - noise) * q
    trust = right / (right + other * (1 - q))
    return np.asarray(trust), float(np.log(b @ noisy).sum())


def doubt(
    walk: Floats, labels: Labels, noise: float = NOISE, others: Sequence[Floats] = ()
) -> tuple[Floats, Floats]:
    """Weights for `soft_targets` from how far labels can be trusted, and that trust.

    The evidence against a label comes from labels that may be wrong themselves. So trust and
    evidence are computed in turn, three times, with cautious weights: `EVEN_ODDS_WEIGHT` times the
    odds of being right, which at first are those that `noise` gives. The evidence is balanced,
    because which class the walk meets most often depends on where its labels happen to lie. In the
    end the weight of a label is the square of its odds: with even odds it counts as much as all
    others, and a label that is probably wrong hardly at all.

    Parameters
    ----------
    walk : (m, m) `label_walk`
    others : held-out scores (m, C) of other models, for example of one that reads the features

    Returns
    -------
    weights, trust : (m,) each
    """
    weights, trust, _ = _in_turn(walk, labels, check_noise(noise), others)
    return weights, trust


def _in_turn(
    walk: Floats, labels: Labels, noise: float, others: Sequence[Floats]
) -> tuple[Floats, Floats, float]:
    """`doubt`, and the logarithm of the likelihood of the labels."""
    trust, likelihood = np.full(len(labels), 1 - noise), 0.0
    for _ in range(N_PASSES):
        held_out = held_out_targets(walk, labels.one_hot, _weights(EVEN_ODDS_WEIGHT * _odds(trust)))
        balanced = held_out * balance_factors(held_out)
        trust, likelihood = _fit([balanced, *others], labels.codes, noise)
    return _weights(_odds(trust) ** ODDS_POWER), trust, likelihood


def _odds(trust: Floats) -> Floats:
    return np.asarray(trust / np.maximum(1 - trust, 1e-12))


def _weights(values: Floats) -> Floats:
    return np.clip(values, 1 / MAX_WEIGHT, MAX_WEIGHT)


def averaged_trust(
    walk: Floats,
    labels: Labels,
    others: Sequence[Floats] = (),
    shares: Sequence[float] = NOISE_SHARES,
) -> Floats:
    """Probability that each label is right, when the share of wrong labels is unknown.

    The mean of the trust of `doubt` over `shares` of wrong labels, each weighted by how likely it
    makes the labels that were given. Where labels agree with each other, small shares win and
    hardly any label is doubted.

    Returns
    -------
    (m,) probabilities
    """
    fits = [_in_turn(walk, labels, check_noise(share), others)[1:] for share in shares]
    logs = np.array([likelihood for _, likelihood in fits])
    weights = np.exp(logs - logs.max())
    trusts = np.array([trust for trust, _ in fits])
    return np.asarray(weights @ trusts / weights.sum())


def suspicion(
    graph: Graph,
    labels: Labels,
    *,
    noise: float | None = NOISE,
    others: Sequence[Floats] = (),
    shift: float = SHIFT,
    relative: bool = False,
) -> Floats:
    """Probability that each label is wrong, in the order of ``labels.nodes``.

    The labels most worth a second look are those with the largest values. See `label_trust` for the
    model and `doubt` for `others`; `shift` and `relative` are those of the Poisson weights. With
    `noise` None the share of wrong labels is averaged over, see `averaged_trust`. The cost is a
    column for each label.

    Returns
    -------
    (m,) array
    """
    check_labels(labels)
    gamma = poisson_weights(graph, [labels.nodes], shift=shift, relative=relative, rtol=RTOL)
    walk = label_walk(graph, labels.nodes, gamma[:, 0])
    if noise is None:
        return 1.0 - averaged_trust(walk, labels, others)
    return 1.0 - doubt(walk, labels, noise, others)[1]


def check_noise(noise: float) -> float:
    """`noise` as a share that leaves both kinds of labels possible."""
    return real_number(
        noise, "noise", lambda share: 0 < share < 1, "it must lie between 0 and 1, 0.1 is usual"
    )


def _sharpened(scores: Floats, power: float) -> Floats:
    """Rows of scores as probabilities, to a power; rows of zeros become uniform."""
    raised = np.maximum(scores, MIN_SCORE) ** power
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _alone(codes: Ints, n_classes: int) -> Floats:
    """Probability of each label if its class were drawn from those that no other label has."""
    counts = np.bincount(codes, minlength=n_classes)
    first = counts[codes] == 1
    unseen = np.count_nonzero(counts == 0) + first
    return np.where(unseen > 0, first / np.maximum(unseen, 1), 1 / n_classes)
