"""Recurrences in specs: a step is written with the ordinary algebra, and checked to be affine.

The step is traced once, on a symbol for the state. What comes out is taken apart, by structure,
into ``keep * s + add + sum of out * sum over along of (into * s)``, the coefficients of which no
longer read the state (``ugraph.node.Recur``). Any step that is a polynomial of degree 1 in the
entries of the state and written with sums, products by what positions say and choices has this
form; anything else is refused, with the term in which it is not affine.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from superopt.axes import known_axis
from superopt.errors import IllTyped
from superopt.tensor import Operand
from superopt.tensor import Tensor
from superopt.tensor import node_of
from superopt.tensor import refuse
from superopt.tensor import spoken
from superopt.ugraph.node import MINUS
from superopt.ugraph.node import ONE
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.text import show
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo

_open: list[State] = []  # the states of the steps that are being traced


@dataclass(frozen=True)
class _Sum:
    """``out * sum over along of (into * state)``."""

    along: tuple[str, ...]
    out: Node
    into: Node


@dataclass(frozen=True)
class _Affine:
    """``keep * state + add + sums``."""

    keep: Node = ZERO
    add: Node = ZERO
    sums: tuple[_Sum, ...] = ()


def recur(axis: str, state: str, step: Callable[[Tensor], Operand], first: Operand = 0) -> Tensor:
    """The states after each position of ``axis``: ``s = step(s)``, beginning with ``s = first``.

    ``state`` names all axes of the state; ``step`` gets the state before a position and says
    that after it, at every position of ``axis`` at once.

    Raises:
        SpecError: the step is not affine in the state, or varies over other axes than it says.
    """
    known_axis(axis)
    if not isinstance(state, str):
        refuse(f'axes of a state are named by one string, as in "b d e", got {state!r}')
    if not callable(step):
        kind = type(step).__name__
        refuse(f"a step is a function of the state before a position, got a {kind}")
    over = tuple(known_axis(a) for a in state.split())
    if axis in over:
        refuse(f"the state is that after one position of {axis!r}, so it has no such axis")
    symbol = State(f"state{len(_open)}", over, old=True)
    _open.append(symbol)
    try:
        after = node_of(step(Tensor(symbol)))
    finally:
        _open.pop()
    found = _taken_apart(after, symbol, axis)
    args = (found.keep, found.add, *(n for s in found.sums for n in (s.out, s.into)))
    try:
        node = Recur(axis, tuple(s.along for s in found.sums), args, first=node_of(first))
    except IllTyped as error:
        refuse(str(error))
    if set(node.state) != set(over):
        named = f"recur names {spoken(over)} as the axes of the state"
        refuse(f"{named}, but what its step makes varies over {spoken(node.state)}")
    return Tensor(node)


def _taken_apart(after: Node, state: State, axis: str) -> _Affine:
    found: dict[Node, _Affine] = {state: _Affine(keep=ONE)}
    for node in topo([after]):
        if any(c in found for c in children(node)):
            parts = [found.get(c, _Affine(add=c)) for c in children(node)]
            found[node] = _part(node, parts, found, state, axis)
    return found.get(after, _Affine(add=after))


def _part(
    node: Node, parts: list[_Affine], found: Mapping[Node, _Affine], state: State, axis: str
) -> _Affine:
    """``node``, some of whose arguments depend on the state."""
    match node:
        case Map(fn=Fn.ADD):
            return _added(parts[0], parts[1])
        case Map(fn=Fn.SUB):
            return _added(parts[0], _scaled(parts[1], MINUS))
        case Map(fn=Fn.MUL, args=(a, b)) if b not in found:
            return _scaled(parts[0], b)
        case Map(fn=Fn.MUL, args=(a, b)) if a not in found:
            return _scaled(parts[1], a)
        case Map(fn=Fn.DIV, args=(_, b)) if b not in found:
            return _scaled(parts[0], Map(Fn.DIV, (ONE, b)))
        case Map(fn=Fn.WHERE, args=(c, _, _)) if c not in found:
            return _chosen(c, parts[1], parts[2], node)
        case Reduce(fn=Fn.ADD, axis=over) if over != axis:
            return _summed(parts[0], over, state, node)
        case Reduce(axis=over) if over == axis:
            why = f"a step sees one position of {axis!r}, so it folds over none"
        case _:
            why = "a step adds, scales and sums what it makes of its state, no more"
    return _refused(node, why)


def _refused(node: Node, why: str) -> NoReturn:
    text = show(node).splitlines()[-1].removeprefix("node ")
    refuse(f"the step is not affine in its state in {text}: {why}")


def _unsaid(node: Node, why: str) -> NoReturn:
    text = show(node).splitlines()[-1].removeprefix("node ")
    refuse(f"the step is affine, but no recurrence says {text}: {why}")


def _added(a: _Affine, b: _Affine) -> _Affine:
    sums = {(s.along, s.into): s for s in a.sums}
    for s in b.sums:
        key = (s.along, s.into)
        sums[key] = _Sum(s.along, _plus(sums[key].out, s.out), s.into) if key in sums else s
    return _Affine(_plus(a.keep, b.keep), _plus(a.add, b.add), tuple(sums.values()))


def _scaled(a: _Affine, by: Node) -> _Affine:
    sums = tuple(_Sum(s.along, _times(by, s.out), s.into) for s in a.sums)
    return _Affine(_times(by, a.keep), _times(by, a.add), sums)


def _chosen(condition: Node, a: _Affine, b: _Affine, node: Node) -> _Affine:
    """A choice is one of each coefficient; what a sum is not chosen for, it does not read."""

    def sums(of: _Affine, first: bool) -> list[_Sum]:
        found = []
        for s in of.sums:
            if set(s.along) & set(condition.axes):
                _unsaid(node, f"a sum over {spoken(s.along)} is chosen along what it sums over")
            out, into = (_select(condition, n, ZERO, first) for n in (s.out, s.into))
            found.append(_Sum(s.along, out, into))
        return found

    keep = _select(condition, a.keep, b.keep, True)
    add = _select(condition, a.add, b.add, True)
    return _Affine(keep, add, (*sums(a, True), *sums(b, False)))


def _select(condition: Node, chosen: Node, other: Node, first: bool) -> Node:
    if chosen is other:
        return chosen
    return Map(Fn.WHERE, (condition, chosen, other) if first else (condition, other, chosen))


def _summed(a: _Affine, over: str, state: State, node: Node) -> _Affine:
    """The sum over an axis of the state, or of what it is scaled by alone."""
    found = _Affine(add=_total(a.add, over))
    if over in state.axes:
        if a.keep is not ZERO:
            found = _added(found, _Affine(sums=(_Sum((over,), ONE, a.keep),)))
    else:
        found = _added(found, _Affine(keep=_total(a.keep, over)))
    for s in a.sums:
        inside = {*s.into.axes, *state.axes} - {*s.along}
        if over not in inside:
            joined = _Sum(s.along, _total(s.out, over), s.into)
        elif over in s.out.axes and set(s.out.axes) & set(s.along):
            _unsaid(node, f"a sum over {spoken(s.along)} is scaled along that and summed again")
        else:
            along = tuple(sorted((*s.along, over)))
            out, into = (ONE, _times(s.out, s.into)) if over in s.out.axes else (s.out, s.into)
            joined = _Sum(along, out, into)
        found = _added(found, _Affine(sums=(joined,)))
    return found


def _total(node: Node, axis: str) -> Node:
    """The sum over an axis along which ``node`` may be the same everywhere."""
    return Reduce(Fn.ADD, axis, node) if axis in node.axes else _times(Size(axis), node)


def _plus(a: Node, b: Node) -> Node:
    if a is ZERO or b is ZERO:
        return b if a is ZERO else a
    return Map(Fn.ADD, (a, b))


def _times(a: Node, b: Node) -> Node:
    if a is ZERO or b is ZERO:
        return ZERO
    if a is ONE or b is ONE:
        return b if a is ONE else a
    return Map(Fn.MUL, (a, b))
