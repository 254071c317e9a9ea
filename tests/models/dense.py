"""The models once more, by dense linear algebra on the formulas as they are published."""

import numpy as np

from poise.models import Labels
from strategies import Floats, laplacian


def poisson_weights(W: Floats, constrained: np.ndarray, shift: float = 1e-5) -> Floats:
    """``L g = 1_P - m/N``, ``gamma = g - min g + shift``, on a connected graph."""
    n = len(W)
    f = np.full(n, -len(constrained) / n)
    f[constrained] += 1.0
    g = without_mean(W, f)
    return np.asarray(g - g.min() + shift)


def harmonic(W: Floats, labels: Labels, tau: float = 0.0) -> Floats:
    """``(L + tau I)_UU u_U = W_US Y`` with u = Y on the labels."""
    free = np.ones(len(W), dtype=bool)
    free[labels.nodes] = False
    u = np.zeros((len(W), len(labels.classes)))
    u[labels.nodes] = labels.one_hot
    if free.any():
        A = laplacian(W) + tau * np.eye(len(W))
        u[free] = np.linalg.solve(A[np.ix_(free, free)], W[np.ix_(free, ~free)] @ u[~free])
    return u


def pwll(W: Floats, labels: Labels, tau: float = 0.0, shift: float = 1e-5) -> Floats:
    """``(L_gamma + tau I)_UU u_U = (G W G)_US Y``: the reweighted matrix, built and solved."""
    gamma = poisson_weights(W, labels.nodes, shift)
    return harmonic(gamma[:, None] * W * gamma, labels, tau)


def wnll(W: Floats, labels: Labels, tau: float = 0.0) -> Floats:
    """Laplace learning with ``(a_i + a_j) w_ij``, a = n/m on labels and 1 elsewhere."""
    a = np.ones(len(W))
    a[labels.nodes] = len(W) / len(labels)
    return harmonic((a[:, None] + a) * W, labels, tau)


def poisson(W: Floats, labels: Labels) -> Floats:
    """``L u = sum_j (y_j - ybar) delta_j`` with ``sum_i d_i u_i = 0``, on a connected graph."""
    f = np.zeros((len(W), len(labels.classes)))
    f[labels.nodes] = labels.one_hot - labels.one_hot.mean(axis=0)
    u = without_mean(W, f)
    degrees = W.sum(axis=1)
    return np.asarray(u - degrees @ u / degrees.sum())


def without_mean(W: Floats, f: Floats) -> Floats:
    """The solution of ``L g = f`` with mean zero, for f with mean zero on a connected graph."""
    n = len(W)
    return np.asarray(np.linalg.solve(laplacian(W) + W.sum() / n**2, f))
