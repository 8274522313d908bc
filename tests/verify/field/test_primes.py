from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from superopt.verify.field import primes


@pytest.mark.parametrize("n", [0, 1, 4, 25, 561, 2**31, 3215031751, 4759123141, 2**61 - 2])
def test_composites(n):
    assert not primes.is_prime(n)


@pytest.mark.parametrize("n", [2, 3, 37, 41, 2**31 - 1, 2**61 - 1, 576460752303536519])
def test_primes(n):
    assert primes.is_prime(n)


@pytest.mark.parametrize("levels", [1, 2, 3, 4])
def test_a_chain_is_what_it_should_be(levels):
    rng = Random(levels)
    for _ in range(5):
        chain = primes.draw(rng, levels)
        assert len(chain) == levels
        assert primes.LOW <= chain[0] < primes.HIGH
        assert all(a == 2 * b + 1 for a, b in pairwise(chain))
        for p in chain:
            assert primes.is_prime(p)
            assert p % 4 == 3
            assert all(primes.is_square(root, p) for root in primes.roots(levels))


def test_all_small_primes_have_roots_where_exponentials_are_not_nested():
    assert primes.roots(2) == (2, 3, 5, 7, 11, 13)


def test_chains_follow_the_seed():
    assert primes.draw(Random("a"), 2) == primes.draw(Random("a"), 2)
    assert primes.draw(Random("a"), 2) != primes.draw(Random("b"), 2)


def test_the_pool_of_pairs_is_as_large_as_said():
    """Counted over a part of the range."""
    modulus, residues = primes.classes(2)
    low = primes.LOW // 2 // modulus
    high = primes.HIGH // 2 // modulus
    part = range(low, high, 10)
    found = sum(
        primes.is_prime(p) and primes.is_prime(2 * p + 1)
        for k in part
        for p in (k * modulus + r for r in residues)
    )
    assert found * 10 == pytest.approx(primes.POOL[2], rel=0.15)
