"""Where a value can differ from a given one: conditions on positions, by abstract evaluation.

``where(n <= m, s, -inf)`` differs from -inf at most where ``n <= m``; so ``exp`` of it differs
from 0 at most there, and so does a product with anything finite.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from fractions import Fraction

from superopt.ugraph.grids import GRIDS
from superopt.ugraph.infinities import DEPTH
from superopt.ugraph.infinities import NOTHING
from superopt.ugraph.infinities import UNDEFINED
from superopt.ugraph.infinities import Infinities
from superopt.ugraph.infinities import Known
from superopt.ugraph.infinities import learned
from superopt.ugraph.infinities import negated
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number

# A truth value over positions, or what is known without looking at them.
Condition = Node | bool


def both(left: Condition, right: Condition) -> Condition:
    """The conjunction."""
    if isinstance(left, bool):
        return right if left else False
    if isinstance(right, bool):
        return left if right else False
    if _denies(left, right):
        return False
    return left if left is right else Map(Fn.AND, (left, right))


def either(left: Condition, right: Condition) -> Condition:
    """The disjunction."""
    if isinstance(left, bool):
        return True if left else right
    if isinstance(right, bool):
        return True if right else left
    if _denies(left, right):
        return True
    return left if left is right else Map(Fn.OR, (left, right))


def _denies(left: Node, right: Node) -> bool:
    return Map(Fn.NOT, (left,)) is right or Map(Fn.NOT, (right,)) is left


@dataclass
class Live:
    """Where the values of one kernel can differ from a unit.

    Every answer covers all positions at which they do; it may cover more. The positions of a
    folded axis count together: the answer covers those of the other axes for which some
    position of the folded one differs.
    """

    block: BlockGraph
    done: dict[tuple[Node, Number, Known], Condition] = field(default_factory=dict)
    depth: int = 0

    def __post_init__(self) -> None:
        self.specials = Infinities(self.block)

    def differs(self, node: Node, value: Number, known: Known = NOTHING) -> Condition:
        """Where ``node`` may differ from ``value``, given what is ``known``."""
        key = (node, value, known)
        if key not in self.done:
            self.depth += 1
            self.done[key] = self._differs(node, value, known) if self.depth < DEPTH else True
            self.depth -= 1
        return self.done[key]

    def _differs(self, node: Node, value: Number, known: Known) -> Condition:
        match node:
            case Const(value=constant):
                return constant != value
            case Map(fn=Fn.WHERE, args=(condition, then, otherwise)):
                yes, no = (known | learned(condition, holds) for holds in (True, False))
                return either(
                    both(condition, self.differs(then, value, yes)),
                    both(Map(Fn.NOT, (condition,)), self.differs(otherwise, value, no)),
                )
            case Map(fn=Fn.MAX | Fn.MIN as fn, args=(left, right)):
                a, b = self.differs(left, value, known), self.differs(right, value, known)
                # Equal values win together; the winner of all values wins alone, but for NaN.
                wins = isinstance(value, float) and value == -fn.unit
                defined = not any(UNDEFINED in self.specials.of(x, known) for x in (left, right))
                return both(a, b) if wins and defined else either(a, b)
            case Reduce(fn=fn, arg=arg) if value == fn.unit:
                return self.differs(arg, value, known)
            case Map(fn=fn, args=args):
                if value == 0:
                    return self._from_zero(fn, args, known)
                if value in (INF, -INF):
                    return self._from_infinity(fn, args, float(value), known)
                return True
            case _:
                return True

    def _from_zero(self, fn: Fn, args: tuple[Node, ...], known: Known) -> Condition:
        zero = Fraction(0)
        match fn:
            case Fn.EXP | Fn.EXP2 | Fn.SIGMOID:
                return self.differs(args[0], -INF, known)
            case Fn.MUL:
                found: Condition = True
                for one, other in (args, args[::-1]):
                    if not self.specials.of(other, known):
                        found = both(found, self.differs(one, zero, known))
                return found
            case Fn.DIV if self.specials.nonzero(args[1], known):
                if UNDEFINED in self.specials.of(args[1], known):
                    return True
                return self.differs(args[0], zero, known)
            case Fn.ADD | Fn.SUB:
                return either(
                    self.differs(args[0], zero, known), self.differs(args[1], zero, known)
                )
            case Fn.ABS | Fn.SQRT | Fn.TANH | Fn.ERF:
                return self.differs(args[0], zero, known)
            case _ if fn in GRIDS:
                return self.differs(args[0], zero, known)
            case _:
                return True

    def _from_infinity(
        self, fn: Fn, args: tuple[Node, ...], value: float, known: Known
    ) -> Condition:
        match fn:
            case Fn.ADD:
                pairs = ((args[0], args[1], 1), (args[1], args[0], 1))
            case Fn.SUB:
                pairs = ((args[0], args[1], -1), (args[1], args[0], 1))
            case Fn.MUL:
                return self._scaled(args, value, known)
            case Fn.DIV if self.specials.positive(args[1], known):
                finite = not self.specials.of(args[1], known)
                return self.differs(args[0], value, known) if finite else True
            case Fn.LOG | Fn.LOG2 if value == -INF:
                return self.differs(args[0], Fraction(0), known)
            case _ if fn in GRIDS:
                return self.differs(args[0], value, known)
            case _:
                return True
        found: Condition = True
        for index, (one, other, sign) in enumerate(pairs):
            wanted = -value if fn is Fn.SUB and index == 1 else value
            # An infinity outweighs all but the opposite one.
            if not self.specials.of(other, known) & {-value * sign, UNDEFINED}:
                found = both(found, self.differs(one, wanted, known))
        return found

    def _scaled(self, args: tuple[Node, ...], value: float, known: Known) -> Condition:
        found: Condition = True
        for one, other in (args, args[::-1]):
            if self.specials.of(other, known):
                continue
            if self.specials.positive(other, known):
                found = both(found, self.differs(one, value, known))
            elif self.specials.positive(negated(other), known):
                found = both(found, self.differs(one, -value, known))
        return found
