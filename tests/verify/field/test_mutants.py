"""The verifier against graphs with one change: what survives must be known to be equivalent."""

from __future__ import annotations

import pytest

from superopt.verify.field.graphs import verify_graph
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from tests import samples
from tests.verify.field.mutants import mutants

# Changes after which the graph still computes the spec over the reals, by reason.
EQUIVALENT = {
    # Softmax does not depend on its stabiliser: any finite number will do.
    "stabiliser": (
        "carry m: term: Index",
        "carry m: term: le -> lt",
        "carry m: term: rsqrt -> sqrt",
        "carry m: term: mul -> div",
        "carry m: term: mul -> add",
        "carry m: term: fold add -> mul",
        "carry m: term: where",
        "carry m: fold add",
    ),
    # exp(-inf - c) is 0 for every c, and a state at its unit is 0 whatever multiplies it.
    "guard of an empty state": (
        "term: 0 -> 1",
        "move: 1 -> 2",
        "move: 0 -> 1",
        "move: where: always else",
        "store out: 0 -> 1",
        "store out: 1 -> 2",
    ),
    # Every row of these samples has an unmasked score in the first tile.
    "guard that is never needed": (
        "carry l: term: where: always else",
        "carry o: term: where: always else",
        "walk 1: store out: where: always else",
    ),
    # Masked scores that are visited contribute nothing.
    "visited for nothing": ("stop +1", "no stop"),
}

SAMPLES = {
    "causal": (samples.attention(True), samples.online_attention(True)),
    "split": (samples.attention(), samples.online_attention(split=True)),
    "two passes": (samples.row_softmax(), samples.two_pass_softmax()),
    "deferred scale": (samples.rms_linear(), samples.rms_linear_one_walk()),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_only_equivalent_mutants_survive(name):
    program, graph = SAMPLES[name]
    explained = [part for parts in EQUIVALENT.values() for part in parts]
    survivors, unknown, seen = [], 0, 0
    for what, mutant in mutants(graph):
        verdict = verify_graph(program, mutant, 0)
        seen += 1
        unknown += isinstance(verdict, Unknown)
        if isinstance(verdict, Sampled) and not any(part in what for part in explained):
            survivors.append(what)
    assert survivors == []
    assert seen >= 15
    assert unknown <= seen // 4  # most are refuted by a counterexample, not merely doubted
