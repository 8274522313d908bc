"""What terms are made of: holes, numbers, functions and folds; how small terms are enumerated.

A term is a pattern (``rewrite/rule.py``), so that what is found is a law like any other. The
space is cut into vocabularies, each of which is small enough to be enumerated by size.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from superopt.rewrite.rule import App
from superopt.rewrite.rule import Extent
from superopt.rewrite.rule import Fold
from superopt.rewrite.rule import Num
from superopt.rewrite.rule import Pattern
from superopt.rewrite.rule import Sym
from superopt.rewrite.rule import Var
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number

AXIS = "n"  # the axis that folds fold
ZERO, ONE, MINUS_ONE = (Fraction(n) for n in (0, 1, -1))


@dataclass(frozen=True)
class Vocabulary:
    """``elements`` are holes that vary over the axis, ``free`` ones that do not, ``truths`` hold
    truth values (and do not vary either). ``folds``: over the axis."""

    name: str
    elements: tuple[str, ...]
    free: tuple[str, ...]
    truths: tuple[str, ...]
    numbers: tuple[Number, ...]
    unary: tuple[Fn, ...]
    binary: tuple[Fn, ...]
    tests: tuple[Fn, ...] = ()
    folds: tuple[Fn, ...] = ()

    @property
    def holes(self) -> tuple[str, ...]:
        """All of them, in order."""
        return (*self.elements, *self.free, *self.truths)

    def can_say(self, pattern: Pattern) -> bool:
        """Whether the functions and numbers of ``pattern`` are among those here."""
        match pattern:
            case Var():
                return True
            case Num(value=value):
                return value in self.numbers
            case App(fn=Fn.WHERE, args=(test, *arms)):
                return bool(self.truths) and all(map(self.can_say, (test, *arms)))
            case App(fn=fn, args=args):
                known = fn in (*self.unary, *self.binary, *self.tests)
                return known and all(map(self.can_say, args))
            case Fold(fn=fn, arg=arg):
                return fn in self.folds and self.can_say(arg)
            case _:
                return False


ARITHMETIC = Vocabulary(
    "arithmetic",
    elements=(),
    free=("x", "y", "z"),
    truths=(),
    numbers=(ZERO, ONE, MINUS_ONE),
    unary=(Fn.ABS,),
    binary=(Fn.ADD, Fn.SUB, Fn.MUL, Fn.DIV, Fn.MAX, Fn.MIN),
)
FUNCTIONS = Vocabulary(
    "functions",
    elements=(),
    free=("x", "y"),
    truths=(),
    numbers=(ZERO, ONE, MINUS_ONE),
    unary=(Fn.EXP, Fn.LOG, Fn.SQRT, Fn.RSQRT, Fn.ABS, Fn.TANH, Fn.SIGMOID),
    binary=(Fn.ADD, Fn.SUB, Fn.MUL, Fn.DIV),
)
CHOICES = Vocabulary(
    "choices",
    elements=(),
    free=("x", "y"),
    truths=("p",),
    numbers=(ZERO, ONE, -INF),
    unary=(Fn.EXP, Fn.LOG, Fn.SQRT, Fn.RSQRT, Fn.ABS, Fn.TANH, Fn.SIGMOID),
    binary=(Fn.MUL, Fn.MAX, Fn.MIN),
    tests=(Fn.LT,),
)
FOLDS = Vocabulary(
    "folds",
    elements=("a", "b"),
    free=("c",),
    truths=("p",),
    numbers=(ZERO, MINUS_ONE),
    unary=(Fn.EXP, Fn.SQRT),
    binary=(Fn.ADD, Fn.MUL, Fn.DIV, Fn.MAX, Fn.MIN),
    folds=(Fn.ADD, Fn.MAX, Fn.MIN),
)
VOCABULARIES = (ARITHMETIC, FUNCTIONS, CHOICES, FOLDS)


def size_of(pattern: Pattern) -> int:
    """The number of functions, folds, holes and numbers in a term."""
    match pattern:
        case App(args=args):
            return 1 + sum(map(size_of, args))
        case Fold(arg=arg):
            return 1 + size_of(arg)
        case _:
            return 1


def holes_of(pattern: Pattern) -> tuple[str, ...]:
    """The holes of a term, in order of first appearance."""
    match pattern:
        case Var(name=name):
            return (name,)
        case App(args=args):
            return tuple(dict.fromkeys(h for a in args for h in holes_of(a)))
        case Fold(arg=arg):
            return holes_of(arg)
        case _:
            return ()


def folded(pattern: Pattern) -> bool:
    """Whether there is a fold in a term."""
    match pattern:
        case App(args=args):
            return any(map(folded, args))
        case _:
            return isinstance(pattern, Fold)


def renamed(pattern: Pattern, names: dict[str, str]) -> Pattern:
    """The term with other names for its holes."""
    match pattern:
        case Var(name=name):
            return Var(names.get(name, name))
        case App(fn=fn, args=args):
            return App(fn, tuple(renamed(a, names) for a in args))
        case Fold(fn=fn, axis=axis, arg=arg):
            return Fold(fn, axis, renamed(arg, names))
        case Num() | Sym() | Extent():
            return pattern
        case _:
            raise TypeError(f"no pattern: {pattern!r}")
