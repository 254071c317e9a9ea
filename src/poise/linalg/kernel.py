"""Singular operators: where the constants of a component are the kernel."""

import numpy as np

from poise.arrays import Bools, Floats, Ints
from poise.errors import InputError
from poise.linalg.prepared import PreparedLaplacian


def kernel_of(prepared: PreparedLaplacian, Q: Floats, F: Bools) -> Bools:
    """(K, n) mask of the nodes in components on which operator k has the constants as kernel."""
    held = ~F | (Q > 0)
    kernel = np.empty(held.shape, dtype=bool)
    for k, holds_at in enumerate(held):
        holds = np.bincount(prepared.components, weights=holds_at) > 0
        kernel[k] = ~holds[prepared.components]
    return kernel


def check_kernel(
    prepared: PreparedLaplacian, B: Floats, kernel: Bools, which: Ints, singular: bool
) -> Floats:
    """Refuse a singular operator that was not declared, and right-hand sides outside its range."""
    if not kernel.any():
        return B
    if not singular:
        raise InputError(
            "the operator is singular (a component with no bound node and no diagonal): "
            "declare it with singular=True, or bind a node there"
        )
    B = B.copy()
    sizes = np.bincount(prepared.components)
    for j, row in enumerate(B):
        in_kernel = kernel[which[j]]
        part = np.where(in_kernel, row, 0.0)
        sums = np.bincount(prepared.components, weights=part)
        if np.abs(sums).max() > 1e-8 * max(np.abs(part).sum(), 1e-300):
            worst = int(np.argmax(np.abs(sums)))
            raise InputError(
                f"column {j} of rhs sums to {sums[worst]:.2e} over component {worst}, where the "
                "operator's kernel is the constants: subtract the component's mean first"
            )
        row -= np.where(in_kernel, (sums / sizes)[prepared.components], 0.0)
    return B


def centre(prepared: PreparedLaplacian, X: Floats, in_kernel: Bools) -> None:
    """Remove the mean of each component in place where the constants are the kernel."""
    if not in_kernel.any():
        return
    sizes = np.bincount(prepared.components)
    for row, mask in zip(X, in_kernel, strict=True):
        means = np.bincount(prepared.components, weights=row) / sizes
        row -= np.where(mask, means[prepared.components], 0.0)
