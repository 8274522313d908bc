from __future__ import annotations

from superopt.merge.derive import splitting
from superopt.merge.pair import paired
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Scalar
from superopt.ugraph.scalar import Fn
from tests.merge import specs


def pair_of(spec):
    merging = next(splitting(spec.program, "n").mergings())
    return paired(merging.program, merging.along)


def test_the_first_part_comes_first():
    pair = pair_of(specs.extremes)
    assert [p.name for p in pair.params] == ["part0_a", "part1_a", "part0_b", "part1_b"]
    ends = [Input(f"part0_{end}", ("m",), "fp32") for end in "ab"]
    assert pair.outputs[0].value is Map(Fn.MAX, tuple(ends))


def test_the_length_of_a_part_is_a_number():
    assert [p for p in pair_of(specs.spread).params if isinstance(p, Scalar)] == [
        Scalar("n_count_a", "int32"),
        Scalar("n_count_b", "int32"),
    ]
