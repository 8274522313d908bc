"""Which scalar functions exist, and the facts about each that need no solver.

A row here is one facet of a function. Its other facets (float, field, solver, printed
text) live in tables next to the code that uses them; ``tests/test_facets.py`` fails when a
row lacks one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from enum import unique
from fractions import Fraction

INF = float("inf")
Number = Fraction | float  # a Fraction, or one of the two infinities


class Kind(Enum):
    """What a value is: a real, an exact integer or a truth value."""

    REAL = "real"
    INT = "int"
    BOOL = "bool"


@dataclass(frozen=True)
class Traits:
    """Facts of one scalar function.

    ``unit`` is the neutral element of an associative and commutative function, which makes
    the function a *fold* (it may stand in a ``Reduce``). ``special`` counts the special
    function unit's operations per element, ``plain`` the ordinary ones.
    """

    symbol: str
    arity: int
    result: Kind | None = None  # None: INT if all arguments are INT, else REAL
    commutative: bool = False
    unit: Number | None = None
    plain: int = 1
    special: int = 0


@unique
class Fn(Enum):
    """Scalar functions that a ``Map`` applies point by point."""

    ADD = Traits("add", 2, commutative=True, unit=Fraction(0))
    SUB = Traits("sub", 2)
    MUL = Traits("mul", 2, commutative=True, unit=Fraction(1))
    DIV = Traits("div", 2, Kind.REAL, plain=1, special=1)
    MAX = Traits("max", 2, commutative=True, unit=-INF)
    MIN = Traits("min", 2, commutative=True, unit=INF)
    ABS = Traits("abs", 1)
    EXP = Traits("exp", 1, Kind.REAL, plain=1, special=1)
    EXP2 = Traits("exp2", 1, Kind.REAL, plain=0, special=1)
    LOG = Traits("log", 1, Kind.REAL, plain=1, special=1)
    LOG2 = Traits("log2", 1, Kind.REAL, plain=0, special=1)
    SQRT = Traits("sqrt", 1, Kind.REAL, plain=0, special=1)
    RSQRT = Traits("rsqrt", 1, Kind.REAL, plain=0, special=1)
    TANH = Traits("tanh", 1, Kind.REAL, plain=15, special=1)
    SIGMOID = Traits("sigmoid", 1, Kind.REAL, plain=2, special=2)
    ERF = Traits("erf", 1, Kind.REAL, plain=12, special=1)
    ROUND_FP16 = Traits("round_fp16", 1, Kind.REAL, plain=6)  # to the numbers of ``grids.py``
    ROUND_BF16 = Traits("round_bf16", 1, Kind.REAL, plain=6)
    ROUND_E4M3 = Traits("round_e4m3", 1, Kind.REAL, plain=8)
    ROUND_E5M2 = Traits("round_e5m2", 1, Kind.REAL, plain=8)
    ROUND_INT8 = Traits("round_int8", 1, Kind.REAL, plain=8)
    LT = Traits("lt", 2, Kind.BOOL)
    LE = Traits("le", 2, Kind.BOOL)
    EQ = Traits("eq", 2, Kind.BOOL, commutative=True)
    AND = Traits("and", 2, Kind.BOOL, commutative=True)
    OR = Traits("or", 2, Kind.BOOL, commutative=True)
    NOT = Traits("not", 1, Kind.BOOL)
    WHERE = Traits("where", 3)  # where(condition, then, otherwise)

    @property
    def symbol(self) -> str:
        """The name in text and messages."""
        return self.value.symbol

    @property
    def is_fold(self) -> bool:
        """Associative, commutative and with a unit: it may reduce an axis."""
        return self.value.unit is not None

    @property
    def unit(self) -> Number:
        """The neutral element of a fold."""
        if self.value.unit is None:
            raise ValueError(f"{self.symbol} is no fold, so it has no unit")
        return self.value.unit


BY_SYMBOL = {fn.symbol: fn for fn in Fn}

# What may stand in limits of walks, on exact integers.
INTEGER: dict[Fn, Callable[..., int]] = {
    Fn.ADD: lambda a, b: a + b,
    Fn.SUB: lambda a, b: a - b,
    Fn.MUL: lambda a, b: a * b,
    Fn.MAX: max,
    Fn.MIN: min,
    Fn.ABS: abs,
}


@unique
class Constant(Enum):
    """Irrational constants, which are named everywhere and rounded only by the machine."""

    LOG2E = "LOG2E"
    LN2 = "LN2"
    PI = "PI"
