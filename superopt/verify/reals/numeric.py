"""The meaning of a term in float64, with named axes: evaluates counterexamples again.

Infinities follow the contract: exp(-inf) is 0, log 0 is -inf, a quotient by zero and the
difference of equal infinities are undefined (NaN), a select does not look at the other arm.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from functools import partial
from math import e
from math import erf
from math import pi

import numpy as np
import numpy.typing as npt

from superopt.ugraph.floats import nearest
from superopt.ugraph.grids import GRIDS
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo

Array = npt.NDArray[np.float64]
NAMED = {Constant.LOG2E: float(np.log2(e)), Constant.LN2: float(np.log(2.0)), Constant.PI: pi}


def evaluate(
    roots: Sequence[Node], leaves: Mapping[Node, Array], sizes: Mapping[str, int]
) -> list[Array]:
    """The values of ``roots``; truth values are 0 and 1.

    ``leaves``: arrays whose last dimensions are the leaf's ``axes`` in that order; further
    dimensions in front are the same for all leaves (sample points) and kept in front.
    """
    points = {a.shape[: a.ndim - len(n.axes)] for n, a in leaves.items()}
    batch = next(iter(points), ())
    done: dict[Node, Array] = {}
    with np.errstate(all="ignore"):
        for node in topo(roots):
            known = leaves.get(node)
            done[node] = known if known is not None else _value(node, done, sizes, batch)
    return [done[r] for r in roots]


def _value(
    node: Node, done: Mapping[Node, Array], sizes: Mapping[str, int], batch: tuple[int, ...]
) -> Array:
    match node:
        case Const(value=value):
            return np.full(batch, float(value))
        case Named(name=name):
            return np.full(batch, NAMED[name])
        case Size(axis=axis):
            return np.full(batch, float(sizes[axis]))
        case Index(axis=axis):
            return np.broadcast_to(np.arange(sizes[axis], dtype=np.float64), (*batch, sizes[axis]))
        case Map(fn=fn, args=args):
            return MEANING[fn](*(_stretched(done[a], a.axes, node.axes) for a in args))
        case Reduce(fn=fn, axis=axis, arg=arg):
            dim = done[arg].ndim - len(arg.axes) + arg.axes.index(axis)
            return np.asarray(_FOLD[fn].reduce(done[arg], axis=dim, initial=float(fn.unit)))
        case Scan(fn=fn, axis=axis, arg=arg):
            dim = done[arg].ndim - len(arg.axes) + arg.axes.index(axis)
            return np.asarray(_FOLD[fn].accumulate(done[arg], axis=dim))
        case _:
            raise KeyError(f"no value is given for {node!r}")


def _stretched(value: Array, have: tuple[str, ...], want: tuple[str, ...]) -> Array:
    """Dimensions of length 1 for the axes that are missing (both are sorted)."""
    front = value.ndim - len(have)
    lengths = iter(value.shape[front:])
    return value.reshape((*value.shape[:front], *(next(lengths) if a in have else 1 for a in want)))


def _div(a: Array, b: Array) -> Array:
    return np.where(b == 0, np.nan, a / b)


def _rsqrt(a: Array) -> Array:
    return np.where(a == 0, np.nan, 1 / np.sqrt(a))


def _where(c: Array, a: Array, b: Array) -> Array:
    return np.where(np.isnan(c), np.nan, np.where(c != 0, a, b))


def _sigmoid(a: Array) -> Array:
    return np.asarray(0.5 * (1 + np.tanh(a / 2)))


def _truth(fn: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """A comparison or connective that is undefined if an argument is."""
    return lambda a, b: np.where(np.isnan(a) | np.isnan(b), np.nan, fn(a, b))


MEANING: dict[Fn, Callable[..., Array]] = {
    Fn.ADD: np.add,
    Fn.SUB: np.subtract,
    Fn.MUL: np.multiply,
    Fn.DIV: _div,
    Fn.MAX: np.maximum,
    Fn.MIN: np.minimum,
    Fn.ABS: np.abs,
    Fn.EXP: np.exp,
    Fn.EXP2: np.exp2,
    Fn.LOG: np.log,
    Fn.LOG2: np.log2,
    Fn.SQRT: np.sqrt,
    Fn.RSQRT: _rsqrt,
    Fn.TANH: np.tanh,
    Fn.SIGMOID: _sigmoid,
    Fn.ERF: np.vectorize(erf, otypes=[np.float64]),
    **{fn: partial(nearest, grid=grid) for fn, grid in GRIDS.items()},
    Fn.LT: _truth(np.less),
    Fn.LE: _truth(np.less_equal),
    Fn.EQ: _truth(np.equal),
    Fn.AND: np.minimum,
    Fn.OR: np.maximum,
    Fn.NOT: lambda a: 1 - a,
    Fn.WHERE: _where,
}
_FOLD = {Fn.ADD: np.add, Fn.MUL: np.multiply, Fn.MAX: np.maximum, Fn.MIN: np.minimum}


def same(a: Array, b: Array, tolerance: float = 1e-7) -> npt.NDArray[np.bool_]:
    """Where two values agree: both undefined, the same infinity, or close."""
    with np.errstate(all="ignore"):
        close = np.abs(a - b) <= tolerance * (1 + np.abs(a) + np.abs(b))
        real = np.isfinite(a) & np.isfinite(b) & close
        return np.asarray((np.isnan(a) & np.isnan(b)) | (a == b) | real)
