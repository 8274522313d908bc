"""A softmax with one more score, which is the number 0, and stays that when scores are scaled.

The walk keeps the maximum of unscaled scores, scales it and takes it beside 0; the last line scales
by another product of the same factors.
"""

from __future__ import annotations

import pytest

from superopt.loading import load
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.names import canonical
from superopt.ugraph.parse import parse_as
from superopt.verify.field.graphs import verify_graph
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Verdict
from tests.catalogue import SPECS

GRAPH = """kernels off_by_one
param t0[a0 a1 a2 a3]
param t1[a0 a1 a4 a3]
param t2[a0 a1 a4 a5]
output t3
kernel 0
  place a0 Grid untiled
  place a1 Grid untiled
  place a2 Grid
  place a3 Whole
  place a4 Loop
  place a5 Whole
  order a0 a1 a2
  walk a4
    let %0 = add[a3](mul(t1[a0 a1 a4 a3], t0[a0 a1 a2 a3]))
    carry max0 over a0 a1 a2 by max of %0
    let %1 = rsqrt(size(a3))
    let %2 = mul(%1, LOG2E)
    let %3 = max(mul(new(max0[a0 a1 a2]), %2), 0)
    let %4 = exp2(sub(mul(%0, %2), %3))
    let %5 = exp2(sub(max(mul(old(max0[a0 a1 a2]), %2), 0), %3))
    carry sum0 over a0 a1 a2 a5 by add moved by mul of mul(t2[a0 a1 a4 a5], %4)
      move sum0 with %5
    carry sum1 over a0 a1 a2 by add moved by mul of %4
      move sum1 with %5
  let %6 = mul(-1, mul(LOG2E, max(mul(%1, new(max0[a0 a1 a2])), 0)))
  let %7 = add(new(sum1[a0 a1 a2]), exp2(%6))
  store t3[a0 a1 a2 a5] = div(new(sum0[a0 a1 a2 a5]), %7)
"""

LAST, SCALED = "max(mul(%1, new(max0[a0 a1 a2])), 0)", "mul(%1, new(max0[a0 a1 a2]))"
IN_WALK = "let %3 = max(mul(new(max0[a0 a1 a2]), %2), 0)"
WRONG = {
    "another constant": (LAST, LAST.replace(", 0)", ", 1)")),
    "another constant in the walk": (IN_WALK, IN_WALK.replace(", 0)", ", 1)")),
    "the scale forgotten": (LAST, "max(new(max0[a0 a1 a2]), 0)"),
    "a unit forgotten": (f"mul(LOG2E, {LAST})", LAST),
    "a negative scale": (SCALED, f"mul(-1, {SCALED})"),
    "the smaller for the larger": (LAST, LAST.replace("max(mul", "min(mul")),
    "no other score": (LAST, SCALED),
}


def verdict(text: str) -> Verdict:
    (spec,) = load(f"{SPECS / 'weighting.py:off_by_one'}")
    program, _ = canonical(spec.program)
    return verify_graph(program, parse_as(KernelGraph, text), 0)


def test_zero_stays_where_it_is():
    assert isinstance(verdict(GRAPH), Sampled)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_done_otherwise_is_refuted(name):
    before, after = WRONG[name]
    assert GRAPH.count(before) == 1
    assert isinstance(verdict(GRAPH.replace(before, after)), Refuted)
