from __future__ import annotations

from superopt.approximate.measure import FAMILIES
from superopt.approximate.measure import deviations
from superopt.approximate.per_tile import per_tile
from superopt.loading import load

SPEC = load("specs/scaled_linear.py:quantised_linear")[0].program


def test_the_substitute_is_another_operator_and_no_worse_a_quantiser():
    found = deviations(SPEC, per_tile(SPEC, "k"), "k", 16, "bf16")
    assert [d.family for d in found] == list(FAMILIES)
    for one in found:
        assert one.rel > 1e-4  # which is what it is measured for
        assert one.exact < 1.1 * one.own
    by = {d.family: d for d in found}
    assert by["uneven"].rel > by["normal"].rel
    assert by["uneven"].used > 1  # a kernel of the spec may not be so far off
    assert all(abs(d.used - d.rel / d.limit) < 1e-9 or d.used > d.rel / d.limit for d in found)


def test_an_operator_is_not_off_from_itself():
    other = per_tile(SPEC, "k")
    (normal, *_) = deviations(SPEC, other, "k", 1, "bf16")
    assert normal.own > 0
    same = deviations(SPEC, _cut(SPEC), "k", 16, "bf16")
    assert all(d.rel < 1e-12 and d.used < 1e-9 for d in same)


def _cut(program):
    """The operator itself with the axis written as two: the rounding reads no fold of a tile."""
    from superopt.ugraph.levels import Program
    from superopt.ugraph.levels import Store
    from superopt.ugraph.node import Input
    from superopt.ugraph.node import Reduce
    from superopt.ugraph.walk import children
    from superopt.ugraph.walk import rebuild
    from superopt.ugraph.walk import topo

    found = {}
    for node in topo(s.value for s in program.outputs):
        parts = tuple(found[c] for c in children(node))
        match node:
            case Input(name=name, order=order, dtype=dtype):
                spread = tuple(b for a in order for b in (("k_tile", "k_in") if a == "k" else (a,)))
                found[node] = Input(name, spread, dtype)
            case Reduce(fn=fn, axis="k"):
                found[node] = Reduce(fn, "k_tile", Reduce(fn, "k_in", parts[0]))
            case _:
                found[node] = rebuild(node, parts)
    outputs = tuple(Store(s.name, s.order, s.dtype, found[s.value]) for s in program.outputs)
    return Program(program.name, tuple(found[p] for p in program.params), outputs)
