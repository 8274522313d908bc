"""Nested strides give each element an address of its own."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superopt.verify.source.symbolic.addresses import addresses_differ
from superopt.verify.source.symbolic.solve import Prover


@pytest.mark.parametrize("contiguous", [False, True])
def test_every_level_is_proved(contiguous):
    prover = Prover()
    assert addresses_differ(contiguous, prover) == []
    assert {q.answer for q in prover.queries.values()} == {"unsat"}


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 30)), min_size=1, max_size=3))
def test_what_the_launcher_lets_through_has_distinct_addresses(axes):
    reach = 0
    for stride, size in sorted((s, n) for n, s in axes if n > 1):
        if stride <= reach:
            return
        reach += (size - 1) * stride
    places = product(*(range(n) for n, _ in axes))
    offsets = [sum(i * s for i, (_, s) in zip(p, axes, strict=True)) for p in places]
    assert len(set(offsets)) == len(offsets)
