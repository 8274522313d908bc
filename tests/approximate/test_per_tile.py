from __future__ import annotations

from typing import Annotated

import numpy as np
import pytest

from superopt import Case
from superopt import Tensor
from superopt import exp
from superopt import maximum
from superopt import round_to
from superopt import spec
from superopt.approximate.per_tile import per_tile
from superopt.approximate.per_tile import rounded_axes
from superopt.approximate.per_tile import unrounded
from superopt.errors import NoRepair
from superopt.loading import load
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.grids import GRIDS
from superopt.ugraph.node import Map
from superopt.ugraph.walk import topo

CASES = [Case("c", m=4, k=8)]
TABLE = Annotated[Tensor, "m k"]
ROWS = Annotated[Tensor, "m", "fp32"]


@spec(cases=CASES)
def scaled(x: TABLE, w: TABLE) -> ROWS:
    """The scale above, below, and beside something else."""
    top = maximum(abs(x).max("k"), 0.001)
    return (round_to(w * (8 * x / top), "e4m3") * w).sum("k") * top


@spec(cases=CASES)
def shifted(x: TABLE) -> ROWS:
    """A rounding of what a maximum shifts and does not scale."""
    return round_to(exp(x - x.max("k")), "bf16").sum("k")


@spec(cases=CASES)
def fixed(x: TABLE) -> ROWS:
    return round_to(x, "bf16").sum("k") / abs(x).max("k")


def values(program, sizes, seed=0):
    rng = np.random.default_rng(seed)
    arrays = {p.name: rng.standard_normal([sizes[a] for a in p.order]) for p in program.params}
    return evaluate_program(program, FloatDomain(), arrays, sizes)["out"]


QUANTISED = load("specs/scaled_linear.py:quantised_linear")[0].program


@pytest.mark.parametrize("program", [scaled.program, QUANTISED], ids=["scaled", "quantised"])
def test_of_exact_arithmetic_it_is_the_operator(program):
    """What is substituted is the quantiser and nothing else."""
    sizes = {"m": 3, "k": 12, "n": 2, "k_tile": 3, "k_in": 4}
    (axis,) = rounded_axes(program)
    exact, other = unrounded(program), unrounded(per_tile(program, axis))
    np.testing.assert_allclose(values(other, sizes), values(exact, sizes), 1e-12, 1e-12)
    assert not any(isinstance(n, Map) and n.fn in GRIDS for n in topo([exact.outputs[0].value]))


def test_one_tile_is_the_operator_itself():
    sizes = {"m": 3, "k": 12, "n": 2, "k_tile": 1, "k_in": 12}
    other = values(per_tile(QUANTISED, "k"), sizes)
    np.testing.assert_allclose(other, values(QUANTISED, sizes), 1e-12, 1e-12)


def test_several_tiles_are_another_quantiser():
    sizes = {"m": 3, "k": 12, "n": 2, "k_tile": 3, "k_in": 4}
    other = values(per_tile(QUANTISED, "k"), sizes)
    assert np.abs(other - values(QUANTISED, sizes)).max() > 1e-4


def test_what_is_no_scale_is_refused():
    assert rounded_axes(shifted.program) == ("k",)
    with pytest.raises(NoRepair, match=r"exp.* is rounded, and folds over 'k' do not scale it"):
        per_tile(shifted.program, "k")


def test_a_rounding_that_reads_no_fold_has_no_substitute():
    assert rounded_axes(fixed.program) == ()
    with pytest.raises(NoRepair, match="no rounding along 'k' reads a fold over it"):
        per_tile(fixed.program, "k")
