from __future__ import annotations

import numpy as np
import pytest

from superopt.errors import NoRepair
from superopt.repair.apply import repair
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.check import check
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.names import canonical
from superopt.ugraph.names import rename
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.text import show
from superopt.ugraph.walk import transform
from tests.repair.cases import BY_NAME
from tests.repair.cases import PARAMS
from tests.repair.cases import REFUSED
from tests.repair.cases import REPAIRED
from tests.repair.cases import Case
from tests.repair.cases import arrays
from tests.repair.cases import fused
from tests.repair.cases import repaired
from tests.repair.cases import run
from tests.samples import attention_delayed
from tests.samples import online_attention
from tests.samples import row_softmax
from tests.samples import two_pass_softmax


def naive(program: Program, graph: KernelGraph, walks: int) -> BlockGraph:
    sample = graph.kernels[0]
    looped = [w.axis for w in sample.walks]
    passes = next(p for p in groupings(program.outputs, looped) if len(p) == walks)
    return fuse(program.outputs, sample.places, sample.order, passes)


@pytest.mark.parametrize("causal", [False, True])
def test_naive_fusion_of_attention_becomes_the_online_one(causal):
    want = online_attention(causal).kernels[0]
    block, repairs = repair(naive(attention_delayed(causal), online_attention(causal), 1))
    names = {"max0": "m", "sum1": "l", "sum0": "o"}
    found = {c.name: c for c in rename(block, {}, {}, names).walks[0].carries}
    assert found == {c.name: c for c in want.walks[0].carries}
    assert rename(block, {}, {}, names).stores == want.stores
    assert [r.rank for r in repairs] == [1, 1]
    assert check(block) == []


def test_naive_fusion_of_a_softmax_becomes_the_two_pass_one():
    want = two_pass_softmax().kernels[0]
    block, _ = repair(naive(row_softmax(), two_pass_softmax(), 2))
    assert rename(block, {}, {}, {"max0": "m", "sum0": "l"}) == want


def test_nothing_premature_is_left_as_it_is():
    block = naive(row_softmax(), two_pass_softmax(), 3)
    assert repair(block) == (block, ())


@pytest.mark.parametrize("case", REPAIRED, ids=lambda c: c.name)
@pytest.mark.parametrize("split", [False, True], ids=["rolling", "split"])
def test_repaired_walks_mean_the_spec(case: Case, split: bool):
    block, repairs = repaired(case, split)
    assert tuple(r.rank for r in repairs) == case.ranks
    # Several programs may write one partial state here, which is refused but no other meaning.
    assert [why for why in check(block) if "its partial state" not in why] == []
    decided = 0
    for n in (0, 1, 3, 5, 8):
        for kind in ("normal", "large", "late", "zero", "falling"):
            want, got = run(case, block, arrays(n, kind, n), n, np.float64)
            claimed = ~np.isnan(want)  # elsewhere the spec is undefined
            scale = max(1.0, float(np.abs(want[np.isfinite(want)]).max(initial=0)))
            allowed = case.tolerance * scale
            np.testing.assert_allclose(got[claimed], want[claimed], case.tolerance, allowed)
            decided += int(claimed.sum())
    assert decided > 20


def test_fully_masked_tiles_and_rows_are_zero():
    case = BY_NAME["softmax of a masked row"]
    given = arrays(8, "normal", 1)
    given["x"][:, :4] = -np.inf
    given["x"][1] = -np.inf
    for split in (False, True):
        want, got = run(case, repaired(case, split)[0], given, 8, np.float64)
        np.testing.assert_allclose(got, want, 1e-12)
        assert not got[1].any()


def test_moments_are_centred_on_what_was_absorbed():
    """Raw moments, or moments about sum/size, lose all digits where mean >> deviation."""
    given = arrays(64, "normal", 2)
    given["x"] = (given["x"] * 0.01 + 100).astype(np.float32).astype(np.float64)
    for split in (False, True):
        block, _ = repaired(BY_NAME["variance"], split)
        want, got = run(BY_NAME["variance"], block, given, 64, np.float32)
        np.testing.assert_allclose(got, want, 5e-3)


@pytest.mark.parametrize(("name", "value", "reason"), REFUSED, ids=[r[0] for r in REFUSED])
def test_what_has_no_repair_is_refused_with_a_reason(name: str, value: Node, reason: str):
    block = fused(("m", *(("e",) if "e" in value.axes else ())), value)
    with pytest.raises(NoRepair, match=reason):
        repair(block)


@pytest.mark.parametrize("case", REPAIRED, ids=lambda c: c.name)
def test_names_and_operand_order_do_not_matter(case: Case):
    """In canonical names, as the search works, the outcome is one and the same."""

    def swapped(node: Node) -> Node:
        match node:
            case Map(fn=fn, args=(a, b)) if fn.value.commutative:
                return Map(fn, (b, a))
            case _:
                return node

    def found(value: Node, axes: dict[str, str], tensors: dict[str, str]) -> str:
        store = Store("out", case.axes, None, value)
        given = ("x", "y", "w", "u")
        params = tuple(p for p in PARAMS if p.name in given)
        program = rename(Program("p", params, (store,)), axes, tensors)
        program, _ = canonical(program)
        looped = [a for a in _axes(program) if a not in program.outputs[0].order][:1]
        walked = looped[0]
        places = tuple((a, Loop() if a == walked else Grid()) for a in _axes(program))
        order = tuple(Turn(a) for a in program.outputs[0].order)
        block = fuse(program.outputs, places, order, groupings(program.outputs, (walked,))[0])
        return show(KernelGraph("p", program.params, ("out",), (repair(block)[0],)))

    if case.name == "fold inside":
        pytest.skip("e is folded, too")
    plain = found(case.value, {}, {})
    other = transform([case.value], swapped)[case.value]
    assert found(other, {}, {}) == plain
    axes = {"m": "rows", "n": "aa", "e": "z"}
    assert found(case.value, axes, {"x": "zz", "w": "b"}) == plain


def _axes(program: Program) -> list[str]:
    return sorted({a for s in program.outputs for n in transform([s.value], _same) for a in n.axes})


def _same(node: Node) -> Node:
    return node
