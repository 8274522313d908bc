"""Repair sees tensors in the place of values that inner walks end in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.errors import NoRepair
from superopt.repair.apply import repair
from superopt.repair.inner import restored
from superopt.repair.inner import seen
from superopt.repair.inner import tensor
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Turn
from superopt.ugraph.node import Input
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo
from superopt.verify.judge import home
from superopt.verify.judge import judge
from tests import nested
from tests import samples as s

NORMALISER = nested.normaliser()


def fused(program=NORMALISER) -> BlockGraph:
    passes = groupings(program.outputs, ("k", "n"))[0]
    return fuse(program.outputs, nested.ROWS, (Turn("m"),), passes)


def test_what_is_seen_reads_no_state_of_an_inner_walk_and_can_be_undone():
    block = fused()
    (walk,) = seen(block).walks
    inner = walk.inner[0].carries[0]
    read = topo([c.term for c in walk.carries])
    assert not [n for n in read if isinstance(n, State) and n.carry == inner.name]
    assert tensor(inner) in read
    assert tensor(inner).order == inner.over
    assert restored(seen(block)) == block


def test_a_kernel_without_inner_walks_is_seen_as_it_is():
    block = s.online_attention().kernels[0]
    assert seen(block) is block


def test_the_repair_of_the_outer_walk_is_that_of_a_tensor():
    fixed, (found,) = repair(fused())
    assert found.rank == 1
    assert {n.name for n in topo([found.term]) if isinstance(n, Input)} == {"sum1.inner"}
    (walk,) = fixed.walks
    assert all("inner" not in n.name for n in topo(fixed.roots()) if isinstance(n, Input))
    graph = nested.kernels(NORMALISER, fixed)
    block = home(found, graph)
    assert block == seen(fixed)
    assert judge(NORMALISER, graph, (found,)).accepted
    lost = replace(fixed, walks=(replace(walk, carries=walk.carries[:1]),))
    assert home(found, nested.kernels(NORMALISER, lost)) is None


def test_a_value_that_may_be_infinite_is_no_tensor():
    """The largest of none is -inf, which a repair of the walk around it would have to guard."""
    weighed = s.largest("k", s.where(s.eq(s.W, s.num(0)), s.NEG_INF, s.mul(s.X, s.W)))
    program = replace(
        NORMALISER,
        outputs=(replace(NORMALISER.outputs[0], value=nested.logarithm_of_sum(weighed)),),
    )
    block = fused(program)
    assert block.walks[0].inner[0].carries[0].fold is Fn.MAX
    with pytest.raises(NoRepair, match="may be infinite"):
        repair(block)
    assert home(repair(fused())[1][0], nested.kernels(program, block)) is None


def test_earlier_walks_that_are_repaired_are_read_as_they_end():
    """Rows are weighed by a softmax before they enter the product of the inner walk."""
    row = s.softmax(s.X, "k")
    logits = s.total("k", s.mul(row, s.W))
    program = replace(
        NORMALISER,
        outputs=(replace(NORMALISER.outputs[0], value=nested.logarithm_of_sum(logits)),),
    )
    fixed, found = repair(fused(program))
    assert [w.axis for w in fixed.walks] == ["k", "n"]
    assert judge(program, nested.kernels(program, fixed), found).accepted
