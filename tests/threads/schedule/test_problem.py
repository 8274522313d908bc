"""Scheduling problems of bodies."""

from __future__ import annotations

from superopt.ugraph.threads import Use
from tests.threads.schedule.cases import NARROW
from tests.threads.schedule.cases import SQUARE
from tests.threads.schedule.cases import WIDE
from tests.threads.schedule.cases import problem


def test_products_and_what_reads_them_first_tell_classes_apart():
    assert problem("plain").anchors == ("product_1", "max_2", "sum0_kept", "sum0")
    assert problem("causal").anchors == ("product_1", "where_2", "sum0_kept", "sum0")
    assert problem("gated").anchors == ("sum0", "sum1")


def test_only_products_of_shared_memory_onto_themselves_are_chains():
    assert [t.chain for t in problem("gated").products] == [True, True]
    assert [t.chain for t in problem("scaled").products] == [False]  # its operand is in registers
    assert [t.chain for t in problem("plain").products] == [False, False]


def test_an_operand_is_held_until_its_product_is_awaited():
    tasks = problem("plain").by_name
    assert tasks["operand_7"].held == ("sum0",)
    assert tasks["sum0"].uses == (Use("operand_7"), Use("sum0_kept"))
    assert tasks["product_1"].held == ()


def test_an_interval_is_bounded_by_every_resource():
    alone, both = problem("plain", 1, **WIDE), problem("plain", 2, **WIDE)
    assert alone.least == sum(t.busy for t in alone.tasks) == 36
    assert both.least_shared == 2 * 2 * 16  # two products, two consumers
    assert problem("plain", 3, **NARROW).least_shared == 48  # products and exponentials
    matrix = problem("matmul", 2, **SQUARE)
    assert matrix.least == matrix.rings[0].busy  # one consumer does not keep up with copies
    assert matrix.least < matrix.least_shared == 32
    assert alone.most > alone.least + alone.rings[0].latency


def test_small_values_are_set_aside():
    wide = problem("plain", 2, **WIDE)
    small = [t for t in wide.tasks if t.size == 2]
    assert wide.reserved == 2 * len(small)
    assert wide.budget == 240 - 16 - wide.reserved
