"""The reweighting function gamma of Poisson reweighted Laplace learning."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from poise.arrays import Floats, Ints
from poise.checks import real_number
from poise.errors import InputError
from poise.graph import Graph
from poise.linalg import solve
from poise.models.components import laplacian

#: Smallest weight in the authors' code, which keeps gamma positive.
SHIFT = 1e-5
#: Smallest weight in units of the mean weight that survives rounding.
ROUNDING = 1e-15


def poisson_weights(
    graph: Graph,
    constrained: Sequence[Ints],
    *,
    shift: float = SHIFT,
    relative: bool = False,
    rtol: float | None = None,
) -> Floats:
    """(n, T) Poisson weights of several sets of nodes: `potentials`, then `shifted`."""
    check_shift(shift)
    g = potentials(graph, constrained, rtol=rtol)
    return shifted(graph, g, shift=shift, relative=relative)


def potentials(graph: Graph, constrained: Sequence[Ints], *, rtol: float | None = None) -> Floats:
    """Solve the graph Poisson equation for several sets of constrained nodes at once.

    Per component c with N_c nodes, m_c of them constrained (paper, eq. gamma_eq_discrete;
    the paper has one component):

        L g = f,   f_i = 1[i constrained] - m_c / N_c

    Parameters
    ----------
    constrained : T arrays of nodes
    rtol : float, optional
        Relative residual, as in `solve`.

    Returns
    -------
    (n, T) array, with mean 0 on every component; 0 on components without constrained nodes
    """
    sizes = graph.component_sizes
    f = np.zeros((graph.n_nodes, len(constrained)), order="F")
    for t, nodes in enumerate(constrained):
        share = np.bincount(graph.components[nodes], minlength=len(sizes)) / sizes
        f[:, t] = -share[graph.components]
        f[nodes, t] += 1.0
    # Rounding leaves a sum of about 1e-16 m per component, which solve() removes.
    return solve(laplacian(graph), f, singular=True, rtol=rtol).require().value


def shifted(graph: Graph, g: Floats, *, shift: float = SHIFT, relative: bool = False) -> Floats:
    """The weights ``gamma = g - min_c g + shift`` of (n, T) potentials, the minimum by component.

    Parameters
    ----------
    shift : float > 0
        Smallest value of gamma.
    relative : bool
        Whether `shift` is in units of the mean of ``g - min_c g`` over the component, so that
        weights of another scale give the same gamma but for a factor.

    Returns
    -------
    (n, T) array of positive weights; constant on components without constrained nodes
    """
    sizes = graph.component_sizes
    by_component = np.argsort(graph.components, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    smallest = np.minimum.reduceat(g[by_component], starts, axis=0)
    # g has mean 0 on a component, so the mean of g - min g is -min g; 0 where nothing is asked.
    if relative:
        smallest_weight = np.where(smallest < 0, -shift * smallest, shift)
    else:
        # Beside weights of 1e12 a shift of 1e-5 is rounded away, and gamma would vanish.
        smallest_weight = np.maximum(shift, -ROUNDING * smallest)
    return np.asarray(g + (smallest_weight - smallest)[graph.components])


def check_shift(shift: Any) -> None:
    """Refuse a shift that would let gamma vanish."""
    if shift is None:
        raise InputError("shift is None: for plain Laplace learning, give model='laplace'")
    real_number(
        shift,
        "shift",
        lambda number: 0 < number < float("inf"),
        "it must be positive, 1e-5 is the authors' choice",
    )
