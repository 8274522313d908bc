"""The value of one node in an environment: which array a node is, given those of its leaves.

Inside the evaluator the dimensions of a node's array are ``node.axes`` in that (sorted) order,
each as long as the axis' range in the scope. Memory order exists only at the edges: inputs are
transposed when they enter (``from_memory``), stores when they leave (``to_memory``).
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from fractions import Fraction
from typing import Generic

from superopt.errors import IllTyped
from superopt.ugraph.best import ranked
from superopt.ugraph.domain import A
from superopt.ugraph.domain import Domain
from superopt.ugraph.node import Best
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.recurrence import stepped
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo

Range = tuple[int, int]  # first position, and the one after the last


def evaluate_node(
    node: Node, domain: Domain[A], known: Mapping[Node, A], sizes: Mapping[str, int]
) -> A:
    """The value of ``node`` where the values of ``known`` (leaves or whole subterms) are given.

    Arrays, the result's too, have the dimensions ``node.axes`` in that order, and cover every
    axis entirely.

    Raises:
        IllTyped: a tensor, a scalar or a state is below ``node`` but not in ``known``.
    """
    region = {axis: (0, size) for axis, size in sizes.items()}
    return Scope(domain, sizes, region, dict(known)).of(node)


@dataclass
class Scope(Generic[A]):
    """The values of nodes at one choice of a range for every axis.

    ``values`` is filled as nodes are asked for, so that each is computed once. A scope may lie
    inside another (a tile inside a program): a node outside ``own`` has the outer one's value.
    ``region`` holds no range for an axis that is walked elsewhere: such a node has no value.
    ``before``: what scans go on from, the old state of a carry.
    """

    domain: Domain[A]
    sizes: Mapping[str, int]
    region: Mapping[str, Range]
    values: dict[Node, A]
    tensors: Mapping[Node, A] = field(default_factory=dict)
    outer: Scope[A] | None = None
    own: frozenset[Node] = frozenset()
    before: Mapping[Node, Node] = field(default_factory=dict)

    def of(self, node: Node) -> A:
        """The value of ``node`` here."""
        stack = [node]
        while stack:
            top = stack[-1]
            if top in self.values:
                stack.pop()
            elif self.outer is not None and top not in self.own:
                self.values[top] = self.outer.of(top)
                stack.pop()
            elif missing := [c for c in operands(top) if c not in self.values]:
                stack.extend(missing)
            else:
                self.values[top] = self._compute(top)
                stack.pop()
        return self.values[node]

    def lengths(self, axes: Iterable[str]) -> tuple[int, ...]:
        """How many positions of each axis lie in the region."""
        return tuple(stop - first for first, stop in map(self._range, axes))

    def _range(self, axis: str) -> Range:
        if axis not in self.region:
            raise IllTyped(f"axis {axis!r} has no range here: it is not placed or not walked")
        return self.region[axis]

    def _compute(self, node: Node) -> A:
        match node:
            case Const() | Named() | Size() | Index():
                return self._known(node)
            case Input() | Scalar() if node in self.tensors:
                return self._part(node, self.tensors[node])
            case Map(fn=fn, args=args):
                return self.domain.apply(fn, [self._aligned(a, node.axes) for a in args])
            case Reduce(fn=fn, axis=axis, arg=arg):
                dim = arg.axes.index(axis)
                if (product := factors(node)) is not None:
                    left, right = (self._aligned(a, arg.axes) for a in product)
                    return self.domain.contract(left, right, dim)
                return self.domain.fold(fn, self.values[arg], dim)
            case Scan(fn=fn, axis=axis, arg=arg):
                found = scanned(self.domain, fn, self.values[arg], arg.axes.index(axis))
                if (before := self.before.get(node)) is None:
                    return found
                return self.domain.apply(fn, [self._aligned(before, node.axes), found])
            case Recur():
                before = self.before.get(node)
                start = None if before is None else self.values[before]
                return stepped(self.domain, node, self.values, start, self.lengths)
            case Best(of=of):
                return ranked(self.domain, node, self.values, self.lengths, size_of(of, self.sizes))
            case State(carry=carry, old=old):
                raise IllTyped(
                    f"the {'old' if old else 'new'} state of {carry!r} is read too early"
                )
            case _:
                raise IllTyped(f"nothing is known about the value of {node!r}")

    def _known(self, node: Const | Named | Size | Index) -> A:
        """The value of what is known without any tensor."""
        match node:
            case Const(value=value):
                return self.domain.constant(value)
            case Named(name=name):
                return self.domain.named(name)
            case Size(axis=axis):
                return self.domain.constant(Fraction(size_of(axis, self.sizes)))
            case Index(axis=axis):
                return self.domain.integers(*self._range(axis))

    def _part(self, node: Node, tensor: A) -> A:
        """The part of a whole tensor that lies in the region."""
        for dim, axis in enumerate(node.axes):
            first, stop = self._range(axis)
            if (first, stop) != (0, self.domain.shape(tensor)[dim]):
                tensor = self.domain.slice(tensor, dim, first, stop)
        return tensor

    def _aligned(self, node: Node, axes: tuple[str, ...]) -> A:
        return aligned(self.domain, self.values[node], node.axes, axes)


def factors(node: Node) -> tuple[Node, Node] | None:
    """The two factors, if ``node`` is a sum of products (whose cube need not be built)."""
    match node:
        case Reduce(fn=Fn.ADD, arg=Map(fn=Fn.MUL, args=(left, right))):
            return left, right
        case _:
            return None


def operands(node: Node) -> tuple[Node, ...]:
    """The nodes whose values ``node`` is computed from."""
    return factors(node) or children(node)


def scanned(domain: Domain[A], fn: Fn, value: A, dim: int) -> A:
    """``value`` folded along dimension ``dim`` up to each position, which is included.

    By doubling: after each step a position holds the fold of twice as many that end there.
    """
    length, step = domain.shape(value)[dim], 1
    while step < length:
        before = domain.slice(value, dim, 0, length - step)
        after = domain.slice(value, dim, step, length)
        head = domain.slice(value, dim, 0, step)
        value = domain.join([head, domain.apply(fn, [before, after])], dim)
        step *= 2
    return value


def varying(roots: Iterable[Node], axes: Iterable[str], carries: Iterable[str]) -> frozenset[Node]:
    """The nodes below ``roots`` that read a position of ``axes`` or a state of ``carries``."""
    moving, states = frozenset(axes), frozenset(carries)
    found: set[Node] = set()
    for node in topo(roots):
        if isinstance(node, State):
            changes = node.carry in states
        elif below := children(node):
            changes = any(c in found for c in below)
        else:
            changes = not moving.isdisjoint(node.axes)
        if changes:
            found.add(node)
    return frozenset(found)


def size_of(axis: str, sizes: Mapping[str, int]) -> int:
    """The size of ``axis``, or an error that names it."""
    if axis not in sizes:
        raise IllTyped(f"the size of axis {axis!r} is not given")
    return sizes[axis]


def aligned(domain: Domain[A], value: A, has: tuple[str, ...], axes: tuple[str, ...]) -> A:
    """``value`` with a dimension of 1 for each of ``axes`` it lacks (both in the same order)."""
    if has == axes:
        return value
    lengths = dict(zip(has, domain.shape(value), strict=True))
    return domain.reshape(value, tuple(lengths.get(axis, 1) for axis in axes))


def from_memory(domain: Domain[A], tensor: A, order: tuple[str, ...]) -> A:
    """A tensor in memory order as the evaluator holds it: dimensions sorted by axis name."""
    places = tuple(order.index(axis) for axis in sorted(order))
    return tensor if places == tuple(range(len(order))) else domain.transpose(tensor, places)


def to_memory(domain: Domain[A], value: A, order: tuple[str, ...]) -> A:
    """The opposite of ``from_memory``."""
    places = tuple(sorted(order).index(axis) for axis in order)
    return value if places == tuple(range(len(order))) else domain.transpose(value, places)
