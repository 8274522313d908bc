"""Which positions of a value an operator needs: masks, followed from the outputs down.

Under ``where(c, a, b)`` the value ``a`` is needed where ``c`` holds; below a fold an element is
needed where it may differ from the fold's unit. So of causal scores half are needed, and of keys
behind a length none. What a mask says of data (and not of positions) is not counted on.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from superopt.ugraph.evaluate import evaluate_node
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.live import Condition
from superopt.ugraph.live import Live
from superopt.ugraph.live import both
from superopt.ugraph.live import either
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo

Array = npt.NDArray[Any]

MOST = 1 << 22  # positions at which one condition is evaluated
_LEAVES = (Const, Index, Size, Scalar, Map)


def needed(program: Program) -> dict[Node, Condition]:
    """For every node of ``program``, a condition on positions outside of which it is not needed."""
    roots = [s.value for s in program.outputs]
    live = Live(BlockGraph((), (), ()))
    found: dict[Node, Condition] = dict.fromkeys(roots, True)

    def ask(node: Node, condition: Condition) -> None:
        found[node] = either(found.get(node, False), positional(condition))

    for node in reversed(topo(roots)):
        here = found[node]
        match node:
            case Map(fn=Fn.WHERE, args=(condition, then, otherwise)):
                ask(condition, here)
                ask(then, both(here, positional(condition)))
                ask(otherwise, both(here, positional(Map(Fn.NOT, (condition,)))))
            case Reduce(fn=fn, arg=arg):
                ask(arg, both(here, positional(live.differs(arg, fn.unit))))
            case Scan(fn=fn, arg=arg):  # an early position may be needed for a late one
                ask(arg, positional(live.differs(arg, fn.unit)))
            case Recur():  # and a step may need what says that it adds nothing
                for arg in children(node):
                    ask(arg, True)
            case Map(args=args):
                for arg in args:
                    ask(arg, here)
            case _:
                continue
    return found


def positional(condition: Condition) -> Condition:
    """``condition`` without what it says of data: the weakest that it implies about positions."""
    match condition:
        case bool():
            return condition
        case Map(fn=Fn.AND, args=(left, right)):
            return both(positional(left), positional(right))
        case Map(fn=Fn.OR, args=(left, right)):
            return either(positional(left), positional(right))
        case _:
            return condition if all(_known(n) for n in topo([condition])) else True


def _known(node: Node) -> bool:
    if isinstance(node, Input):
        return node.kind is not Kind.REAL
    return isinstance(node, _LEAVES)


def share(
    condition: Condition,
    axes: Sequence[str],
    sizes: Mapping[str, int],
    values: Mapping[str, Array | float],
    most: int = MOST,
) -> float:
    """The part of the positions of ``axes`` at which ``condition`` holds, for some position of its
    other axes.

    ``values``: integer and boolean tensors (memory order) and scalars, by name; a condition on one
    that is missing is taken to hold. Of long axes evenly spaced positions are looked at.
    """
    if isinstance(condition, bool):
        return float(condition)
    leaves = [n for n in topo([condition]) if isinstance(n, Input | Scalar)]
    places = _places(condition.axes, axes, sizes, most)
    if places is None or any(n.name not in values for n in leaves):
        return 1.0
    known: dict[Node, Array] = {Size(a): np.asarray(n) for a, n in sizes.items()}
    known |= {Index(a): at for a, at in places.items()}
    for leaf in leaves:
        known[leaf] = _selected(leaf, np.asarray(values[leaf.name]), places)
    lengths = {a: len(places[a]) if a in places else n for a, n in sizes.items()}
    truth = evaluate_node(condition, FloatDomain(np.float64), known, lengths)
    others = tuple(i for i, a in enumerate(condition.axes) if a not in axes)
    some = truth.any(axis=others) if others else truth
    return float(some.mean()) if some.size else 0.0


def _selected(leaf: Input | Scalar, value: Array, places: Mapping[str, Array]) -> Array:
    """The leaf's value at ``places``, its dimensions in the order of sorted axes."""
    if isinstance(leaf, Scalar):
        return value
    for dim, axis in enumerate(leaf.order):
        value = value.take(places[axis], axis=dim)
    return value.transpose([leaf.order.index(a) for a in leaf.axes])


def _places(
    axes: Sequence[str], kept: Sequence[str], sizes: Mapping[str, int], most: int
) -> dict[str, Array] | None:
    """Positions of every axis; those of ``kept`` are thinned out until all together are few enough
    (the others cannot be: an "exists" would be missed). None if that is impossible."""
    counts = {a: sizes[a] for a in axes}
    while prod(counts.values()) > most:
        longest = max((a for a in axes if a in kept), key=lambda a: counts[a], default=None)
        if longest is None or counts[longest] <= 1:
            return None
        counts[longest] = -(-counts[longest] // 2)
    return {
        a: (np.arange(n, dtype=np.int64) * 2 + 1) * sizes[a] // (2 * n) for a, n in counts.items()
    }
