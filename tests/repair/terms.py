"""Random terms ``g(x, u)`` of known rank, written in random ways, with random names.

A separable term is ``sum_ij C_ij a_i(x) b_j(u)`` over independent functions of the producers and
of the walked axis; its rank is that of ``C``, which is computed here exactly, apart from the
deriver. How it is written (by rows, by columns, monomial by monomial, in which order) and what
things are called must not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from tests.samples import add
from tests.samples import div
from tests.samples import exp
from tests.samples import finite
from tests.samples import mul
from tests.samples import num
from tests.samples import rsqrt
from tests.samples import sub

NAMES = ("x", "a", "zz", "w", "sum0", "k", "n0", "max0", "t", "q9")


@dataclass(frozen=True)
class Names:
    """What tensors and axes are called in one term."""

    tensors: tuple[str, str, str, str]
    row: str
    walked: str

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Three tensors over (row, walked) and one over (walked)."""
        both = tuple(Input(n, (self.row, self.walked)) for n in self.tensors[:3])
        return (*both, Input(self.tensors[3], (self.walked,)))


@dataclass(frozen=True)
class Term:
    """A term and its rank under a sum (any finite rank under an extremum)."""

    value: Node
    rank: int
    names: Names


def names(random: Random) -> Names:
    tensors = random.sample(NAMES, 4)
    row, walked = random.sample(("m", "n", "i", "rows", "b", "aa"), 2)
    return Names((tensors[0], tensors[1], tensors[2], tensors[3]), row, walked)


def separable(random: Random) -> Term:
    """A term of rank 1 to 4 under a sum."""
    named = names(random)
    while True:
        a = random.sample(_of_producers(random, named), random.randint(1, 4))
        b = random.sample(_of_axis(random, named), random.randint(1, 4))
        c = [[_coefficient(random) for _ in b] for _ in a]
        if _moves(a, c) and _moves(b, [*zip(*c, strict=True)]):
            break
    if random.random() < 0.5:  # by one symbolic constant throughout, or by one in a row
        constant = Scalar("scale") if random.random() < 0.5 else Size(named.row)
        a = [mul(constant, f) if random.random() < 0.5 else f for f in a]
    value = _written(random, c, a, b)
    if random.random() < 0.3:
        value = mul(*_shuffled(random, [_weight(random, named), value]))
    return Term(value, rank(c), named)


def centred(random: Random) -> Term:
    """Powers of a difference, times what does not move, times an exponential of a difference."""
    named = names(random)
    x, y, _, u = named.inputs
    power = random.randint(1, 3)
    mean = random.choice([_mean(x, named), Reduce(Fn.ADD, named.walked, y)])
    difference = random.choice([sub(x, mean), sub(mean, x)])
    parts: list[Node] = [difference] * power
    if random.random() < 0.5:
        top = finite(Reduce(Fn.MAX, named.walked, x))
        parts.append(exp(sub(x, top)))
    if random.random() < 0.5:
        parts.append(u)
    return Term(_product(random, parts), power + 1, named)


def extremal(random: Random) -> Term:
    """``a(x) + b(u)``, or ``a(x) b(u)`` with ``a > 0``, to be folded by an extremum."""
    named = names(random)
    b = random.choice(_of_axis(random, named)[1:])
    if random.random() < 0.5:
        a = random.choice(_of_producers(random, named)[1:])
        parts = _shuffled(random, [a, b, random.choice(named.inputs)])
        value = _sum(parts)
        if random.random() < 0.5:
            value = add(sub(value, b), b)
        return Term(value, 1, named)
    scale = rsqrt(add(_squares(named.inputs[0], named), num(Fraction(1, 10))))
    parts = [scale, b]
    if random.random() < 0.5:
        parts.append(Map(Fn.ABS, (named.inputs[1],)))
    return Term(_product(random, parts), 1, named)


@dataclass(frozen=True)
class Mixed:
    """A term without finite rank: ``word`` names the function that mixes."""

    value: Node
    word: str
    names: Names


def mixed(random: Random) -> Mixed:
    """A separable term, plus one that does not separate."""
    rest = separable(random)
    x, y, w, u = rest.names.inputs
    moving = random.choice([_mean(x, rest.names), _squares(y, rest.names)])
    v = random.choice([x, w, u])
    pairs = [mul(v, moving), mul(moving, v), sub(v, moving), add(moving, v)]
    inner = random.choice(pairs)
    word, bad = random.choice(
        [
            ("tanh", Map(Fn.TANH, (inner,))),
            ("sigmoid", Map(Fn.SIGMOID, (inner,))),
            ("erf", Map(Fn.ERF, (inner,))),
            ("exp", exp(random.choice(pairs[:2]))),
            ("exp2", Map(Fn.EXP2, (random.choice(pairs[:2]),))),
            ("log", Map(Fn.LOG, (add(mul(inner, inner), num(1)),))),
            ("sqrt", Map(Fn.SQRT, (add(mul(inner, inner), num(1)),))),
            ("abs", Map(Fn.ABS, (random.choice(pairs[2:]),))),
            ("max", Map(Fn.MAX, (v, moving))),
            ("condition", Map(Fn.WHERE, (Map(Fn.LT, (v, moving)), v, num(1)))),
            ("/", div(num(1), add(mul(inner, inner), num(1)))),
        ]
    )
    weighted = mul(*_shuffled(random, [bad, random.choice([u, y])]))
    return Mixed(add(*_shuffled(random, [rest.value, weighted])), word, rest.names)


def fused(named: Names, value: Node, fold: Fn = Fn.ADD) -> BlockGraph:
    """The naive fusion of a fold of ``value`` with all that it reads into one walk."""
    store = Store("out", (named.row,), None, Reduce(fold, named.walked, value))
    (passes,) = (p for p in groupings([store], [named.walked]) if len(p) == 1)
    places = ((named.row, Grid()), (named.walked, Loop()))
    return fuse([store], places, (Turn(named.row),), passes)


def rank(matrix: Sequence[Sequence[int]]) -> int:
    """The rank of a matrix of integers, by exact elimination."""
    rows = [[Fraction(x) for x in row] for row in matrix]
    done = 0
    for column in range(len(rows[0])):
        pivot = next((r for r in range(done, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[done], rows[pivot] = rows[pivot], rows[done]
        for r in range(done + 1, len(rows)):
            scale = rows[r][column] / rows[done][column]
            rows[r] = [x - scale * y for x, y in zip(rows[r], rows[done], strict=True)]
        done += 1
    return done


# Functions -------------------------------------------------------------------------------


def _mean(x: Node, named: Names) -> Node:
    return div(Reduce(Fn.ADD, named.walked, x), Size(named.walked))


def _squares(x: Node, named: Names) -> Node:
    return Reduce(Fn.ADD, named.walked, mul(x, x))


def _of_producers(random: Random, named: Names) -> list[Node]:
    """Independent functions of one producer (the first is 1), or of it and another one."""
    x, y, *_ = named.inputs
    if random.random() < 0.5:
        p = _mean(x, named)
        found = [num(1), p, mul(p, p), mul(mul(p, p), p)]
    else:
        p = add(_squares(x, named), num(Fraction(1, 10)))
        found = [num(1), p, mul(p, p), rsqrt(p), div(num(1), p)]
    if random.random() < 0.4:
        q = Reduce(Fn.ADD, named.walked, y)
        found += [q, mul(p, q)]
    return found


def _of_axis(random: Random, named: Names) -> list[Node]:
    """Independent functions along the walk (the first is 1)."""
    x, y, w, u = named.inputs
    found = [num(1), x, u, mul(x, x), mul(x, u), w, Map(Fn.TANH, (y,)), mul(mul(x, x), w)]
    return found if random.random() < 0.5 else [*found, Map(Fn.ABS, (x,)), mul(w, y)]


def _weight(random: Random, named: Names) -> Node:
    """A factor that does not move."""
    x, y, w, u = named.inputs
    return random.choice([u, w, mul(y, y), Map(Fn.SIGMOID, (w,)), Map(Fn.ABS, (x,))])


# Ways of writing -------------------------------------------------------------------------


def _coefficient(random: Random) -> int:
    return random.choice((0, 0, 1, 1, -1, 2, -3))


def _moves(a: Sequence[Node], c: Sequence[Sequence[int]]) -> bool:
    """Whether a function other than 1 has a coefficient."""
    return any(any(row) and f is not num(1) for f, row in zip(a, c, strict=True))


def _written(
    random: Random, c: Sequence[Sequence[int]], a: Sequence[Node], b: Sequence[Node]
) -> Node:
    how = random.choice(("rows", "columns", "monomials"))
    if how == "rows":
        pairs = [(f, _combination(random, row, b)) for f, row in zip(a, c, strict=True)]
        parts = [mul(*_shuffled(random, [f, s])) for f, s in pairs if s is not None]
    elif how == "columns":
        columns = [[row[j] for row in c] for j in range(len(b))]
        pairs = [(f, _combination(random, col, a)) for f, col in zip(b, columns, strict=True)]
        parts = [mul(*_shuffled(random, [f, s])) for f, s in pairs if s is not None]
    else:
        parts = [
            _product(random, [*([num(k)] if k != 1 else []), f, g])
            for f, row in zip(a, c, strict=True)
            for k, g in zip(row, b, strict=True)
            if k
        ]
    return _sum(_shuffled(random, parts))


def _combination(random: Random, row: Sequence[int], functions: Sequence[Node]) -> Node | None:
    parts = [f if k == 1 else mul(num(k), f) for k, f in zip(row, functions, strict=True) if k]
    return _sum(_shuffled(random, parts)) if parts else None


def _shuffled(random: Random, parts: Sequence[Node]) -> list[Node]:
    return random.sample(parts, len(parts))


def _sum(parts: Sequence[Node]) -> Node:
    total = parts[0]
    for part in parts[1:]:
        total = add(total, part)
    return total


def _product(random: Random, parts: Sequence[Node]) -> Node:
    """A product in any order and bracketing."""
    left = _shuffled(random, parts)
    while len(left) > 1:
        i = random.randrange(len(left) - 1)
        left[i : i + 2] = [mul(left[i], left[i + 1])]
    return left[0]
