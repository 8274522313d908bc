"""Which primes a field reading computes with: random chains in which small numbers have roots.

A chain is ``P0 = 2 P1 + 1, P1 = 2 P2 + 1, ...``, largest first, all prime. The squares modulo
``P0`` form a group of order ``P1``, so an exponent of an element at one level is a residue of
the next level: a chain of n primes decides n - 1 nested exponentials.

Every prime is 3 modulo 4, so exactly one of x and -x is a square, and a square's root that is
itself a square is a fixed power. The small primes of ``roots(levels)`` are squares at every
level, so that the root of a size exists.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from random import Random

LOW, HIGH = 2**31, 2**32  # the range of a chain's largest prime; products fit 64 bits
MOST_LEVELS = 4

# How many chains exist per number of primes, counted once (the first is a safe estimate).
POOL = {1: 760_000, 2: 4674, 3: 5026, 4: 1970}

_ROOTS = (2, 3, 5, 7, 11, 13)
_SMALL = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


def roots(levels: int) -> tuple[int, ...]:
    """The primes that are squares at every level of a chain.

    Longer chains are rare, so fewer conditions are put on them.
    """
    return {1: _ROOTS, 2: _ROOTS, 3: _ROOTS[:4]}.get(levels, _ROOTS[:3])


def is_prime(n: int) -> bool:
    """Miller's test, deterministic below 3.3e24 with these bases."""
    if n < 2:
        return False
    for p in _SMALL:
        if n % p == 0:
            return n == p
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_passes(n, base, odd, twos) for base in _SMALL)


def _passes(n: int, base: int, odd: int, twos: int) -> bool:
    x = pow(base, odd, n)
    if x in (1, n - 1):
        return True
    for _ in range(twos - 1):
        x = x * x % n
        if x == n - 1:
            return True
    return False


def is_square(a: int, p: int) -> bool:
    """Euler's criterion (p an odd prime that does not divide a)."""
    return pow(a, (p - 1) // 2, p) == 1


@cache
def classes(levels: int) -> tuple[int, tuple[int, ...]]:
    """Modulus and residues of the smallest prime of an admissible chain.

    7 modulo 8 makes 2 a square and every prime 3 modulo 4. An odd prime q is a square modulo p
    (both by quadratic reciprocity) if p is a square modulo q, or, for q = 3 modulo 4, if p is none.
    """
    modulus, found = 8, [7]
    for q in roots(levels)[1:]:
        squares = {x * x % q for x in range(1, q)}
        good = [r for r in range(1, q) if all(_root(x, q, squares) for x in _chain(r, q, levels))]
        found = sorted(
            x for a, r in product(found, good) for x in range(a, modulus * q, modulus) if x % q == r
        )
        modulus *= q
    return modulus, tuple(found)


def _chain(smallest: int, q: int, levels: int) -> list[int]:
    values = [smallest]
    for _ in range(levels - 1):
        values.append((2 * values[-1] + 1) % q)
    return values


def _root(x: int, q: int, squares: set[int]) -> bool:
    return x != 0 and (x in squares) == (q % 4 == 1)


def draw(rng: Random, levels: int) -> tuple[int, ...]:
    """A chain drawn uniformly from the pool, largest prime first."""
    modulus, residues = classes(levels)
    low, high = LOW >> (levels - 1), HIGH >> (levels - 1)
    while True:
        smallest = rng.randrange(low // modulus, high // modulus) * modulus + rng.choice(residues)
        chain = [smallest]
        while is_prime(chain[-1]) and len(chain) < levels:
            chain.append(2 * chain[-1] + 1)
        if len(chain) == levels and is_prime(chain[-1]):
            return tuple(reversed(chain))


def has_root(value: Fraction) -> bool:
    """Whether a number is a square in every chain."""
    return value > 0 and rooted(value) == value


def rooted(value: Fraction) -> Fraction:
    """The largest factor of a positive number that is a square in every chain."""
    found = Fraction(1)
    for p in roots(MOST_LEVELS):
        while value.numerator % p == 0:
            value, found = value / p, found * p
        while value.denominator % p == 0:
            value, found = value * p, found / p
    return found
