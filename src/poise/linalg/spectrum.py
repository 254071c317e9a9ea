"""Smallest eigenpairs of graph Laplacians.

The nullspace is known (one vector per component) and is written down, never searched for. The rest
are the largest eigenpairs of the pseudo-inverse, computed by a block Lanczos method with thick
restarts: one application to eight vectors is one simultaneous solve, which costs about two solves
of one vector, and a block finds repeated eigenvalues that a single vector would miss.

On graphs that are not stiff, ARPACK on the matrix itself comes first, since products are much
cheaper than solves: three times faster at 70,000 nodes and 50 eigenpairs. The block method then
only checks that nothing was missed.
"""

from typing import Literal, NamedTuple, get_args

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from threadpoolctl import threadpool_limits

from poise.arrays import Floats
from poise.errors import ConvergenceError, InputError
from poise.linalg.breakdown import named_breakdown
from poise.linalg.prepared import PreparedLaplacian
from poise.linalg.simultaneous import is_stiff, solve

SpectrumKind = Literal["combinatorial", "normalised", "random-walk"]

#: Up to so many nodes a dense method is used: under a second, and 18 MB.
DENSE_MAX_NODES = 1_500
#: Vectors per application of the pseudo-inverse: one packet of the solver.
BLOCK_VECTORS = 8
#: Vectors of the basis beyond the wanted ones: as many before a restart, and after it.
ROOM_VECTORS = 20 * BLOCK_VECTORS
GUARD_VECTORS = 2 * BLOCK_VECTORS
#: Relative residual of the pseudo-inverse's eigenpairs, and of the solves that apply it.
RITZ_RTOL = 1e-10
SOLVE_RTOL = 1e-12
#: Promised residual ``|A v - lambda v|``, relative to the bound of the largest eigenvalue.
MAX_RESIDUAL = 1e-9
#: Blocks from a new random start, orthogonal to the vectors so far, that must find nothing new.
CHECK_BLOCKS = 4
MAX_BLOCKS = 2_000
#: ARPACK is abandoned after so many restarts; 20 are usual.
MAX_RESTARTS = 40


class _Operator(NamedTuple):
    """``A = S L S`` with ``S = I`` or ``D^-1/2``, and its nullspace."""

    prepared: PreparedLaplacian
    scale: Floats  # (n, 1), the diagonal of S
    nullspace: sparse.csr_array  # (n, components), orthonormal columns

    def apply(self, X: Floats) -> Floats:
        return np.asarray(self.scale * self.prepared.product(self.scale * X))

    def invert(self, X: Floats) -> Floats:
        """Pseudo-inverse: of L between two divisions by S, then off the nullspace."""
        # A solve that did not converge does no harm: the residuals of the eigenpairs are checked.
        y = solve(self.prepared, X / self.scale, singular=True, rtol=SOLVE_RTOL).value
        return self.without_nullspace(y / self.scale)

    def without_nullspace(self, X: Floats) -> Floats:
        return np.asarray(X - self.nullspace @ (self.nullspace.T @ X))


@named_breakdown()
def smallest_eigenpairs(
    prepared: PreparedLaplacian, m: int, kind: SpectrumKind = "combinatorial", seed: int = 0
) -> tuple[Floats, Floats]:
    """The `m` smallest eigenvalues of a Laplacian, ascending, and their eigenvectors.

    ================  ==========================  =============================
    kind              matrix                      eigenvectors
    ================  ==========================  =============================
    "combinatorial"   ``L = D - W``               orthonormal
    "normalised"      ``D^-1/2 L D^-1/2``         orthonormal
    "random-walk"     ``D^-1 L``                  orthonormal with weights `d`
    ================  ==========================  =============================

    A node without edges has an all-zero row in each, and counts as ``d = 1`` in the weights.
    Eigenvalue 0 comes first, exactly, once per component in the components' order, with a vector
    that is constant there and 0 elsewhere (times ``D^1/2`` if "normalised"). The entry of largest
    absolute value of every vector is positive.

    The result is kept with `prepared`: asking again, or for fewer, costs nothing.

    Parameters
    ----------
    prepared : PreparedLaplacian
    m : int, from 1 to n
    seed : int
        Of the random start. It matters only within the tolerance and for repeated eigenvalues.

    Returns
    -------
    values : (m,) array, read-only
    vectors : (n, m) array, read-only

    Raises
    ------
    ConvergenceError
        If a residual ``|A v - lambda v|`` exceeds 1e-9 times the bound of the spectrum.

    References
    ----------
    K. Wu and H. Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems",
    SIAM J. Matrix Anal. Appl. 22, 2000. G. Golub and R. Underwood, "The block Lanczos method for
    computing eigenvalues", Mathematical Software III, 1977.
    """
    if kind not in get_args(SpectrumKind):
        known = ", ".join(get_args(SpectrumKind))
        raise InputError(f"no Laplacian is called {kind!r}: there are {known}")
    number: object = m
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
        raise InputError(f"m is {m!r}: give a number of eigenpairs, 1 or more")
    if m > prepared.n:
        raise InputError(
            f"{m} eigenpairs of a graph with {prepared.n} nodes: ask for {prepared.n} or fewer"
        )
    kept = prepared.cache.spectra
    if len(kept.get((kind, seed), ((),))[0]) < m:
        if kind == "random-walk":
            values, vectors = smallest_eigenpairs(prepared, m, "normalised", seed)
            vectors = _signed(vectors / _root_degrees(prepared)[:, None])
        else:
            values, vectors = _compute(prepared, int(m), kind, seed)
        values.flags.writeable = vectors.flags.writeable = False
        kept[kind, seed] = values, vectors
    values, vectors = kept[kind, seed]
    return values[:m], vectors[:, :m]


def _compute(
    prepared: PreparedLaplacian, m: int, kind: SpectrumKind, seed: int
) -> tuple[Floats, Floats]:
    n = prepared.n
    root = _root_degrees(prepared) if kind == "normalised" else np.ones(n)
    norms = np.sqrt(np.bincount(prepared.components, weights=root**2))
    entries = (root / norms[prepared.components], (np.arange(n), prepared.components))
    A = _Operator(prepared, 1.0 / root[:, None], sparse.csr_array(entries, (n, len(norms))))
    first = A.nullspace[:, : min(m, len(norms))].toarray()
    wanted = m - first.shape[1]
    if wanted == 0:
        return np.zeros(m), _signed(first)
    bound = 2.0 if kind == "normalised" else 2.0 * float(prepared.degrees.max())
    if n <= DENSE_MAX_NODES:
        values, vectors = _dense(A, wanted, bound)
    else:
        # On two busy cores a second BLAS thread made this three times slower, on idle ones hardly
        # faster: the products are bound by memory. The solver keeps its own threads.
        with threadpool_limits(limits=1, user_api="blas"):
            pairs = None if is_stiff(prepared) else _direct(A, wanted, bound, seed)
            values, vectors = _lanczos(A, wanted, seed, pairs)
    values = np.maximum(values, 0.0)
    residuals = np.linalg.norm(A.apply(vectors) - vectors * values, axis=0)
    if not residuals.max() <= MAX_RESIDUAL * bound:
        raise ConvergenceError(
            f"an eigenvector of the {kind} Laplacian has residual {residuals.max():.1e}, more than "
            f"{MAX_RESIDUAL:.0e} of the spectrum's bound {bound:.1e}: the weights span too many "
            "orders of magnitude; ask for fewer eigenpairs, or raise the smallest weights"
        )
    return np.concatenate([np.zeros(m - wanted), values]), _signed(np.hstack([first, vectors]))


def _dense(A: _Operator, wanted: int, bound: float) -> tuple[Floats, Floats]:
    # The nullspace is lifted above everything else, so that the rest cannot mix with it.
    matrix = A.apply(np.eye(A.prepared.n)) + 2.0 * bound * (A.nullspace @ A.nullspace.T).toarray()
    values, vectors = linalg.eigh((matrix + matrix.T) / 2, subset_by_index=[0, wanted - 1])
    return values, vectors


def _direct(A: _Operator, wanted: int, bound: float, seed: int) -> tuple[Floats, Floats] | None:
    """The smallest eigenpairs by products with `A` alone, or None if they take too many."""
    n = A.prepared.n
    if 2 * wanted >= n - A.nullspace.shape[1]:
        return None

    S = sparse.diags_array(A.scale[:, 0])
    shifted = S @ A.prepared.weights @ S
    shifted += sparse.diags_array(bound - A.prepared.degrees * A.scale[:, 0] ** 2)
    shifted = sparse.csr_array(shifted)

    def flipped(x: Floats) -> Floats:
        # ``bound I - A`` but for the nullspace, which is at 0, below everything else.
        return A.without_nullspace(shifted @ A.without_nullspace(x.ravel()))

    start = np.random.default_rng([seed, 1]).normal(size=n)
    operator = LinearOperator((n, n), matvec=flipped, dtype=np.float64)
    try:
        values, vectors = eigsh(
            operator, wanted, which="LA", tol=1e-13, v0=start, maxiter=MAX_RESTARTS
        )
    except ArpackNoConvergence:
        return None
    return bound - values[::-1], np.asarray(vectors[:, ::-1])


def _lanczos(
    A: _Operator, wanted: int, seed: int, pairs: tuple[Floats, Floats] | None
) -> tuple[Floats, Floats]:
    """Largest eigenpairs of the pseudo-inverse, then Rayleigh-Ritz for `A` itself.

    `pairs` are eigenpairs of `A` to start from and to check.
    """
    n = A.prepared.n
    rng = np.random.default_rng(seed)
    space = n - A.nullspace.shape[1]
    limit = min(space, wanted + GUARD_VECTORS + ROOM_VECTORS)
    V = np.empty((n, limit), order="F")
    T = np.zeros((limit, limit))
    size, checks = 0, 0
    if pairs is not None:
        size, checks = wanted, 1
        V[:, :size] = pairs[1]
        T[np.arange(size), np.arange(size)] = 1.0 / pairs[0]
    fresh = rng.normal(size=(n, min(BLOCK_VECTORS, limit - size)))
    block, _ = _orthonormal(A, V[:, :size], fresh, rng)
    for _ in range(MAX_BLOCKS):
        width = block.shape[1]
        V[:, size : size + width] = block
        image = A.invert(block)
        size += width
        T[:size, size - width : size] = V[:, :size].T @ image
        T[size - width : size, :size] = T[:size, size - width : size].T
        theta, S = np.linalg.eigh(T[:size, :size])
        theta, S = theta[::-1], S[:, ::-1]
        block, coupling = _orthonormal(A, V[:, :size], image, rng, min(BLOCK_VECTORS, space - size))
        residuals = np.linalg.norm(coupling @ S[size - width :], axis=0)
        converged = size >= wanted and bool(
            (residuals[:wanted] <= RITZ_RTOL * theta[:wanted]).all()
        )
        checks = checks + 1 if converged and checks else 0
        if converged and (checks > CHECK_BLOCKS or size == space):
            break
        if (converged and not checks) or size + block.shape[1] > limit:
            keep = min(size, wanted + GUARD_VECTORS)
            V[:, :keep] = V[:, :size] @ S[:, :keep]
            T[:] = 0.0
            T[np.arange(keep), np.arange(keep)] = theta[:keep]
            size = keep
        if converged and not checks:
            # A block finds a repeated eigenvalue at most as often as it is wide: search the rest.
            fresh = rng.normal(size=(n, min(BLOCK_VECTORS, space - size)))
            block, _ = _orthonormal(A, V[:, :size], fresh, rng)
            checks = 1
    else:
        raise ConvergenceError(
            f"{wanted} eigenpairs were not found in {MAX_BLOCKS} steps: ask for fewer"
        )
    X = V[:, :size] @ S[:, :wanted]
    values, S = np.linalg.eigh(X.T @ A.apply(X))
    return values, X @ S


def _orthonormal(
    A: _Operator, V: Floats, X: Floats, rng: np.random.Generator, width: int | None = None
) -> tuple[Floats, Floats]:
    """`Q` and `R` with ``X = V (...) + Q R``; `Q` orthonormal, orthogonal to `V` and the nullspace.

    Columns of `X` that `V` and the others already span are replaced by random ones, so that the
    method can continue where the graph has few distinct eigenvalues.
    """
    width = X.shape[1] if width is None else width
    scale = np.linalg.norm(X, axis=0).max(initial=0.0)
    X = _project(A, V, X)
    Q, R, order = linalg.qr(X, mode="economic", pivoting=True)
    rank = min(int((np.abs(np.diag(R)) > 1e-14 * scale).sum()), width)
    coupling = np.zeros((width, X.shape[1]))
    coupling[:rank, order] = R[:rank]
    basis: Floats = np.array(Q[:, :width], dtype=np.float64)
    basis[:, rank:] = rng.normal(size=(len(basis), width - rank))
    # The first pass loses orthogonality to cancellation; two more restore it.
    for _ in range(2):
        basis = np.asarray(np.linalg.qr(_project(A, V, basis))[0], dtype=np.float64)
    return basis, coupling


def _project(A: _Operator, V: Floats, X: Floats) -> Floats:
    X = A.without_nullspace(X)
    return np.asarray(X - V @ (V.T @ X))


def _root_degrees(prepared: PreparedLaplacian) -> Floats:
    """``D^1/2``, 1 where a node has no edges: its row of every Laplacian is zero anyway."""
    return np.sqrt(np.where(prepared.degrees > 0, prepared.degrees, 1.0))


def _signed(vectors: Floats) -> Floats:
    """Each vector with its entry of largest absolute value positive."""
    largest = np.argmax(np.abs(vectors), axis=0)
    signs = np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
    return np.asarray(vectors * signs)
