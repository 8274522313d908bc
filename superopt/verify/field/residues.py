"""Arithmetic on residues of many rounds at once: one row a round, each with its own primes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from superopt.ugraph.scalar import Fn
from superopt.verify.field.primes import is_square

U64 = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]

_DIGITS = 8  # base-16 digits of an exponent below 2^32


class Residue(NamedTuple):
    """Residues at one level, and where they are known.

    Unknown is what a chain cannot tell: an exponential too deep, the root of a non-square, a
    quotient by an accidental zero. Unknown elements are never compared.
    """

    value: U64
    known: Bools


class Tower:
    """The fields of all rounds, level 0 (the largest primes) first.

    Arrays have a leading dimension of one element a round (or 1: equal in all rounds). Level
    ``i`` takes its exponents from level ``i + 1``. ``equivariant``: the extrema that are drawn
    so (``extrema.py``). ``ties``: compared data may be equal (``ties.py``).
    """

    def __init__(
        self,
        chains: Sequence[tuple[int, ...]],
        seed: int,
        equivariant: frozenset[Fn] = frozenset(),
        ties: bool = False,
    ) -> None:
        self.equivariant = equivariant
        self.ties = ties
        self.chains = tuple(chains)
        self.rounds = len(chains)
        self.levels = len(chains[0])
        self.seed = seed
        self.primes = [np.array([c[i] for c in chains], np.uint64) for i in range(self.levels)]
        self._keys: dict[str, U64] = {}
        self._tables = [self._powers(i) for i in range(self.levels - 1)]

    def p(self, level: int, ndim: int) -> U64:
        """The primes of a level, shaped to broadcast with arrays of ``ndim`` dimensions."""
        return self.primes[level].reshape((-1,) + (1,) * (ndim - 1))

    def key(self, label: str) -> U64:
        """A random word a round, fixed by the seed and the label."""
        if label not in self._keys:
            text = f"{self.seed}:{label}".encode()
            digest = hashlib.shake_128(text).digest(8 * self.rounds)
            self._keys[label] = np.frombuffer(digest, np.uint64)
        return self._keys[label]

    def mixed(self, label: str, x: U64) -> U64:
        """A random function of ``x``, as a 64-bit word."""
        z = x ^ self.key(label).reshape((-1,) + (1,) * (x.ndim - 1))
        z = (z + np.uint64(0x9E3779B97F4A7C15)) ^ self.key(label + "'").reshape(
            (-1,) + (1,) * (x.ndim - 1)
        )
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
        return z ^ (z >> np.uint64(31))

    def random(self, label: str, level: int, x: U64) -> U64:
        """A random function of ``x``, as a residue of ``level``."""
        return self.mixed(f"{label}/{level}", x) % self.p(level, x.ndim)

    def drawn(self, rng: np.random.Generator, level: int, shape: tuple[int, ...]) -> U64:
        """Independent uniform nonzero residues in every round."""
        full = (self.rounds, *shape)
        words = rng.integers(0, 2**63, full, np.uint64)
        p = self.p(level, len(full))
        drawn: U64 = words % (p - np.uint64(1)) + np.uint64(1)
        return drawn

    def add(self, level: int, a: U64, b: U64) -> U64:
        """A sum."""
        return (a + b) % self.p(level, a.ndim)

    def negate(self, level: int, a: U64) -> U64:
        """-a."""
        p = self.p(level, a.ndim)
        return (p - a) % p

    def mul(self, level: int, a: U64, b: U64) -> U64:
        """A product."""
        return a * b % self.p(level, a.ndim)

    def power(self, level: int, a: U64, exponent: U64) -> U64:
        """``a ** exponent`` (nonnegative exponents below 2^32), by squaring."""
        p = self.p(level, a.ndim)
        base, left = np.broadcast_arrays(a % p, exponent)
        found = np.ones_like(base)
        while left.any():
            found = np.where(left & np.uint64(1) != 0, found * base % p, found)
            base = base * base % p
            left = left >> np.uint64(1)
        return found

    def fixed_power(self, level: int, a: U64, what: str) -> U64:
        """``a`` to a power that depends on the prime: ``inverse``, ``root`` or ``sign``."""
        p = self.p(level, a.ndim)
        match what:
            case "inverse":
                exponent = p - np.uint64(2)
            case "root":
                exponent = (p + np.uint64(1)) >> np.uint64(2)
            case _:
                exponent = (p - np.uint64(1)) >> np.uint64(1)
        return self.power(level, a, exponent)

    def is_square(self, level: int, a: U64) -> Bools:
        """Where a residue is a nonzero square."""
        result: Bools = self.fixed_power(level, a, "sign") == 1
        return result

    def exp(self, level: int, exponent: U64) -> U64:
        """The round's base at ``level`` to a residue of the next level."""
        p = self.p(level, exponent.ndim)
        table = self._tables[level]
        row = np.arange(self.rounds).reshape((-1,) + (1,) * (exponent.ndim - 1))
        found = np.ones((1,) * exponent.ndim, np.uint64)
        for digit in range(_DIGITS):
            places = ((exponent >> np.uint64(4 * digit)) & np.uint64(15)).astype(np.intp)
            found = found * table[row, digit, places] % p
        return found

    def _powers(self, level: int) -> npt.NDArray[Any]:
        """Powers of a random generator of the squares: [round, digit, value of the digit]."""
        table = np.ones((self.rounds, _DIGITS, 16), np.uint64)
        words = self.key(f"base/{level}")
        for r, chain in enumerate(self.chains):
            p = chain[level]
            base = pow(int(words[r]) % (p - 3) + 2, 2, p)
            assert is_square(base, p)
            for digit in range(_DIGITS):
                for value in range(16):
                    table[r, digit, value] = pow(base, value << (4 * digit), p)
        return table
