"""Arithmetic on a few numbers at once, for compiled code: one lane per column of a solve.

Numbers that are next to each other in a row of an (n, width) array are carried as a tuple.
The compiler turns tuples into vector registers, so twelve columns cost little more than one, and
every lane keeps its own order of operations: strict IEEE, whatever the other lanes hold.

The width is part of the type of a tuple. Each function below is therefore written once for every
width in `WIDTHS`, by `overload`, and the functions that use them are compiled once per width.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

#: Supported numbers of lanes. Four doubles or eight singles fill a register of a current processor.
#: Rows of neighbours are gathered from all over memory, so a wide packet costs little more than a
#: narrow one: twelve lanes carry the columns of ten classes (docs/decisions/compiled-kernel.md).
WIDTHS = (1, 4, 12)
#: Bytes that the processor moves between memory and its caches at once.
LINE_BYTES = 64


def load(A: Any, i: Any, lanes: Any) -> Any:
    """Row `i` of `A` or, if `A` has one dimension, its number `i` in every lane.

    `lanes` is any tuple of the same width.
    """


def store(A: Any, i: Any, a: Any) -> None:
    """Write `a` to row `i` of `A`."""


def add(a: Any, b: Any) -> Any:
    """Lane by lane ``a + b``."""


def subtract(a: Any, b: Any) -> Any:
    """Lane by lane ``a - b``."""


def multiply(a: Any, b: Any) -> Any:
    """Lane by lane ``a * b``."""


def times(b: Any, a: Any) -> Any:
    """Every lane of `a` times the number `b`."""


def where_positive(a: Any, b: Any, c: Any) -> Any:
    """Lane by lane `b` where `a` is positive, else `c`."""


def _of_widths(function: Callable[..., Any], lane: str, *, returns: bool = True) -> dict[int, Any]:
    """Code of `function` for every width, from the code of one lane, number ``{j}``.

    The code is text, because only then can its length depend on the width, and because numba
    requires the argument names of `function`.
    """
    arguments = ", ".join(signature(function).parameters)
    code: dict[int, Any] = {}
    for width in WIDTHS:
        lanes = [lane.format(j=j) for j in range(width)]
        body = f"return ({', '.join(lanes)},)" if returns else "; ".join(lanes)
        namespace: dict[str, Any] = {}
        exec(f"def of_width({arguments}): {body}", namespace)
        code[width] = namespace["of_width"]
    return code


def _implement(function: Callable[..., Any], lane: str, *, returns: bool = True) -> None:
    """Make `function` callable in compiled code; the width is that of its last argument."""
    *_, last = names = list(signature(function).parameters)
    chooser: dict[str, Any] = {"code": _of_widths(function, lane, returns=returns)}
    exec(f"def choose({', '.join(names)}): return code[{last}.count]", chooser)
    overload(function)(chooser["choose"])


_rows, _numbers = _of_widths(load, "A[i, {j}]"), _of_widths(load, "A[i]")


@overload(load)
def _load(A, i, lanes):  # type: ignore[no-untyped-def]
    return (_numbers if A.ndim == 1 else _rows)[lanes.count]


_implement(store, "A[i, {j}] = a[{j}]", returns=False)
_implement(add, "a[{j}] + b[{j}]")
_implement(subtract, "a[{j}] - b[{j}]")
_implement(multiply, "a[{j}] * b[{j}]")
_implement(times, "b * a[{j}]")
_implement(where_positive, "b[{j}] if a[{j}] > 0 else c[{j}]")


def _prefetch(typing, A, i, lanes):  # type: ignore[no-untyped-def]
    """Ask for row `i` of `A`, which is read later, while other rows are worked on."""
    # A row begins with a line or, if several fit into one, ends within it: see `row_stride`.
    offsets = range(0, lanes.count * lanes.dtype.bitwidth // 8, LINE_BYTES)
    number, pointer = ir.IntType(64), ir.IntType(8).as_pointer()

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        row = context.cast(builder, arguments[1], signature.args[1], types.intp)
        distance = builder.mul(row, builder.extract_value(array.strides, 0))
        start = builder.add(builder.ptrtoint(array.data, number), distance)
        # For reading, into all caches, data.
        how = [ir.Constant(ir.IntType(32), flag) for flag in (0, 3, 1)]
        takes = ir.FunctionType(ir.VoidType(), [pointer, *(flag.type for flag in how)])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], takes)
        for offset in offsets:
            address = builder.add(start, ir.Constant(number, offset))
            builder.call(function, [builder.inttoptr(address, pointer), *how])
        return context.get_dummy_value()

    return types.void(A, i, lanes), generate


prefetch: Any = intrinsic(_prefetch)


def row_stride(width: int, itemsize: int) -> int:
    """Numbers from one row to the next, so that a row touches as few lines as it can.

    Rows of 48 bytes would lie in two lines half of the time.
    """
    stride = width
    while stride * itemsize < LINE_BYTES and LINE_BYTES % (stride * itemsize):
        stride += 1
    return stride
