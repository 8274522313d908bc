"""Whole numbers at their ends: what is planted, and that an overflow in 32 bits is found."""

from __future__ import annotations

import re

import pytest

from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Scalar
from superopt.ugraph.scalar import Fn
from superopt.verify.run.calls import trial_of
from superopt.verify.run.checks import Call
from superopt.verify.run.checks import judged
from superopt.verify.run.execute import Runner
from superopt.verify.run.inputs import families
from superopt.verify.run.inputs import ordinary
from superopt.verify.run.integers import integers
from superopt.verify.run.sizes import small_configs
from tests import samples
from tests.emit.printed import Printed
from tests.emit.printed import whole
from tests.samples import Program
from tests.samples import Store

SIZES = {"m": 19, "n": 20}
X, M, N = Input("x", ("m", "n")), Index("m"), Index("n")
FIRST, WINDOW = Input("first", ("m",), "int32"), Scalar("window", "int32")
OTHER = Scalar("other", "int32")


def masked(limit, *params):
    seen = Map(Fn.LE, (N, limit))
    out = samples.where(seen, X, samples.num(0))
    return Program("f", (X, *params), (Store("out", ("m", "n"), None, out),))


MASKS = {
    "data": masked(samples.add(M, FIRST), FIRST),
    "data below": masked(samples.sub(FIRST, samples.num(3)), FIRST),
    "product": masked(samples.add(M, samples.mul(samples.num(3), WINDOW)), WINDOW),
    "sum": masked(samples.add(M, samples.add(WINDOW, OTHER)), WINDOW, OTHER),
    "difference": masked(samples.sub(samples.sub(M, WINDOW), OTHER), WINDOW, OTHER),
}


def failed(program, text, runner, folder):
    graph = whole(program, ("m",))
    configs = small_configs(graph, SIZES)
    (file := folder / "kernel.py").write_text(text)
    labels = set()
    for family in families(program, SIZES, "fp32", 0):
        if "ends" in family.name or " at " in family.name:
            call = Call(trial_of(program, family, SIZES, "fp32", 0, configs), family, "fp32")
            figures = judged(program, call, runner.run(file, "f", call.trial))
            labels |= {f.label for f in figures if not f.ok}
    return labels


@pytest.fixture(scope="module")
def runner():
    with Runner(seconds=30) as shared:
        yield shared


@pytest.mark.parametrize("name", sorted(MASKS))
def test_a_mask_that_overflows_32_bits_is_found(name, runner, tmp_path):
    program = MASKS[name]
    text = Printed(program, (whole(program, ("m",)),), (SIZES,)).text()
    assert failed(program, text, runner, tmp_path) == set()
    narrow, times = re.subn(r"tl\.cast\(([^,]*), tl\.int64\)", r"\1", text)
    assert times
    assert failed(program, narrow, runner, tmp_path)


def test_integers_are_at_the_ends_of_their_dtypes():
    program = masked(samples.sub(FIRST, OTHER), FIRST, OTHER)
    found = dict(integers(program, ordinary(program, SIZES, "fp32", 0), SIZES))
    ends = found["ends of first"]["first"]
    assert (ends.min(), ends.max()) == (-(2**31), 2**31 - 1)
    assert found["other at 1073741824"]["other"] == 2**30
    assert found["other at -1073741824"]["other"] == -(2**30)


def test_what_no_output_can_hold_is_not_asked():
    out = samples.total("n", samples.mul(FIRST, N))
    program = Program("f", (FIRST, X), (Store("out", ("m",), "int32", out),))
    found = dict(integers(program, ordinary(program, SIZES, "fp32", 0), SIZES))
    assert not [n for n in found if "ends" in n]
