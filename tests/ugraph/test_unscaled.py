"""The scale of an extremum, applied behind it."""

from __future__ import annotations

import numpy as np
import pytest

from superopt.ugraph.check import check
from superopt.ugraph.evaluate import evaluate_launch
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.parse import parse_as
from superopt.ugraph.text import show
from superopt.ugraph.unscaled import unscaled
from tests.emit.struct.executed import inputs
from tests.threads.cases import CAUSAL
from tests.threads.cases import CURVED
from tests.threads.cases import LOGARITHM
from tests.threads.cases import MATMUL
from tests.threads.cases import PLAIN
from tests.threads.cases import config

SCALE = "mul(rsqrt(add(size(d), 1)), LOG2E)"
SCALED = PLAIN.replace("mul(%0, rsqrt(size(d)))", f"mul(%0, {SCALE})")
MASKED = CAUSAL.replace("%0, -inf)", f"mul(%0, {SCALE}), -inf)")
STORED = LOGARITHM.replace("mul(%0, rsqrt(size(d)))", f"mul({SCALE}, %0)")
SIZES = {"h": 2, "m": 9, "n": 13, "d": 5, "e": 3}


def graph(text: str) -> BlockGraph:
    return parse_as(BlockGraph, text)


@pytest.mark.parametrize("text", [SCALED, MASKED, STORED, CURVED])
def test_values_stay_and_the_maximum_is_of_what_was_scaled(text):
    block = graph(text)
    new = unscaled(block)
    assert check(new) == []
    assert "carry max0 over h m by max of mul" not in show(new)
    assert "mul(new(max0[h m])" in show(new)
    arrays = {n: a.astype(np.float64) for n, a in inputs(block, SIZES).items()}
    tiles = config(block, m=4, n=4)
    found, wanted = (evaluate_launch(b, FloatDomain(), arrays, SIZES, tiles) for b in (new, block))
    for name, meant in wanted.items():
        np.testing.assert_allclose(found[name], meant, rtol=1e-12)


def test_an_element_is_scaled_where_the_difference_is_taken():
    text = show(unscaled(graph(SCALED)))
    assert "exp2(sub(mul(" in text


@pytest.mark.parametrize(
    "text",
    [
        MATMUL,
        PLAIN.replace("rsqrt(size(d))", "-2"),
        PLAIN.replace("rsqrt(size(d))", "gain[h]"),  # of any sign
        PLAIN.replace("rsqrt(size(d))", "exp2(column[h n])"),  # not the same along the walk
    ],
)
def test_what_is_not_a_positive_scale_of_the_row_stays(text):
    block = graph(text)
    assert unscaled(block) is block
