"""Properties of the deriver: the rank, a law that is judged right, or a refusal that says why."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.errors import NoRepair
from superopt.repair.apply import repair
from superopt.repair.record import Repair
from superopt.ugraph.evaluate import evaluate_kernels
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo
from superopt.verify.obligations import judge_repair
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import accepted
from tests.repair.terms import Term
from tests.repair.terms import centred
from tests.repair.terms import extremal
from tests.repair.terms import fused
from tests.repair.terms import mixed
from tests.repair.terms import rank
from tests.repair.terms import separable

RANDOM = st.integers(0, 2**32 - 1).map(Random)


def means_the_spec(term: Term, fold: Fn, block: BlockGraph) -> None:
    """The walk, tile by tile, against the fold as it is written, in float64."""
    value = Reduce(fold, term.names.walked, term.value)
    leaves = [n for n in topo([value]) if isinstance(n, Input | Scalar)]
    program = Program("p", tuple(leaves), (Store("out", (term.names.row,), None, value),))
    graph = KernelGraph("p", program.params, ("out",), (block,))
    sizes = {term.names.row: 3, term.names.walked: 7}
    rng = np.random.default_rng(0)
    given_ = {n.name: rng.normal(size=tuple(sizes[a] for a in n.order)) for n in leaves
              if isinstance(n, Input)}  # fmt: skip
    given_ |= {n.name: np.asarray(0.75) for n in leaves if isinstance(n, Scalar)}
    config = Config(((term.names.row, 2), (term.names.walked, 2)))
    domain = FloatDomain(np.float64)
    want = evaluate_program(program, domain, given_, sizes)["out"]
    got = evaluate_kernels(graph, domain, given_, sizes, (config,))["out"]
    np.testing.assert_allclose(got, want, 1e-7, 1e-7 * max(1.0, float(np.abs(want).max())))


def is_judged_right(found: Repair, block: BlockGraph) -> None:
    """Every obligation holds; range alone may be open (what cancels is for the search to leave)."""
    for claim, verdict in judge_repair(found, block):
        open_ = claim == "range" and isinstance(verdict, Unknown)
        assert accepted(verdict) or open_, (claim, verdict)


def derived(term: Term, fold: Fn) -> tuple[BlockGraph, Repair]:
    block, repairs = repair(fused(term.names, term.value, fold))
    return block, repairs[-1]


@settings(max_examples=30, deadline=None)
@given(RANDOM)
def test_a_separable_term_has_the_rank_of_its_coefficients(random: Random):
    term = separable(random)
    block, found = derived(term, Fn.ADD)
    assert found.rank == term.rank
    means_the_spec(term, Fn.ADD, block)


@settings(max_examples=8, deadline=None)
@given(RANDOM)
def test_the_law_of_a_separable_term_meets_its_obligations(random: Random):
    block, found = derived(separable(random), Fn.ADD)
    is_judged_right(found, block)


@settings(max_examples=5, deadline=None)
@given(RANDOM)
def test_powers_of_differences_have_one_more_component_than_their_power(random: Random):
    term = centred(random)
    block, found = derived(term, Fn.ADD)
    assert (found.rank, found.deferred) == (term.rank, False)
    means_the_spec(term, Fn.ADD, block)
    is_judged_right(found, block)


@pytest.mark.parametrize("fold", [Fn.MAX, Fn.MIN], ids=lambda f: f.symbol)
@settings(max_examples=8, deadline=None)
@given(RANDOM)
def test_extrema_of_sums_and_of_positive_multiples_have_rank_one(fold: Fn, random: Random):
    term = extremal(random)
    block, found = derived(term, fold)
    assert found.rank == 1
    means_the_spec(term, fold, block)
    is_judged_right(found, block)


@settings(max_examples=40, deadline=None)
@given(RANDOM)
def test_a_term_that_mixes_is_refused_by_name(random: Random):
    term = mixed(random)
    with pytest.raises(NoRepair) as refused:
        repair(fused(term.names, term.value))
    assert term.word in str(refused.value)


def test_the_oracle_counts_rank_exactly():
    assert rank([[1, 2], [2, 4]]) == 1
    assert rank([[0, 1], [1, 0], [1, 1]]) == 2
    assert rank([[0, 0]]) == 0
