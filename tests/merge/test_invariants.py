from __future__ import annotations

from fractions import Fraction

from superopt.merge.derive import splitting
from superopt.merge.invariants import invariants
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.scalar import Fn
from superopt.ugraph.split import launches
from tests.merge import specs


def found(spec):
    split = splitting(spec.program, "n")
    outputs = tuple(s.name for s in spec.program.outputs)
    graph = KernelGraph(spec.name, spec.program.params, outputs, (split.block,))
    return split.carries, invariants(spec.program, launches(graph)[0], split.carries)


def test_distances_from_the_mean_add_up_to_nothing():
    carries, relations = found(specs.spread)
    names = {c.state: c.name for c in carries}
    zero = Const(Fraction(0))
    assert [(names[v.args[0]], v.args[1], right) for v, right in relations] == [
        ("sum1_1", zero, zero)
    ]


def test_states_without_a_relation_have_none():
    assert found(specs.normalised)[1] == []
    assert found(specs.unscaled)[1] == []


def test_the_relation_is_a_difference():
    _, relations = found(specs.spread)
    assert all(isinstance(v, Map) and v.fn is Fn.SUB for v, _ in relations)
