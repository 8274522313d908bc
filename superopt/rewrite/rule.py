"""What a law is: two patterns, the needs under which they are equal, and why it is there.

A law is data, so that one test proves all of them, one generator documents them and the
e-graph runs them. The function under ``@rule`` runs once, on pattern variables; its name is
the law's name, its parameters are the holes (annotated ``Pattern``) and the folded axes
(annotated ``str``), its docstring the reason. (The form is egglog's.)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
from enum import Enum
from fractions import Fraction

from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number


class Pattern:
    """A term with holes; arithmetic on patterns builds patterns."""

    def __add__(self, other: Pattern | int) -> Pattern:
        return App(Fn.ADD, (self, lift(other)))

    def __sub__(self, other: Pattern | int) -> Pattern:
        return App(Fn.SUB, (self, lift(other)))

    def __mul__(self, other: Pattern | int) -> Pattern:
        return App(Fn.MUL, (self, lift(other)))

    def __rmul__(self, other: int) -> Pattern:
        return App(Fn.MUL, (lift(other), self))

    def __truediv__(self, other: Pattern | int) -> Pattern:
        return App(Fn.DIV, (self, lift(other)))

    def __rtruediv__(self, other: int) -> Pattern:
        return App(Fn.DIV, (lift(other), self))


@dataclass(frozen=True)
class Var(Pattern):
    """A hole: any value."""

    name: str


@dataclass(frozen=True)
class Num(Pattern):
    """This very number."""

    value: Number


@dataclass(frozen=True)
class Sym(Pattern):
    """An irrational constant."""

    name: Constant


@dataclass(frozen=True)
class App(Pattern):
    """A scalar function of patterns."""

    fn: Fn
    args: tuple[Pattern, ...]


@dataclass(frozen=True)
class Fold(Pattern):
    """A fold over the axis that ``axis`` stands for."""

    fn: Fn
    axis: str
    arg: Pattern


@dataclass(frozen=True)
class Extent(Pattern):
    """The size of the axis that ``axis`` stands for."""

    axis: str


def lift(value: Pattern | int) -> Pattern:
    """An integer as a pattern."""
    return value if isinstance(value, Pattern) else Num(Fraction(value))


class Fact(Enum):
    """What can be known of a value. Each implies that the value is defined."""

    DEFINED = "defined"
    LOWER = "> -inf"
    UPPER = "< inf"
    NONNEGATIVE = ">= 0"
    NONZERO = "!= 0"


@dataclass(frozen=True)
class Known:
    """The hole has these facts. With ``given`` they may rest on that axis being non-empty.

    In a match they must be known (default: nothing is); in the proof they are assumed.
    """

    hole: str
    facts: tuple[Fact, ...]
    word: str
    given: str | None = None

    def __str__(self) -> str:
        given = "" if self.given is None else f" unless {self.given} is empty"
        return f"{self.hole} {self.word}{given}"


@dataclass(frozen=True)
class AxisFree:
    """The hole does not vary over the axis (and takes all such factors of a product)."""

    hole: str
    axis: str

    def __str__(self) -> str:
        return f"{self.hole} without axis {self.axis}"


@dataclass(frozen=True)
class HasAxis:
    """The hole varies over the axis. (It keeps folds well formed; values do not need it.)"""

    hole: str
    axis: str

    def __str__(self) -> str:
        return f"{self.hole} with axis {self.axis}"


Need = Known | AxisFree | HasAxis


def finite(*holes: str, given: str | None = None) -> tuple[Known, ...]:
    """Needs: the holes are finite (``given``: unless that axis is empty)."""
    return tuple(Known(h, (Fact.LOWER, Fact.UPPER), "finite", given) for h in holes)


def nonzero(*holes: str, given: str | None = None) -> tuple[Known, ...]:
    """Needs: the holes are not zero."""
    return tuple(Known(h, (Fact.NONZERO,), "!= 0", given) for h in holes)


def nonnegative(*holes: str) -> tuple[Known, ...]:
    """Needs: the holes are at least zero."""
    return tuple(Known(h, (Fact.NONNEGATIVE,), ">= 0") for h in holes)


def positive(*holes: str) -> tuple[Known, ...]:
    """Needs: the holes are greater than zero (plus infinity is)."""
    return tuple(Known(h, (Fact.NONNEGATIVE, Fact.NONZERO), "> 0") for h in holes)


@dataclass(frozen=True)
class Rule:
    """``left == right`` for all values that meet ``needs``.

    ``structural``: the e-graph's representation embodies the law (it is proved and
    documented like the others, but not matched). ``fallback``: a law with the same holes
    that says more; where its needs are met, this one is not applied. ``lowering``: used on
    a chosen form only, not in the search for forms.
    """

    name: str
    left: Pattern
    right: Pattern
    needs: tuple[Need, ...]
    reason: str
    holes: tuple[str, ...]
    axes: tuple[str, ...]
    structural: bool = False
    fallback: str | None = None
    lowering: bool = False
    scopes: dict[str, frozenset[str]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        found: dict[str, frozenset[str]] = {}
        for side in (self.left, self.right):
            for hole, around in _occurrences(side, frozenset()):
                found[hole] = found.get(hole, around) & around
        object.__setattr__(self, "scopes", found)


RULES: dict[str, Rule] = {}


def rule(
    *needs: Need | tuple[Need, ...],
    structural: bool = False,
    fallback: str | None = None,
    lowering: bool = False,
) -> Callable[[Callable[..., tuple[Pattern, Pattern]]], Rule]:
    """Register the decorated function as a law."""
    flat: list[Need] = []
    for need in needs:
        flat += need if isinstance(need, tuple) else (need,)

    def register(function: Callable[..., tuple[Pattern, Pattern]]) -> Rule:
        name = function.__name__
        reason = inspect.getdoc(function)
        if not reason:
            raise ValueError(f"law {name} gives no reason")
        if name in RULES:
            raise ValueError(f"law {name} exists twice")
        holes: list[str] = []
        axes: list[str] = []
        args: list[str | Var] = []
        for parameter in inspect.signature(function).parameters.values():
            is_axis = parameter.annotation == "str"
            (axes if is_axis else holes).append(parameter.name)
            args.append(parameter.name if is_axis else Var(parameter.name))
        left, right = function(*args)
        made = Rule(
            name,
            left,
            right,
            tuple(flat),
            reason,
            tuple(holes),
            tuple(axes),
            structural,
            fallback,
            lowering,
        )
        RULES[name] = made
        return made

    return register


def _occurrences(pattern: Pattern, around: frozenset[str]) -> list[tuple[str, frozenset[str]]]:
    """Every occurrence of a hole, with the fold axes around it."""
    match pattern:
        case Var(name):
            return [(name, around)]
        case App(args=args):
            return [found for a in args for found in _occurrences(a, around)]
        case Fold(axis=axis, arg=arg):
            return _occurrences(arg, around | {axis})
        case _:
            return []


def total(axis: str, arg: Pattern) -> Pattern:
    """A sum over ``axis``."""
    return Fold(Fn.ADD, axis, arg)


def largest(axis: str, arg: Pattern) -> Pattern:
    """A maximum over ``axis``."""
    return Fold(Fn.MAX, axis, arg)


def smallest(axis: str, arg: Pattern) -> Pattern:
    """A minimum over ``axis``."""
    return Fold(Fn.MIN, axis, arg)


def apply(fn: Fn, *args: Pattern | int) -> Pattern:
    """A scalar function of patterns."""
    return App(fn, tuple(lift(a) for a in args))
