"""What a recurrence is (``node.Recur``): its step as a term, and its states in any domain."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from superopt.ugraph.domain import A
from superopt.ugraph.domain import Domain
from superopt.ugraph.node import ONE
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import Fn

Lengths = Callable[[Sequence[str]], tuple[int, ...]]


def sums(node: Recur) -> list[tuple[tuple[str, ...], Node, Node]]:
    """The sums of a step: over which axes, what they and what the state is multiplied with."""
    return list(zip(node.along, node.args[2::2], node.args[3::2], strict=True))


def work(node: Recur) -> tuple[int, tuple[int, ...]]:
    """Operations per element of the state at each step: those point by point, and those of each
    sum with what it is of."""
    keep, add = node.args[:2]
    found = (keep not in (ZERO, ONE)) + (add is not ZERO)
    found += sum(1 + (out is not ONE) for _, out, _ in sums(node))
    return found, tuple(1 + (into is not ONE) for _, _, into in sums(node))


def operations(nodes: Collection[Node], node: Recur) -> int:
    """The same together; none if what is wanted is the last of states among ``nodes``."""
    if node.last and replace(node, last=False) in nodes:
        return 0
    points, folds = work(node)
    return points + sum(folds)


def step(node: Recur, state: Node) -> Node:
    """The state after one position, as a term of ``state``, that before it; what a position says
    varies over the recurrence's axis."""
    keep, add = node.args[:2]
    terms = [] if keep is ZERO else [state if keep is ONE else Map(Fn.MUL, (keep, state))]
    for along, out, into in sums(node):
        inner: Node = state if into is ONE else Map(Fn.MUL, (into, state))
        for axis in along:
            inner = Reduce(Fn.ADD, axis, inner)
        terms.append(inner if out is ONE else Map(Fn.MUL, (out, inner)))
    terms += [add] if add is not ZERO or not terms else []
    found = terms[0]
    for term in terms[1:]:
        found = Map(Fn.ADD, (found, term))
    return found


def stepped(
    domain: Domain[A],
    node: Recur,
    values: Mapping[Node, A],
    start: A | None,
    lengths: Lengths,
) -> A:
    """The value of ``node``, its dimensions in the order of its axes.

    ``values``: of its arguments, likewise. ``start``: the state before the first position in hand
    (None: as the node says). ``lengths``: of axes in the scope at hand.
    """
    (count,) = lengths([node.axis])
    shape = lengths(node.state)
    state = start
    if state is None:
        state = begun(domain, node.first.axes, values[node.first], node.state, shape)
    states: list[A] = []
    for position in range(count):
        here = [_at(domain, node, arg, values[arg], position) for arg in node.args]
        state = _next(domain, node, here, state, shape)
        states.append(state)
    if node.last:
        return state
    if not states:
        return domain.full(lengths(node.axes), Fraction(0))
    dim = node.axes.index(node.axis)
    alone = (*shape[:dim], 1, *shape[dim:])
    return domain.join([domain.reshape(s, alone) for s in states], dim)


def begun(
    domain: Domain[A], has: tuple[str, ...], value: A, axes: tuple[str, ...], shape: tuple[int, ...]
) -> A:
    """``value`` over ``has`` as a whole state over ``axes``, which has this ``shape``."""
    lengths = dict(zip(has, domain.shape(value), strict=True))
    wide = domain.reshape(value, tuple(lengths.get(a, 1) for a in axes))
    return domain.apply(Fn.ADD, [domain.full(shape, Fraction(0)), wide])


def _at(domain: Domain[A], node: Recur, arg: Node, value: A, position: int) -> A:
    """An argument at one position, with a dimension for each axis of the state."""
    if node.axis in arg.axes:
        value = domain.slice(value, arg.axes.index(node.axis), position, position + 1)
    has = dict(zip(arg.axes, domain.shape(value), strict=True))
    return domain.reshape(value, tuple(has.get(a, 1) for a in node.state))


def _next(domain: Domain[A], node: Recur, here: Sequence[A], state: A, shape: tuple[int, ...]) -> A:
    """The state after a position that says ``here``."""
    keep, add, *pairs = here
    found = domain.apply(Fn.ADD, [domain.apply(Fn.MUL, [keep, state]), add])
    for along, out, into in zip(node.along, pairs[::2], pairs[1::2], strict=True):
        dims = sorted((node.state.index(a) for a in along), reverse=True)
        inner = domain.contract(into, state, dims[0])
        for dim in dims[1:]:
            inner = domain.fold(Fn.ADD, inner, dim)
        left = tuple(1 if dim in dims else length for dim, length in enumerate(shape))
        inner = domain.reshape(inner, left)
        found = domain.apply(Fn.ADD, [found, domain.apply(Fn.MUL, [out, inner])])
    return found
