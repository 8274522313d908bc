"""What instructions read."""

from __future__ import annotations

import pytest

from superopt.errors import IllTyped
from superopt.threads.build import build
from superopt.ugraph.threads import Place
from superopt.ugraph.threads import Schedule
from superopt.ugraph.threads import Use
from superopt.ugraph.threads import operands_of
from tests.threads.cases import block
from tests.threads.cases import config


def body(name):
    return build(block(name), config(block(name)), "bf16").bodies[0]


def test_a_product_reads_its_operand_and_what_it_adds_to():
    plain = body("plain")
    assert plain.uses(plain.by_name["sum0"]) == (Use("operand_7"), Use("sum0_kept"))
    assert plain.uses(plain.by_name["operand_7"]) == (Use("exp2_6"),)
    assert plain.uses(plain.by_name["product_1"]) == ()


def test_old_states_are_read_from_the_iteration_before():
    plain = body("plain")
    assert plain.uses(plain.by_name["max0"]) == (Use("max0", 1), Use("max_2"))


def test_tensors_are_read_by_those_who_take_them_from_memory():
    plain, scaled = body("plain"), body("scaled")
    assert [t.name for t in plain.tensors(plain.by_name["sum0"])] == ["v"]
    assert [t.name for t in plain.tensors(plain.by_name["product_1"])] == ["q", "k"]
    assert [t.name for t in scaled.tensors(scaled.by_name["x_tile_1"])] == ["x"]
    assert [t.name for t in scaled.tensors(scaled.by_name["gain_tile_2"])] == ["gain"]
    assert not scaled.tensors(scaled.by_name["operand_3"])


def test_only_products_have_operands():
    plain = body("plain")
    with pytest.raises(IllTyped, match="'max_2' is no product"):
        operands_of(plain.by_name["max_2"])


def test_stages_count_waits():
    places = (("a", Place(0, 0)),)
    assert Schedule(places, (("a", Place(1, 1)),), ()).stages == 2
    assert Schedule((), (), ()).stages == 1
