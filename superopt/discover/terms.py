"""Small terms by size, each with its value; a term that equals an earlier one makes a pair.

Larger terms are built of the first terms of their values only: what equals a smaller term adds
nothing but consequences of that pair. (Enumeration by representatives as in Ruler, Nandi et
al. 2021.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from superopt.discover.fingerprint import Domain
from superopt.discover.fingerprint import Values
from superopt.discover.fingerprint import drawn
from superopt.discover.fingerprint import fingerprint
from superopt.discover.fingerprint import of_fold
from superopt.discover.fingerprint import of_map
from superopt.discover.fingerprint import of_number
from superopt.discover.vocabulary import AXIS
from superopt.discover.vocabulary import Vocabulary
from superopt.discover.vocabulary import holes_of
from superopt.rewrite.rule import App
from superopt.rewrite.rule import Fold
from superopt.rewrite.rule import Num
from superopt.rewrite.rule import Pattern
from superopt.rewrite.rule import Var
from superopt.ugraph.scalar import Fn

CHOOSE = (Fn.MAX, Fn.MIN)  # besides selects: what an infinite number is written for


@dataclass(frozen=True)
class Term:
    """A pattern and its value. ``varies``: over the axis. ``truth``: it is a truth value."""

    pattern: Pattern
    size: int
    values: Values
    varies: bool
    truth: bool


@dataclass(frozen=True)
class Pair:
    """Two terms with one fingerprint, the later one first."""

    left: Pattern
    right: Pattern
    size: int  # of the later one


class Terms:
    """The terms of a vocabulary in a domain. ``seen``: how many were evaluated."""

    def __init__(self, vocabulary: Vocabulary, domain: Domain, seed: int) -> None:
        self.vocabulary = vocabulary
        self.domain = domain
        self.holes = drawn(vocabulary, domain, seed)
        self.first: dict[bytes, Term] = {}
        self.by_size: list[list[Term]] = [[]]
        self.seen = 0

    def pairs(self, most: int) -> Iterator[Pair]:
        """All pairs whose terms have at most ``most`` parts, smaller ones first."""
        for size in range(1, most + 1):
            self.by_size.append([])
            for term in self._of_size(size):
                self.seen += 1
                if not worth(term):
                    continue
                known = self.first.setdefault(mark(term), term)
                if known is term and not closed(term):
                    self.by_size[size].append(term)
                elif known is not term:
                    yield Pair(term.pattern, known.pattern, size)

    def _of_size(self, size: int) -> Iterator[Term]:
        if size == 1:
            yield from self._leaves()
            return
        yield from self._of_one(size)
        for left_size in range(1, size - 1):
            for left, right in product(self.by_size[left_size], self.by_size[size - 1 - left_size]):
                if not (left.truth or right.truth):
                    yield from self._of_two(left, right)
        yield from self._selects(size)

    def _of_one(self, size: int) -> Iterator[Term]:
        for arg in self.by_size[size - 1]:
            for fn in () if arg.truth else self.vocabulary.unary:
                yield self._map(fn, (arg,))
            for fn in self.vocabulary.folds if arg.varies else ():
                folded = Fold(fn, AXIS, arg.pattern)
                yield Term(folded, size, of_fold(fn, arg.values), varies=False, truth=False)

    def _of_two(self, left: Term, right: Term) -> Iterator[Term]:
        infinities = infinite(left) or infinite(right)
        for fn in (*self.vocabulary.binary, *self.vocabulary.tests):
            twice = fn.value.commutative and not self._sorted(left, right)
            if not (twice or (infinities and fn not in CHOOSE)):
                yield self._map(fn, (left, right))

    def _selects(self, size: int) -> Iterator[Term]:
        for test_size in range(1, size - 2):
            tests = [t for t in self.by_size[test_size] if t.truth]
            for then_size in range(1, size - 1 - test_size) if tests else ():
                others = self.by_size[size - 1 - test_size - then_size]
                for args in product(tests, self.by_size[then_size], others):
                    if not (args[1].truth or args[2].truth):
                        yield self._map(Fn.WHERE, args)

    def _leaves(self) -> Iterator[Term]:
        words = self.vocabulary
        for hole in words.holes:
            varies = hole in words.elements
            yield Term(Var(hole), 1, self.holes[hole], varies, hole in words.truths)
        for value in words.numbers:
            yield Term(Num(value), 1, of_number(value), varies=False, truth=False)

    def _map(self, fn: Fn, args: tuple[Term, ...]) -> Term:
        return Term(
            App(fn, tuple(a.pattern for a in args)),
            1 + sum(a.size for a in args),
            of_map(fn, [a.values for a in args]),
            any(a.varies for a in args),
            fn in self.vocabulary.tests,
        )

    def term(self, pattern: Pattern) -> Term:
        """Any term of the vocabulary's holes, with its value."""
        match pattern:
            case Var() | Num():
                return next(t for t in self._leaves() if t.pattern == pattern)
            case App(fn=fn, args=args):
                return self._map(fn, tuple(map(self.term, args)))
            case Fold(fn=fn, arg=arg):
                inner = self.term(arg)
                values = of_fold(fn, inner.values)
                return Term(pattern, inner.size + 1, values, varies=False, truth=False)
            case _:
                raise TypeError(f"no term: {pattern!r}")

    @staticmethod
    def _sorted(left: Term, right: Term) -> bool:
        """Whether a commutative function takes the two in this order: each pair comes once."""
        return left.size < right.size or (
            left.size == right.size and repr(left.pattern) <= repr(right.pattern)
        )


def mark(term: Term) -> bytes:
    """Equal for terms that look equal."""
    return fingerprint(term.values, term.varies) + (b"truth" if term.truth else b"")


def infinite(term: Term) -> bool:
    """Whether it is an infinite number: these are chosen, not calculated with."""
    return isinstance(term.pattern, Num) and isinstance(term.pattern.value, float)


def closed(term: Term) -> bool:
    """Whether it is a function of numbers alone, which is no part of other terms."""
    return term.size > 1 and not holes_of(term.pattern)


def worth(term: Term) -> bool:
    """Whether a term says something: it is defined at every point of its domain, a truth value
    that varies, and no arithmetic of numbers (which the e-graph does without a law).

    Partial functions are met where they are defined; a law about them loses the needs that it
    has not when it is proved.
    """
    if any(np.isnan(v).any() for v in term.values):
        return False
    if term.truth:
        return bool(np.ptp(term.values[0]) > 0)
    return not (closed(term) and term.size > 2)
