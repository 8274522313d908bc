"""Which values other than finite numbers a node of a kernel can take, as far as can be told.

Inputs and run-time scalars are taken as finite (infinities in inputs are outside the proofs)
and sizes as positive. Answers err on one side: what is not excluded may occur.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field
from fractions import Fraction

from superopt.ugraph.carry import Carry
from superopt.ugraph.grids import GRIDS
from superopt.ugraph.levels import BlockGraph
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
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number
from superopt.ugraph.walk import children

UNDEFINED = "undefined"
Special = frozenset[float | str]  # -inf, +inf, UNDEFINED

FINITE: Special = frozenset()
ANY: Special = frozenset({-INF, INF, UNDEFINED})

# What is known in one arm of a where: pairs (node, a value that the node does not have there).
Known = frozenset[tuple[Node, Number]]
NOTHING: Known = frozenset()


# Nodes nested deeper than this are not looked into: nothing is excluded for them.
DEPTH = 80


@dataclass
class Infinities:
    """The specials of the nodes of one kernel."""

    block: BlockGraph
    done: dict[tuple[Node, Known], Special] = field(default_factory=dict)
    signs: dict[tuple[str, Node, Known], bool] = field(default_factory=dict)
    depth: int = 0

    def __post_init__(self) -> None:
        self.carries = {c.name: c for w in self.block.nest for c in w.carries}

    def of(self, node: Node, known: Known = NOTHING) -> Special:
        """What ``node`` may be besides a finite number, where ``known`` holds."""
        key = (node, known)
        if key not in self.done:
            self.done[key] = ANY  # the answer inside a cycle of states
            self.depth += 1
            self.done[key] = self._of(node, known) if self.depth < DEPTH else ANY
            self.depth -= 1
        return self.done[key] - {value for n, value in known if n is node}

    def _of(self, node: Node, known: Known) -> Special:
        match node:
            case Const(value=value):
                return frozenset({value}) if isinstance(value, float) else FINITE
            case Named() | Input() | Scalar() | Size() | Index():
                return FINITE
            case State(carry=name) if name in self.carries:
                return self._state(self.carries[name])
            case Reduce(fn=fn, arg=arg) | Scan(fn=fn, arg=arg):
                return _folded(fn, self.of(arg, known))
            case Best(at=True):
                return FINITE
            case Best(taken=True):
                return FINITE.union(*map(self.of, node.payloads))
            case Best(args=args):
                return frozenset({-INF}).union(*map(self.of, args[::2]))
            case Recur() if not any(self.of(a, known) for a in children(node)):
                return FINITE
            case Map(fn=Fn.WHERE, args=(condition, then, otherwise)):
                return self.of(then, known | learned(condition, True)) | self.of(
                    otherwise, known | learned(condition, False)
                )
            case Map(fn=fn, args=args):
                return self._map(fn, args, known)
            case _:
                return ANY

    def _state(self, carry: Carry) -> Special:
        if carry.listed is not None and carry.listed.at:
            return FINITE
        if carry.listed is not None and carry.listed.taken:
            return self.of(carry.term)
        own = _folded(carry.fold, self.of(carry.term))
        moved = [self.of(m.factor) for m in carry.moves]
        return ANY if any(moved) else own

    def _map(self, fn: Fn, args: tuple[Node, ...], known: Known) -> Special:
        values = [self.of(a, known) for a in args]
        undefined = frozenset({UNDEFINED} & frozenset().union(*values))
        match fn:
            case Fn.ADD:
                return _added(values[0], values[1])
            case Fn.SUB:
                return _added(values[0], _negated(values[1]))
            case Fn.MUL:
                return self._product(args, values, known)
            case Fn.DIV:
                return self._quotient(args, values, known)
            case Fn.MAX | Fn.MIN:
                # The unit wins only against itself.
                unit = fn.unit
                both = values[0] & values[1] & frozenset({unit})
                return ((values[0] | values[1]) - frozenset({unit})) | both
            case Fn.ABS:
                return undefined | (frozenset({INF}) if values[0] & {INF, -INF} else FINITE)
            case Fn.EXP | Fn.EXP2:
                return values[0] - frozenset({-INF})
            case Fn.TANH | Fn.SIGMOID | Fn.ERF:
                return undefined
            case _ if fn in GRIDS:
                return values[0]
            case Fn.SQRT | Fn.RSQRT | Fn.LOG | Fn.LOG2:
                return values[0] if self.positive(args[0], known) and not values[0] else ANY
            case _:
                return FINITE  # truth values

    def _product(self, args: tuple[Node, ...], values: list[Special], known: Known) -> Special:
        if not values[0] and not values[1]:
            return FINITE
        for factor, other in ((0, 1), (1, 0)):
            if not values[factor] and self.positive(args[factor], known):
                return values[other]
            if not values[factor] and self.positive(negated(args[factor]), known):
                return _negated(values[other])
        return ANY

    def _quotient(self, args: tuple[Node, ...], values: list[Special], known: Known) -> Special:
        if values[1] or not self.nonzero(args[1], known):
            return ANY
        if not values[0] or self.positive(args[1], known):
            return values[0]
        return ANY

    def nonzero(self, node: Node, known: Known = NOTHING) -> bool:
        """Whether ``node`` is certainly not zero (it may be undefined)."""
        return self._sign("nonzero", node, known)

    def positive(self, node: Node, known: Known = NOTHING) -> bool:
        """Whether ``node``, where it is a finite number, is certainly above zero."""
        return self._sign("positive", node, known)

    def nonnegative(self, node: Node, known: Known = NOTHING) -> bool:
        """Whether ``node``, where it is a finite number, is certainly not below zero."""
        return self._sign("nonnegative", node, known)

    def _sign(self, which: str, node: Node, known: Known) -> bool:
        key = (which, node, known)
        if key not in self.signs:
            self.signs[key] = False  # the answer inside a cycle of states
            question = {
                "nonzero": self._nonzero,
                "positive": self._positive,
                "nonnegative": self._nonnegative,
            }[which]
            self.depth += 1
            self.signs[key] = self.depth < DEPTH and question(node, known)
            self.depth -= 1
        return self.signs[key]

    def _nonzero(self, node: Node, known: Known) -> bool:
        if any(n is node and value == 0 for n, value in known):
            return True
        match node:
            case Const(value=value):
                return value != 0
            case Map(fn=Fn.WHERE, args=(condition, then, otherwise)):
                return self.nonzero(then, known | learned(condition, True)) and self.nonzero(
                    otherwise, known | learned(condition, False)
                )
            case Map(fn=Fn.MUL, args=(left, right)):
                return self.nonzero(left, known) and self.nonzero(right, known)
            case _:
                return self.positive(node, known)

    def _positive(self, node: Node, known: Known) -> bool:
        match node:
            case Const(value=value):
                return value > 0
            case Named() | Size():
                return True
            case Map(fn=Fn.EXP | Fn.EXP2, args=(arg,)):
                return -INF not in self.of(arg, known)
            case Map(fn=Fn.ADD, args=(left, right)):
                return (self.positive(left, known) and self.nonnegative(right, known)) or (
                    self.nonnegative(left, known) and self.positive(right, known)
                )
            case Map(fn=Fn.MUL | Fn.DIV | Fn.MIN, args=(left, right)):
                return self.positive(left, known) and self.positive(right, known)
            case Map(fn=Fn.MAX, args=(left, right)):
                return self.positive(left, known) or self.positive(right, known)
            case Map(fn=Fn.SQRT | Fn.RSQRT, args=(arg,)):
                return self.positive(arg, known)
            case Map(fn=Fn.WHERE, args=(condition, then, otherwise)):
                return self.positive(then, known | learned(condition, True)) and self.positive(
                    otherwise, known | learned(condition, False)
                )
            case _:
                apart = any(n is node and value == 0 for n, value in known)
                return apart and self._nonnegative(node, NOTHING)

    def _nonnegative(self, node: Node, known: Known) -> bool:
        match node:
            case Map(fn=Fn.MUL, args=(left, right)) if left is right:
                return True
            case Map(fn=Fn.ABS | Fn.SIGMOID | Fn.EXP | Fn.EXP2 | Fn.SQRT):
                return True
            case Map(fn=Fn.ADD | Fn.MUL | Fn.DIV, args=(left, right)):
                return self.nonnegative(left, known) and self.nonnegative(right, known)
            case Reduce(fn=Fn.ADD, arg=arg) | Scan(fn=Fn.ADD, arg=arg):
                return self.nonnegative(arg, known)
            case State(carry=name) if name in self.carries:
                carry = self.carries[name]
                return carry.fold is Fn.ADD and not carry.moves and self.nonnegative(carry.term)
            case Const(value=value):
                return value >= 0
            case Index():
                return True
            case _:
                return self.positive(node, known)


def learned(condition: Node, holds: bool) -> Known:
    """What is known where ``condition`` is true (``holds``), or where it is false.

    ``x == c`` tells, where it is false, that x is not c; ``c < x`` does where it is true.
    """
    match condition:
        case Map(fn=Fn.NOT, args=(arg,)):
            return learned(arg, not holds)
        case Map(fn=Fn.AND, args=args) if holds:
            return NOTHING.union(*(learned(a, holds) for a in args))
        case Map(fn=Fn.OR, args=args) if not holds:
            return NOTHING.union(*(learned(a, holds) for a in args))
        case Map(fn=Fn.EQ, args=(Const(value=value), node) | (node, Const(value=value))):
            return NOTHING if holds else frozenset({(node, value)})
        case Map(fn=Fn.LT, args=(Const(value=value), node) | (node, Const(value=value))):
            return frozenset({(node, value)}) if holds else NOTHING
        case Map(fn=Fn.LE, args=(Const(value=value), node) | (node, Const(value=value))):
            return NOTHING if holds else frozenset({(node, value)})
        case _:
            return NOTHING


def negated(node: Node) -> Node:
    """``-node``, where its sign can be seen: a product with a negative number turned around."""
    match node:
        case Const(value=value):
            return Const(-value)
        case Map(fn=Fn.MUL, args=(Const(value=Fraction() as value), other)) if value < 0:
            return Map(Fn.MUL, (Const(-value), other))
        case Map(fn=Fn.MUL, args=(other, Const(value=Fraction() as value))) if value < 0:
            return Map(Fn.MUL, (other, Const(-value)))
        case _:
            return Const(Fraction(0))  # of unknown sign: neither it nor -it is positive


def _negated(special: Special) -> Special:
    return frozenset(-s if isinstance(s, float) else s for s in special)


def _added(left: Special, right: Special) -> Special:
    clash = (-INF in left and INF in right) or (INF in left and -INF in right)
    return left | right | (frozenset({UNDEFINED}) if clash else FINITE)


def _folded(fn: Fn, term: Special) -> Special:
    match fn:
        case Fn.ADD:
            return _added(term, term)
        case Fn.MAX | Fn.MIN:
            return term | frozenset(_infinite([fn.unit]))
        case _:
            return ANY if term else FINITE


def _infinite(values: Iterable[Number]) -> list[float]:
    return [v for v in values if isinstance(v, float)]
