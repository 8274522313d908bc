"""A graph written out, element by element: the scalar expression of every output element.

``termdomain.py`` gives the evaluator arrays of term numbers. Terms are hash-consed and settled as
far as states and exact integers settle them: masks, guards and empty folds leave no trace.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from superopt.ugraph.grids import GRIDS
from superopt.ugraph.grids import ROUNDINGS
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number
from superopt.verify.field.extrema import EITHER
from superopt.verify.field.extrema import OPPOSITE
from superopt.verify.field.primes import has_root

Key = tuple[object, ...]
MOST_SHOWN = 4  # arguments of a term in a message


@dataclass(frozen=True)
class Term:
    """One scalar: ``op`` is num, bool, input, named, undefined, undecided or a function's name.

    *Best*: one of the first half of ``args``, or of the second (places, or what goes with the
    first), by the order of the first.
    *Undecided*: its state depends on the sign or the order of data; ``value`` says how.
    """

    op: str
    args: tuple[int, ...] = ()
    value: Number | bool | str | None = None


class Terms:
    """All terms; a term is its number in ``all``.

    ``drawn_logs``: see ``Functions``; ``equivariant``: ``extrema.py``; ``ties``: ``ties.py``.
    """

    def __init__(
        self,
        drawn_logs: bool = False,
        equivariant: frozenset[Fn] = frozenset(),
        ties: bool = False,
    ) -> None:
        self.drawn_logs = drawn_logs
        self.ties = ties
        self.equivariant = equivariant
        self.all: list[Term] = []
        self._numbers: dict[Key, int] = {}
        self.stepped: set[int] = set()  # a rounding is below: it may be zero at many points
        self.undefined = self.term(Term("undefined"))

    def term(self, term: Term) -> int:
        """The number of a term."""
        key = (term.op, term.args, type(term.value), term.value)
        if key not in self._numbers:
            self._numbers[key] = len(self.all)
            if term.value in ROUNDINGS or not self.stepped.isdisjoint(term.args):
                self.stepped.add(len(self.all))
            self.all.append(term)
        return self._numbers[key]

    def num(self, value: Number) -> int:
        """A constant."""
        return self.term(Term("num", (), value))

    def truth(self, value: bool) -> int:
        """A truth value."""
        return self.term(Term("bool", (), bool(value)))

    def number(self, term: int) -> Number | None:
        """The value of a constant, None for anything else."""
        t = self.all[term]
        value = t.value
        return value if t.op == "num" and isinstance(value, Fraction | float) else None

    def is_place(self, term: int) -> bool:
        """Whether a term is a place in a list of the best: a number once the order is known."""
        t = self.all[term]
        return t.op == "best" and isinstance(t.value, str) and t.value.startswith("place")

    def infinite(self, term: int) -> float:
        """The infinity that a term is, or 0."""
        value = self.number(term)
        return value if isinstance(value, float) else 0.0

    def map(self, fn: Fn, args: Sequence[int], exact: bool) -> int:
        """``fn`` of settled terms; ``exact``: all are integers."""
        if fn is Fn.WHERE:
            return self._where(*args)
        if self.undefined in args:
            return self.undefined
        for a in args:
            if self.all[a].op == "undecided":
                return a
        if fn in (Fn.MAX, Fn.MIN):
            return self._extremum(fn, args, exact)
        return _MAKE[fn](self, *args)

    def _where(self, c: int, a: int, b: int) -> int:
        t = self.all[c]
        if t.op in ("undefined", "undecided"):
            return c
        if t.op == "bool":
            return a if t.value else b
        if a == b:
            return a
        for x in (a, b):
            if self.infinite(x) or self.all[x].op in ("undefined", "undecided"):
                what = f"{self.spoken(c)} decides what is infinite or undefined"
                return self.undecided(f"a comparison of data, {what}")
        return self.term(Term("where", (c, a, b)))

    def add(self, a: int, b: int) -> int:
        """a + b."""
        inf_a, inf_b = self.infinite(a), self.infinite(b)
        if inf_a or inf_b:
            return self.undefined if inf_a == -inf_b else self.num(inf_a or inf_b)
        x, y = self.number(a), self.number(b)
        if x == 0:
            return b
        if y == 0:
            return a
        if x is not None and y is not None:
            return self.num(x + y)
        return self.term(Term("add", (min(a, b), max(a, b))))

    def mul(self, a: int, b: int) -> int:
        """a * b."""
        x, y = self.number(a), self.number(b)
        if self.infinite(a) or self.infinite(b):
            signs = self._sign(a), self._sign(b)
            if 0 in signs:
                return self.undefined
            if None in signs:
                factor = self.spoken(a if signs[0] is None else b)
                return self.undecided(f"an infinity times {factor}, of which no sign is known")
            return self.num(INF if signs[0] == signs[1] else -INF)
        if x == 0 or y == 0:
            return self.num(Fraction(0))
        if x == 1:
            return b
        if y == 1:
            return a
        if x is not None and y is not None:
            return self.num(x * y)
        return self.term(Term("mul", (min(a, b), max(a, b))))

    def spoken(self, a: int, depth: int = 3) -> str:
        """A term as a message shows it, what is deep in it as dots."""
        t = self.all[a]
        if not t.args:
            return str(t.value)
        if not depth:
            return "..."
        shown = ", ".join(self.spoken(x, depth - 1) for x in t.args[:MOST_SHOWN])
        more = ", ..." if len(t.args) > MOST_SHOWN else ""
        return f"{t.value if t.op == 'opaque' else t.op}({shown}{more})"

    def finite(self, term: int) -> bool:
        """Whether a term is known to be a finite number."""
        return not self.infinite(term) and self.all[term].op not in ("undefined", "undecided")

    def undecided(self, why: str) -> int:
        """A term of which data decide the state."""
        return self.term(Term("undecided", (), why))

    def _sign(self, a: int) -> int | None:
        """The sign of what multiplies an infinity, None if it is not known."""
        value = self.number(a)
        if value is not None:
            return (value > 0) - (value < 0)
        t = self.all[a]
        if t.op in ("exp", "sqrt", "named", "abs"):
            return 1
        signs = [self._sign(x) for x in t.args] if t.op in ("add", "mul", "inv", "max") else []
        if t.op == "max":
            return 1 if 1 in signs else None
        if None in signs or not signs:
            return None
        if t.op == "add":
            return signs[0] if len(set(signs)) == 1 else None
        return 1 if signs.count(-1) % 2 == 0 else -1

    def negate(self, a: int) -> int:
        """-a."""
        return self.mul(self.num(Fraction(-1)), a)

    def inverse(self, a: int) -> int:
        """1 / a."""
        value = self.number(a)
        if isinstance(value, float):
            return self.num(Fraction(0))
        if value is not None:
            return self.undefined if value == 0 else self.num(1 / value)
        t = self.all[a]
        return t.args[0] if t.op == "inv" else self.term(Term("inv", (a,)))

    def absolute(self, a: int) -> int:
        """|a|."""
        value = self.number(a)
        if value is None:
            return a if self.all[a].op == "abs" else self.term(Term("abs", (a,)))
        return self.num(value if value >= 0 else -value)

    def exp(self, a: int) -> int:
        """exp(a)."""
        value = self.number(a)
        if value == -INF:
            return self.num(Fraction(0))
        if value == INF:
            return a
        return self.num(Fraction(1)) if value == 0 else self.term(Term("exp", (a,)))

    def term_exp(self, a: int) -> int:
        """exp(a), of an element that is compared by its exponential."""
        return a if a == self.undefined else self.exp(a)

    def log(self, a: int) -> int:
        """log(a)."""
        value = self.number(a)
        if value == -INF:
            return self.undefined
        if value == INF:
            return a
        if value in (0, 1):
            return self.num(Fraction(0) if value else -INF)
        return self.term(Term("opaque", (a,), "log") if self.drawn_logs else Term("log", (a,)))

    def sqrt(self, a: int) -> int:
        """sqrt(a)."""
        value = self.number(a)
        if value is not None and value < 0:
            return self.undefined
        return a if value in (0, 1, INF) else self.term(Term("sqrt", (a,)))

    def opaque(self, name: str, a: int) -> int:
        """A function that no field knows (odd, with limits 1 and -1)."""
        if inf := self.infinite(a):
            return self.num(Fraction(1 if inf > 0 else -1))
        return a if self.number(a) == 0 else self.term(Term("opaque", (a,), name))

    def rounding(self, fn: Fn, a: int) -> int:
        """A rounding, of which only its infinities and its zero are known."""
        if self.infinite(a) or self.number(a) == 0:
            return a
        return self.term(Term("opaque", (a,), fn.symbol))

    def sigmoid(self, a: int) -> int:
        """1 / (1 + exp(-a))."""
        return self.inverse(self.add(self.num(Fraction(1)), self.exp(self.negate(a))))

    def named(self, name: Constant) -> int:
        """LOG2E and PI; LN2 is the inverse of LOG2E."""
        if name is Constant.LN2:
            return self.inverse(self.named(Constant.LOG2E))
        return self.term(Term("named", (), name.value))

    def _extremum(self, fn: Fn, args: Sequence[int], exact: bool) -> int:
        lost = float(fn.unit)
        if any(self.infinite(a) == -lost for a in args):
            return self.num(-lost)
        found = {x for a in args for x in self.members(fn, a)} - {self.num(lost)}
        numbers = {a: n for a in found if exact and (n := self.number(a)) is not None}
        if numbers:
            best = max(numbers.values()) if fn is Fn.MAX else min(numbers.values())
            found = (found - set(numbers)) | {self.num(best)}
        if len(found) > 1:
            return self.term(Term(fn.symbol, tuple(sorted(found))))
        return found.pop() if found else self.num(lost)

    def moves(self, a: int) -> bool:
        """Whether ``a`` is an extremum that is drawn for the shape of its set."""
        return any(self.all[a].op == fn.symbol for fn in self.equivariant)

    def members(self, fn: Fn, a: int) -> tuple[int, ...]:
        """What ``a`` is the extremum of, as far as the laws say that are in use."""
        t = self.all[a]
        if t.op == fn.symbol:
            return t.args
        if fn not in self.equivariant:
            return (a,)
        if t.op == "abs" and fn is Fn.MAX and self.equivariant == EITHER:
            return (t.args[0], self.negate(t.args[0]))
        if t.op not in ("add", "mul"):
            return (a,)
        for x, other in (t.args, t.args[::-1]):
            if t.op == "add":
                sets = self.members(fn, x)
                if len(sets) > 1 and len(self.members(fn, other)) == 1:
                    return tuple(self.add(m, other) for m in sets)
                continue
            value = self.number(other)
            turned = value is not None and value < 0
            factor = self.negate(other) if turned else other
            sets = self.members(OPPOSITE[fn] if turned else fn, x)
            if len(sets) > 1 and self.is_square(factor) and len(self.members(fn, other)) == 1:
                return tuple(self.mul(m, other) for m in sets)
        return (a,)

    def is_square(self, a: int) -> bool:
        """Whether a value is seen to be a square in every field."""
        t, value = self.all[a], self.number(a)
        if isinstance(value, Fraction):
            return value > 0 and has_root(value)
        if t.op == "mul" and t.args[0] == t.args[1]:
            return True
        if t.op in ("mul", "inv"):
            return all(self.is_square(x) for x in t.args)
        return t.op in ("exp", "sqrt", "named", "abs")

    def compare(self, fn: Fn, a: int, b: int) -> int:
        """LT, LE or EQ, settled where states, integers or identity settle it."""
        x, y = self.number(a), self.number(b)
        if a == b:
            return self.truth(fn is not Fn.LT)
        if x is not None and y is not None:
            return self.truth({Fn.LT: x < y, Fn.LE: x <= y, Fn.EQ: x == y}[fn])
        if isinstance(x, float) or isinstance(y, float):
            left, right = self.infinite(a), self.infinite(b)
            return self.truth(fn is not Fn.EQ and left < right)
        if fn is Fn.EQ and 0 in (x, y) and self.stepped.isdisjoint((a, b)):
            return self.truth(False)
        return self.term(Term(fn.symbol, (min(a, b), max(a, b)) if fn is Fn.EQ else (a, b)))

    def connective(self, fn: Fn, *args: int) -> int:
        """AND, OR and NOT."""
        values = [self.all[a].value if self.all[a].op == "bool" else None for a in args]
        if fn is Fn.NOT:
            (value,) = values
            return self.term(Term("not", args)) if value is None else self.truth(not value)
        decides = fn is Fn.OR
        if decides in values:
            return self.truth(decides)
        left = [a for a, v in zip(args, values, strict=True) if v is None]
        if not left:
            return self.truth(not decides)
        return left[0] if len(left) == 1 else self.term(Term(fn.symbol, tuple(left)))


_MAKE: dict[Fn, Callable[..., int]] = {
    Fn.ADD: Terms.add,
    Fn.SUB: lambda t, a, b: t.add(a, t.negate(b)),
    Fn.MUL: Terms.mul,
    Fn.DIV: lambda t, a, b: t.undefined if (i := t.inverse(b)) == t.undefined else t.mul(a, i),
    Fn.ABS: Terms.absolute,
    Fn.EXP: Terms.exp,
    Fn.EXP2: lambda t, a: t.exp(t.mul(a, t.named(Constant.LN2))),
    Fn.LOG: Terms.log,
    Fn.LOG2: lambda t, a: _scaled(t, t.log(a)),
    Fn.SQRT: Terms.sqrt,
    Fn.RSQRT: lambda t, a: t.undefined if (r := t.sqrt(a)) == t.undefined else t.inverse(r),
    Fn.TANH: lambda t, a: t.opaque("tanh", a),
    Fn.SIGMOID: Terms.sigmoid,
    Fn.ERF: lambda t, a: t.opaque("erf", a),
    **{fn: (lambda t, a, fn=fn: t.rounding(fn, a)) for fn in GRIDS},
    **{fn: (lambda t, a, b, fn=fn: t.compare(fn, a, b)) for fn in (Fn.LT, Fn.LE, Fn.EQ)},
    Fn.AND: lambda t, a, b: t.connective(Fn.AND, a, b),
    Fn.OR: lambda t, a, b: t.connective(Fn.OR, a, b),
    Fn.NOT: lambda t, a: t.connective(Fn.NOT, a),
}


def _scaled(terms: Terms, log: int) -> int:
    return log if log == terms.undefined else terms.mul(log, terms.named(Constant.LOG2E))
