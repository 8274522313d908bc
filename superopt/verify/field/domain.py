"""The field domain: arrays of residues modulo random primes, with states beside them.

One array holds several independent *rounds*, each with its own primes, bases and inputs. Two
values that are equal as expressions over the reals (by the laws of fields, of exponentials and
of extrema) are equal in every round; values that are not differ in a round except with the
probability that ``bound.py`` computes.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from fractions import Fraction
from random import Random

import numpy as np

from superopt.ugraph.grids import GRIDS
from superopt.ugraph.node import Input
from superopt.ugraph.node import Scalar
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.scalar import Number
from superopt.verify.field import primes
from superopt.verify.field.array import FINITE
from superopt.verify.field.array import NEG
from superopt.verify.field.array import POS
from superopt.verify.field.array import UNDEFINED
from superopt.verify.field.array import FieldArray
from superopt.verify.field.array import boolean
from superopt.verify.field.array import exact_of
from superopt.verify.field.array import integer
from superopt.verify.field.array import promoted
from superopt.verify.field.array import real
from superopt.verify.field.array import zero_of
from superopt.verify.field.choice import compare
from superopt.verify.field.choice import connective
from superopt.verify.field.choice import extreme
from superopt.verify.field.choice import fold_extreme
from superopt.verify.field.choice import joined
from superopt.verify.field.choice import select
from superopt.verify.field.functions import Functions
from superopt.verify.field.opaque import opaque
from superopt.verify.field.opaque import rounding
from superopt.verify.field.ranking import best
from superopt.verify.field.residues import Residue
from superopt.verify.field.residues import Tower

SMALLEST_INT, LARGEST_INT = 0, 6  # integer tensors and scalars are drawn from this range


class FieldDomain:
    """Several rounds of a field reading; implements ``ugraph.domain.Domain``.

    ``levels``: primes in a chain, one more than the exponentials that may be nested.
    ``chains``: the primes of every round, if they are not to be drawn. ``drawn_logs``: see
    ``Functions``. ``equivariant``: see ``extrema.py``; ``ties``: see ``ties.py``.
    """

    def __init__(
        self,
        seed: int,
        levels: int = 2,
        rounds: int = 8,
        chains: Sequence[tuple[int, ...]] | None = None,
        drawn_logs: bool = False,
        equivariant: frozenset[Fn] = frozenset(),
        ties: bool = False,
    ) -> None:
        rng = Random(f"field:{seed}:{levels}")
        chains = chains or [primes.draw(rng, levels) for _ in range(rounds)]
        self.tower = Tower(chains, seed, equivariant, ties)
        self.functions = Functions(self.tower, self._constants(seed), drawn_logs)

    def _constants(self, seed: int) -> dict[Constant, FieldArray]:
        """LOG2E is a random square (it is positive), LN2 its inverse, PI another square."""
        rng = np.random.default_rng([seed, 1])
        known = np.ones(1, np.bool_)
        tag, zero, none = np.zeros(1, np.int8), np.zeros(1, np.bool_), frozenset[str]()
        log2e, ln2, pi = [], [], []
        for i in range(self.tower.levels):
            roots = (self.tower.drawn(rng, i, ()) for _ in range(2))
            unit, circle = (self.tower.mul(i, root, root) for root in roots)
            log2e.append(Residue(unit, known))
            ln2.append(Residue(self.tower.fixed_power(i, unit, "inverse"), known))
            pi.append(Residue(circle, known))
        return {
            Constant.LOG2E: real(tag, zero, log2e, none),
            Constant.LN2: real(tag, zero, ln2, none),
            Constant.PI: real(tag, zero, pi, none),
        }

    def constant(self, value: Number) -> FieldArray:
        """A number; integers and infinities are exact."""
        if isinstance(value, float):
            tag = np.array([NEG if value < 0 else POS], np.int8)
            return integer(tag, np.zeros(1, np.int64), frozenset())
        tag = np.zeros(1, np.int8)
        if value.denominator == 1 and abs(value) < 2**61:
            return integer(tag, np.array([int(value)], np.int64), frozenset())
        return real(tag, np.zeros(1, np.bool_), self._rational(value), frozenset())

    def _rational(self, value: Fraction) -> list[Residue | None]:
        levels: list[Residue | None] = []
        for i in range(self.tower.levels):
            moduli = [chain[i] for chain in self.tower.chains]
            words = [value.numerator * pow(value.denominator, p - 2, p) % p for p in moduli]
            known = np.array([value.denominator % p != 0 for p in moduli])
            levels.append(Residue(np.array(words, np.uint64), known))
        return levels

    def named(self, name: Constant) -> FieldArray:
        """A random number that has the constant's algebraic properties."""
        return self.functions.constants[name]

    def integers(self, first: int, stop: int) -> FieldArray:
        """Exact integers."""
        values = np.arange(first, stop, dtype=np.int64)[None]
        return integer(np.zeros(values.shape, np.int8), values, frozenset())

    def draw(self, param: Input | Scalar, shape: tuple[int, ...], seed: int) -> FieldArray:
        """A random value for a parameter, in memory order.

        Reals are uniform nonzero residues, independent at every level. Integers are small, and
        the same in all rounds.
        """
        rng = np.random.default_rng([seed, *param.name.encode()])
        tag = np.zeros((1, *shape), np.int8)
        match param.kind:
            case Kind.INT:
                values = rng.integers(SMALLEST_INT, LARGEST_INT + 1, (1, *shape), np.int64)
                return integer(tag, values, frozenset())
            case Kind.BOOL:
                truth = rng.integers(0, 2, (1, *shape)) == 1
                return boolean(tag, truth, np.ones(tag.shape, np.bool_), frozenset())
        known = np.ones((1,) * tag.ndim, np.bool_)
        levels = [Residue(self.tower.drawn(rng, i, shape), known) for i in range(self.tower.levels)]
        return real(tag, np.zeros((1,) * tag.ndim, np.bool_), levels, frozenset())

    def apply(self, fn: Fn, args: Sequence[FieldArray]) -> FieldArray:
        """``fn`` point by point."""
        return MEANING[fn](self.functions, args)

    def fold(self, fn: Fn, value: FieldArray, dim: int) -> FieldArray:
        """``value`` folded along ``dim``."""
        if fn is Fn.ADD and (value.kind is Kind.INT or value.expo is None):
            return self._sum(value, dim)
        if fn in (Fn.MAX, Fn.MIN) and value.shape[dim]:
            return fold_extreme(self.tower, fn, value, dim)
        rest = value.shape[:dim] + value.shape[dim + 1 :]
        found = self.full(rest, fn.unit)
        for position in range(value.shape[dim]):
            part = self.reshape(self.slice(value, dim, position, position + 1), rest)
            found = part if position == 0 else self.apply(fn, (found, part))
        return found

    def _sum(self, value: FieldArray, dim: int) -> FieldArray:
        at = dim + 1
        clash = (value.tag == NEG).any(at) & (value.tag == POS).any(at)
        tag = np.where(clash, np.int8(UNDEFINED), value.tag.max(at, initial=FINITE))
        if value.kind is Kind.INT:
            return integer(tag, exact_of(value).sum(at), value.doubts)
        levels: list[Residue | None] = []
        for i, r in enumerate(value.levels):
            if r is not None:
                total = r.value.sum(at, dtype=np.uint64) % self.tower.p(i, r.value.ndim - 1)
                r = Residue(total, np.asarray(r.known.all(at)))
            levels.append(r)
        return real(tag, np.asarray(zero_of(value).all(at)), levels, value.doubts)

    def best(
        self,
        values: FieldArray,
        places: FieldArray,
        count: int,
        end: int,
        at: bool,
        taken: FieldArray | None = None,
    ) -> FieldArray:
        """Ranked by a random order of all numbers (``ranking.py``)."""
        return best(self.tower, values, places, count, end, at, taken)

    def shape(self, value: FieldArray) -> tuple[int, ...]:
        """The shape, rounds excluded."""
        return value.shape

    def reshape(self, value: FieldArray, shape: tuple[int, ...]) -> FieldArray:
        """The same elements in a new shape."""
        return value.each(
            lambda a, extra: a.reshape((a.shape[0], *shape, *a.shape[a.ndim - extra :]))
        )

    def transpose(self, value: FieldArray, order: tuple[int, ...]) -> FieldArray:
        """A view with permuted dimensions."""
        places = (0, *(d + 1 for d in order))
        return value.each(lambda a, extra: a.transpose(places + tuple(range(len(places), a.ndim))))

    def slice(self, value: FieldArray, dim: int, first: int, stop: int) -> FieldArray:
        """A view of some positions."""
        return value.each(lambda a, extra: a[(slice(None),) * (dim + 1) + (slice(first, stop),)])

    def join(self, values: Sequence[FieldArray], dim: int) -> FieldArray:
        """Concatenation."""
        return joined(self.tower, values, dim)

    def full(self, shape: tuple[int, ...], value: Number) -> FieldArray:
        """One number everywhere."""
        scalar = self.constant(value)
        wide = self.reshape(scalar, (1,) * len(shape))
        return wide.each(lambda a, extra: np.broadcast_to(a, (a.shape[0], *shape)))

    def integer(self, value: FieldArray) -> int:
        """The value of an array without dimensions that is an exact integer."""
        if value.kind is not Kind.INT or value.shape or value.tag[0] != FINITE:
            raise ValueError("this value of the field reading is no integer")
        return int(exact_of(value)[0])

    def contract(self, left: FieldArray, right: FieldArray, dim: int) -> FieldArray:
        """The fold of the products (sizes are small here)."""
        return self.fold(Fn.ADD, self.apply(Fn.MUL, (left, right)), dim)


def _rounding(fn: Fn) -> Callable[[Functions, Sequence[FieldArray]], FieldArray]:
    return lambda f, a: rounding(f.tower, fn, promoted(f.tower, a[0]))


# One entry a scalar function: (functions of a tower, arguments) -> value.
MEANING: dict[Fn, Callable[[Functions, Sequence[FieldArray]], FieldArray]] = {
    Fn.ADD: lambda f, a: f.add(*a),
    Fn.SUB: lambda f, a: f.sub(*a),
    Fn.MUL: lambda f, a: f.mul(*a),
    Fn.DIV: lambda f, a: f.div(*a),
    Fn.MAX: lambda f, a: extreme(f.tower, Fn.MAX, a),
    Fn.MIN: lambda f, a: extreme(f.tower, Fn.MIN, a),
    Fn.ABS: lambda f, a: f.absolute(*a),
    Fn.EXP: lambda f, a: f.exp(*a),
    Fn.EXP2: lambda f, a: f.exp2(*a),
    Fn.LOG: lambda f, a: f.log(*a),
    Fn.LOG2: lambda f, a: f.log2(*a),
    Fn.SQRT: lambda f, a: f.sqrt(*a),
    Fn.RSQRT: lambda f, a: f.rsqrt(*a),
    Fn.TANH: lambda f, a: opaque(f.tower, "tanh", promoted(f.tower, a[0]), 1),
    Fn.SIGMOID: lambda f, a: f.sigmoid(*a),
    Fn.ERF: lambda f, a: opaque(f.tower, "erf", promoted(f.tower, a[0]), 1),
    **{fn: _rounding(fn) for fn in GRIDS},
    Fn.LT: lambda f, a: compare(f.tower, Fn.LT, a),
    Fn.LE: lambda f, a: compare(f.tower, Fn.LE, a),
    Fn.EQ: lambda f, a: compare(f.tower, Fn.EQ, a),
    Fn.AND: lambda f, a: connective(Fn.AND, a),
    Fn.OR: lambda f, a: connective(Fn.OR, a),
    Fn.NOT: lambda f, a: connective(Fn.NOT, a),
    Fn.WHERE: select,
}
