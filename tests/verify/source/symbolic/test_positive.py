"""Sizes of which a launch has programs are at least one, and no more is said than that."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.evaluate import truth_of
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.positive import positives
from superopt.verify.source.symbolic.read import read_symbolic
from superopt.verify.source.symbolic.solve import Prover
from superopt.verify.source.symbolic.table import name_of
from superopt.verify.verdict import Proved
from superopt.verify.verdict import spoken
from tests import grouped
from tests.emit.packed_cases import packed_case

SIZES = ("b", "g", "r", "m")
TILE = '"m": 4, "e"'


def table(prover):
    atoms = Atoms(prover)
    found = [atoms.free(n, shared=True) for n in SIZES]
    for one in found:
        atoms.assume(name_of(one), at_least(one, ZERO))
    atoms.assume("r", at_least(found[2] * found[3], ZERO))
    return atoms, found


def test_each_size_and_number_of_tiles_is_at_least_one():
    prover = Prover()
    atoms, (b, g, r, m) = table(prover)
    tiles, _ = atoms.divided(r * m + number(15), number(16))
    found = positives(number(8) * b * g * tiles, (), atoms, prover)
    for wanted in (b, g, tiles, r * m, r, m):
        assert at_least(wanted, ONE) in found, wanted


def test_a_sum_says_nothing_of_its_terms():
    prover = Prover()
    atoms, (b, g, *_) = table(prover)
    assert positives(b + g, (), atoms, prover) == (at_least(b + g, ONE),)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=4, max_size=4), st.integers(1, 4))
def test_what_is_found_is_true_wherever_there_are_programs(values, tile):
    prover = Prover()
    atoms, (b, g, r, m) = table(prover)
    tiles, _ = atoms.divided(r * m + number(tile - 1), number(tile))
    programs = b * tiles * atoms.least(g, m)
    at = dict(zip(SIZES, values, strict=True))
    if truth_of(at_least(programs, ONE), at, atoms):
        for fact in positives(programs, (), atoms, prover):
            assert truth_of(fact, at, atoms), fact


def test_packed_tiles_that_are_counted_from_the_last_one_are_within_their_sizes():
    """The kernel that combines parts has one joint position a program: it divides by a product."""
    program = grouped.grouped()
    graph = grouped.packed(program, split=True)
    (block,) = graph.kernels
    turns = tuple(replace(t, reverse=t.axis == "m") for t in block.order)
    turned = replace(block, order=turns)
    printed = replace(packed_case(), program=program, graphs=(replace(graph, kernels=(turned,)),))
    text = printed.text()
    assert text.count(TILE) == 1
    reading = read_symbolic(text.replace(TILE, '"m": 1, "e"'), "grouped", refute=False)
    wanting = [f"{c}: {spoken(v)}" for c, v in reading.claims if not isinstance(v, Proved)]
    assert wanting == []
