from __future__ import annotations

from superopt.search.cuts import axes_in_order
from superopt.search.sharing import shared
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from tests import samples as s
from tests.grouped import grouped

SIDES = (("r", "m"), ("n",), ("e",))
STEP = {"b": 8, "g": 8, "r": 8, "m": 3, "n": 8192, "d": 128, "e": 128}


def test_the_axis_that_masks_compare_owns_the_tiles():
    outputs = grouped().outputs
    assert shared(outputs, SIDES, {"b", "g"}, STEP) == {"r": "m"}
    assert shared(outputs, SIDES, {"b", "g"}, {**STEP, "r": 1}) == {}
    assert shared(outputs, SIDES, {"b", "g", "r"}, STEP) == {}


def test_else_the_longest_does():
    outputs = grouped(causal=False).outputs[:1]
    assert shared(outputs, SIDES, {"b", "g"}, STEP) == {"m": "r"}
    assert shared(outputs, SIDES, {"b", "g"}, {**STEP, "m": 9}) == {"r": "m"}


def test_but_not_one_that_is_innermost_in_memory():
    x, w = Input("x", ("m", "k")), Input("w", ("k", "c", "n"))
    out = Store("out", ("m", "c", "n"), None, s.total("k", s.mul(x, w)))
    sizes = {"m": 64, "k": 64, "c": 3, "n": 999}
    assert axes_in_order(Program("p", (x, w), (out,))) == ("m", "k", "c", "n")
    assert shared((out,), (("m",), ("c", "n")), (), sizes) == {"n": "c"}


def test_an_axis_that_some_store_lacks_is_not_packed():
    outputs = grouped(causal=False).outputs
    lacking = (*outputs, Store("first", ("b", "g", "m"), "fp32", s.total("r", outputs[1].value)))
    assert shared(lacking, SIDES, {"b", "g"}, STEP) == {}
