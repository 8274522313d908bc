"""Joining parts of a walk gives the same, in whatever order of joins: every repair that exists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.draws import draws
from superopt.errors import NoRepair
from superopt.loading import load
from superopt.report.repairs import fusions
from superopt.spec import Spec
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import substitute
from tests.repair.brackets import States
from tests.repair.brackets import segments
from tests.repair.cases import REPAIRED
from tests.repair.cases import Case
from tests.repair.cases import X
from tests.repair.cases import arrays
from tests.repair.cases import repaired
from tests.repair.cases import spec

N = 8
SPECS = [s for f in sorted(Path(__file__).parents[2].glob("specs/*.py")) for s in load(str(f))]
KINDS = ("normal", "large", "late", "zero", "falling")
cuts = st.lists(st.integers(0, N), min_size=1, max_size=5).map(sorted)  # equal ones: empty parts


def same(found: dict[str, States], tolerance: float) -> None:
    """All states of all bracketings are equal."""
    for how in ("left", "right", "tree"):
        for name, want in found["whole"].items():
            got = found[how][name]
            size = np.abs(want[np.isfinite(want)]).max(initial=1)
            np.testing.assert_allclose(
                got, want, tolerance, tolerance * size, err_msg=f"{how} {name}"
            )


@cache
def block_of(case: Case) -> BlockGraph:
    return repaired(case, split=True)[0]


@cache
def masked(case: Case) -> Case:
    """The same of a row of which only positions before the row's number are seen."""
    seen = Map(Fn.LT, (Index("n"), Index("m")))
    value = substitute(case.value, {X: Map(Fn.WHERE, (seen, X, Const(-INF)))})
    return replace(case, name=f"{case.name}, masked", value=value)


def joined(case: Case, cuts: list[int], kind: str, seed: int) -> None:
    inputs, sizes = arrays(N, kind, seed), {"m": 3, "n": N, "e": 2}
    with np.errstate(all="ignore"):
        parts = segments(block_of(case), spec(case), inputs, sizes)
        found = parts.brackets(cuts)
        want = evaluate_program(spec(case), FloatDomain(np.float64), inputs, sizes)["out"]
        outs = {how: parts.stored(states, block_of(case))["out"] for how, states in found.items()}
    claimed = ~np.isnan(want)
    if claimed.all():
        same(found, 1e-9 if kind != "late" else 1e-6)
    size = np.abs(want[np.isfinite(want)]).max(initial=1)
    for how, got in outs.items():
        allowed = max(case.tolerance, 1e-9) * size
        np.testing.assert_allclose(got[claimed], want[claimed], 1e-7, allowed, err_msg=how)


@pytest.mark.parametrize("case", REPAIRED, ids=lambda c: c.name)
@given(cuts=cuts, kind=st.sampled_from(KINDS), seed=st.integers(0, 9))
@settings(max_examples=12, deadline=None)
def test_every_bracketing_of_parts_is_the_walk(case: Case, cuts: list[int], kind: str, seed: int):
    joined(case, cuts, kind, seed)


@pytest.mark.parametrize("case", REPAIRED, ids=lambda c: c.name)
def test_parts_and_rows_without_any_key_are_joined(case: Case):
    try:
        block_of(masked(case))
    except NoRepair as error:
        pytest.skip(f"refused where keys are masked: {error}")
    for cuts in ([1, 2, 4], [0, 0, 3], [2, 2, 8]):
        joined(masked(case), cuts, "normal", 3)


def shipped(one: Spec, arrays: dict[str, np.ndarray], sizes: dict[str, int]) -> None:
    """Every walk of the fewest that hold, cut at several places."""
    for fusion in fusions(one.program):
        block = fusion.block
        if block is None or not any(w.carries for w in block.walks):
            continue
        if any(c.stepwise for w in block.walks for c in w.carries):
            assert fusion.split is None  # such parts are maps (tests/ugraph/test_recurrence.py)
            continue
        n = sizes[fusion.axis]
        with np.errstate(all="ignore"):
            parts = segments(block, one.program, arrays, sizes)
            want = evaluate_program(one.program, FloatDomain(np.float64), arrays, sizes)
            for cuts in ([0, 1, n], [1, 1, 2], [n - 1], list(range(1, n))):
                found = parts.brackets(cuts)
                same(found, 1e-8)
                assert not any(np.isnan(state).any() for state in found["whole"].values())
                if len(block.walks) > 1:
                    continue
                for name, got in parts.stored(found["tree"], block).items():
                    expected = want[name]
                    np.testing.assert_allclose(got, expected, 1e-7, 1e-8, err_msg=name)


@pytest.mark.parametrize("one", SPECS, ids=lambda s: s.name)
def test_parts_of_shipped_specs_are_joined_in_any_order(one: Spec):
    """Masks by position leave parts without any key, and documents rows without one.

    Plain folds, lists of the best and sums that later positions act on are walks like any other.
    """
    (draw, *_) = draws(one.program, one.axes, {}, 1)
    shipped(one, draw.arrays, draw.sizes)


def hidden(one: Spec, tensor: Input, axis: str) -> Iterator[tuple[dict[str, np.ndarray], ...]]:
    """Inputs in which ``tensor`` is -inf in the first, in the last and in all positions."""
    (draw, *_) = draws(one.program, one.axes, {}, 1)
    n, dim = draw.sizes[axis], tensor.order.index(axis)
    for gone in (slice(0, 2), slice(n - 2, n), slice(0, n)):
        value = np.array(draw.arrays[tensor.name], np.float64)
        value[(slice(None),) * dim + (gone,)] = -np.inf
        yield {**draw.arrays, tensor.name: value}, draw.sizes


SCORED = [
    ("softmax", "x"),
    ("logsumexp", "x"),
    ("cross_entropy", "x"),
    ("entropy", "x"),
    ("entropy_and_normaliser", "x"),
    ("merged", "lse"),
    ("relative_bias", "bias"),
    ("top_k_softmax", "logits"),
    ("gating", "logits"),
    ("candidates", "logits"),
    ("greedy", "logits"),
    ("chosen", "scores"),
    ("taught", "teacher"),
    ("stabilised_state", "enter"),
]


@pytest.mark.parametrize(("name", "tensor"), SCORED, ids=lambda s: s)
def test_masked_parts_and_masked_rows_of_shipped_specs_are_joined(name: str, tensor: str):
    """Where scores are -inf by data, in any part, and where no score is left."""
    one = next(s for s in SPECS if s.name == name)
    (given_,) = (p for p in one.program.params if p.name == tensor)
    axes = [f.axis for f in fusions(one.program) if f.axis in given_.order]
    for arrays_, sizes in hidden(one, given_, axes[0]):
        shipped(one, arrays_, sizes)
