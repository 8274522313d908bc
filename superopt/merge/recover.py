"""From the finished results of a part back to a state of it: what the outputs determine.

The outputs of a part are functions ``f(K)`` of its states ``K``. Joining parts takes states, and
any ``K`` of the same outputs will do if joining does not tell it from the true one: a maximum and
a sum of exponentials about it may be replaced by another pair with the same ``m + log(s)``. So
some states are set to a number, and the equations ``f(K) = outputs`` are solved for the others,
one after another, each by the inverses of the functions around it. Whether such a section serves
is judged (``judge.py``), not assumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from itertools import product

from superopt.merge.tidy import along
from superopt.merge.tidy import tidy
from superopt.repair.record import states
from superopt.repair.span import Span
from superopt.repair.span import span
from superopt.ugraph.carry import Carry
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo

MOST_STATES = 10

# Which numbers a state may be set to, by its fold. An extremum is there for the sake of range: one
# that is not known from the outputs is not made up.
_NUMBERS = {Fn.ADD: (1, 0), Fn.MUL: (1,), Fn.MAX: (), Fn.MIN: ()}

_INVERSE = {Fn.EXP: Fn.LOG, Fn.LOG: Fn.EXP, Fn.EXP2: Fn.LOG2, Fn.LOG2: Fn.EXP2}


@dataclass(frozen=True)
class Section:
    """A state for every tuple of outputs.

    ``values``: each state in terms of the outputs. ``free``: the names of the carries that were
    set to a number.
    """

    values: Mapping[State, Node]
    free: tuple[str, ...]

    @property
    def cost(self) -> tuple[int, int]:
        """Exponentials of outputs, which may overflow, and operations."""
        found = topo(self.values.values())
        maps = [n for n in found if isinstance(n, Map)]
        return sum(n.fn in (Fn.EXP, Fn.EXP2) for n in maps), len(maps)


def sections(
    carries: Sequence[Carry],
    equations: Sequence[tuple[Node, Node]],
    given: Mapping[State, Node],
    known: Mapping[Node, Span],
) -> Iterator[Section]:
    """The sections that are found, fewest free states first, then the cheapest first.

    ``equations``: each output's value over the states, and what stands for that output.
    ``given``: states that are known without any output (a count of positions).
    ``known``: what states can be, off the points of the producers.
    """
    unknown = [c for c in carries if c.state not in given]
    if len(unknown) > MOST_STATES:
        return
    for count in range(len(unknown) + 1):
        found: list[Section] = []
        for free in combinations(unknown, count):
            for numbers in product(*(_NUMBERS[c.fold] for c in free)):
                pairs = zip(free, numbers, strict=True)
                fixed = {c.state: Const(Fraction(n)) for c, n in pairs}
                solved = _solved(unknown, equations, {**given, **fixed}, known)
                if solved is not None:
                    found.append(Section(solved, tuple(c.name for c in free)))
        yield from sorted(found, key=lambda s: s.cost)


def _solved(
    carries: Sequence[Carry],
    equations: Sequence[tuple[Node, Node]],
    given: Mapping[State, Node],
    known: Mapping[Node, Span],
) -> dict[State, Node] | None:
    """Every state, from equations that have one unknown left, until none is left."""
    found: dict[Node, Node] = dict(given.items())
    left = [c for c in carries if c.state not in found]
    rest = list(equations)
    while left:
        for equation, carry in product(rest, left):
            value, output = equation
            missing = {s for s in states(value).values() if s not in found}
            if missing != {carry.state}:
                continue
            inverse = inverted(value, carry.state, output, known)
            if inverse is None:
                continue
            spread = {s: along(n, s.axes) for s, n in found.items()}
            solution = tidy(substitute(inverse, spread))
            extra = set(solution.axes) - set(carry.over) - (set(output.axes) - set(value.axes))
            if not extra and not _wild(solution):
                found[carry.state] = solution
                left.remove(carry)
                rest.remove(equation)
                break
        else:
            return None
    return {s: n for s, n in found.items() if isinstance(s, State)}


def _wild(solution: Node) -> bool:
    """Whether it divides by zero, or takes its logarithm: of a state that was set to 0."""
    for node in topo([solution]):
        match node:
            case Map(fn=Fn.DIV, args=(_, Const(value=0))):
                return True
            case Map(fn=Fn.LOG | Fn.LOG2 | Fn.RSQRT, args=(Const(value=0),)):
                return True
            case _:
                pass
    return False


def inverted(value: Node, state: State, output: Node, known: Mapping[Node, Span]) -> Node | None:
    """What ``state`` is where ``value``, which reads it, equals ``output``; None if that is not
    seen: it is read twice, or under a function that has no inverse or loses what it was."""
    while value is not state:
        step = _step(value, state, output, known)
        if step is None:
            return None
        value, output = step
    return output


def _step(
    value: Node, state: State, output: Node, known: Mapping[Node, Span]
) -> tuple[Node, Node] | None:
    """The outermost function of ``value`` taken to the other side."""

    def reads(node: Node) -> bool:
        return state in topo([node])

    match value:
        case Map(fn=Fn.WHERE, args=(condition, then, otherwise)):
            # A guard at a point of states; elsewhere one arm alone can say what the state was.
            arms = [a for a in (then, otherwise) if reads(a)]
            return (arms[0], output) if states(condition) and len(arms) == 1 else None
        case Map(fn=fn, args=(a,)) if fn in _INVERSE:
            return a, Map(_INVERSE[fn], (output,))
        case Map(fn=Fn.SQRT, args=(a,)):
            return a, Map(Fn.MUL, (output, output))
        case Map(fn=Fn.RSQRT, args=(a,)):
            return a, Map(Fn.DIV, (Const(Fraction(1)), Map(Fn.MUL, (output, output))))
        case Map(fn=fn, args=(a, b)) if reads(a) != reads(b):
            return _beside(fn, a, b, reads(a), output, known)
        case _:
            return None


def _beside(
    fn: Fn, a: Node, b: Node, left: bool, output: Node, known: Mapping[Node, Span]
) -> tuple[Node, Node] | None:
    """The same of a function of two arguments, of which the ``left`` or the right one is sought."""
    inner, other = (a, b) if left else (b, a)
    match fn, left:
        case Fn.ADD, _:
            return inner, Map(Fn.SUB, (output, other))
        case Fn.SUB, True:
            return inner, Map(Fn.ADD, (output, other))
        case Fn.SUB, False:
            return inner, Map(Fn.SUB, (other, output))
        case Fn.MUL, _ if span(other, known).nonzero and span(other, known).finite:
            return inner, Map(Fn.DIV, (output, other))
        case Fn.DIV, True:
            return inner, Map(Fn.MUL, (output, other))
        case Fn.DIV, False if span(other, known).nonzero:
            return inner, Map(Fn.DIV, (other, output))
        case _:
            return None
