"""Which expressions of a walk are instructions."""

from __future__ import annotations

import pytest

from superopt.threads.body import Products
from superopt.threads.body import instructions
from superopt.threads.default import EMPTY
from superopt.ugraph.node import Input
from superopt.ugraph.threads import Body
from superopt.ugraph.threads import Op
from tests.threads.cases import ALL
from tests.threads.cases import block


def found(name):
    graph = block(name)
    return instructions(graph.walks[0], Products(graph))


@pytest.mark.parametrize("name", ALL)
def test_each_follows_what_it_reads_in_the_same_iteration(name):
    instrs = found(name)
    body, seen = Body("", instrs, EMPTY), set()
    for instr in instrs:
        assert {u.name for u in body.uses(instr) if u.back == 0} <= seen
        seen.add(instr.name)


@pytest.mark.parametrize("name", ALL)
def test_every_carry_gets_its_value_once(name):
    (walk,) = block(name).walks
    carries = [i.carry for i in found(name) if i.carry]
    assert sorted(carries) == sorted(c.name for c in walk.carries)


def test_a_product_onto_a_rescaled_state_takes_its_registers():
    kept, product = (next(i for i in found("plain") if i.name == n) for n in ("sum0_kept", "sum0"))
    assert kept.op is Op.COMPUTE
    assert product.op is Op.PRODUCT
    assert product.onto is not None
    assert product.onto.name == "sum0_kept"


def test_what_does_not_change_along_the_walk_is_no_instruction():
    tensors = {n.name for i in found("normed") for n in [i.value] if isinstance(n, Input)}
    assert tensors == set()
    assert not any("rsqrt" in i.name for i in found("normed"))


def test_an_operand_that_is_a_tensor_stays_in_shared_memory_however_often_it_is_read():
    assert [i.op for i in found("gated")] == [Op.PRODUCT, Op.PRODUCT]
