"""Texts that are executed: launches, calls, folds, and how a reading ends early."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from superopt.emit.runtime import ARITHMETIC
from superopt.emit.scalar import HELPERS
from superopt.ugraph.floats import FloatDomain
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.helpers import APPROXIMATED
from superopt.verify.source.helpers import LAUNCHER
from superopt.verify.source.helpers import digest
from superopt.verify.source.host import Descriptor
from superopt.verify.source.load import read_text
from superopt.verify.source.machine import Machine
from superopt.verify.source.meaning import strides_of
from superopt.verify.source.tiles import DTYPES
from superopt.verify.source.tiles import Tile

KERNEL = """
import torch
import triton
import triton.language as tl


@triton.jit
def half(x):
    return x * 0.5


@triton.jit
def k(x_ptr, out_ptr, n_size, TILE: tl.constexpr):
    lane = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside = lane < n_size
    x = tl.load(x_ptr + lane, mask=inside, other=0.0)
    {body}
    tl.store(out_ptr + lane, x, mask=inside)


def f(x, n_size, tile=2):
    if n_size < 0:
        raise ValueError("negative")
    out = torch.empty((n_size,), dtype=torch.float32)
    k[(triton.cdiv(n_size, tile),)](x, out, n_size, TILE=tile, num_warps=4)
    return out
"""


def run(body, *more, size=3):
    domain = FloatDomain()
    machine = Machine(read_text(KERNEL.replace("{body}", body)), domain)
    x = machine.host.tensor("x", (size,), (1,), DTYPES["fp32"])
    x.buffer.fill(Tile(domain, x.dtype, None, np.arange(1.0, 1 + size)))
    return machine.call("f", (x, *(more or (size,)))).buffer.whole().data.tolist()


BODIES = {
    "x = half(x) + tl.num_programs(0).to(tl.float32)": [2.5, 3.0, 3.5],
    "x = tl.where(x > 1.5, -x, tl.zeros([TILE], tl.float32))": [0.0, -2.0, -3.0],
    "for _ in tl.static_range(2): x = x * 2": [4.0, 8.0, 12.0],
    "x = tl.full([TILE], tl.sum(x, axis=0), tl.float32)": [3.0, 3.0, 3.0],
    "x = tl.trans(x[:, None] + x[None, :], 1, 0).reshape([2, TILE])\n    x = tl.sum(x, 1) / 2": [
        2.5,
        3.5,
        4.5,
    ],
    "x = tl.expand_dims(x, 0)\n    x = tl.reshape(tl.broadcast_to(x, [1, TILE]), [TILE])": [
        1,
        2,
        3,
    ],
    "if TILE == 2: x += tl.math.sqrt(tl.full([], 9.0, tl.float32))": [4.0, 5.0, 6.0],
    "i, j = tl.swizzle2d(lane // 2, lane % 2, 2, 2, 2)\n    x = (i * 10 + j).to(tl.float32)": [
        0.0,
        10.0,
        1.0,
    ],
}


@pytest.mark.parametrize("body", BODIES)
def test_the_vocabulary(body):
    assert run(body) == BODIES[body]


FAULTS = {
    "tl.store(out_ptr + lane + 1, x, mask=inside)": "outside of the tensor",
    "x = x + tl.arange(0, 3)": "no power of two",
    "x = x + (n_size // (n_size - n_size))": "by zero",
    "x = tl.dot(x[:, None], x[:, None])": "matrix product",
}
OUTSIDE = {
    "x = tl.atan(x)": "tl.atan",
    "x = tl.load(x_ptr + lane, inside, 0.0, volatile=True)": "'volatile'",
    "x = tl.load(x_ptr + x.to(tl.int32))": "conversion",
    "x = tl.exp2(lane)": "tl.exp2 of int32",
    "x = tl.sum(x[0], axis=0)": "index",
    "x = undefined_name": "undefined_name",
}


@pytest.mark.parametrize("body", FAULTS)
def test_faults_say_where(body):
    with pytest.raises(FaultError, match=FAULTS[body]) as found:
        run(body)
    assert dict(found.value.at)["kernel"] == "k"
    assert "(line 17)" in found.value.what


@pytest.mark.parametrize("body", OUTSIDE)
def test_what_is_outside_is_named_with_its_line(body):
    with pytest.raises(OutsideVocabularyError, match=r"line 17") as found:
        run(body)
    assert OUTSIDE[body] in str(found.value)


def test_what_the_launcher_refuses_is_a_fault_and_what_it_cannot_is_outside():
    with pytest.raises(FaultError, match="ValueError: negative"):
        run("pass", -1)
    with pytest.raises(FaultError, match="launched with 0 programs"):
        run("pass", 0)


def test_helpers_are_those_that_are_printed():
    printed = {digest(ast.parse(text).body[0]): name for name, text in HELPERS.items()}
    assert {printed[d] for d in APPROXIMATED} == {
        "_tanh",
        "_sigmoid",
        "_erf",
        "_round_to",
        "_round_to_bf16",
    }
    of_the_launcher = {digest(ast.parse(text).body[0]): name for name, text in ARITHMETIC.items()}
    assert {of_the_launcher[d] for d in LAUNCHER} == {"_nearest", "_exp2", "_sqrt", "_log2"}


def test_descriptors_bring_zeros_past_the_ends():
    domain = FloatDomain()
    host = Machine(read_text("x = 1"), domain).host
    tensor = host.tensor("x", (2, 8), (8, 1), DTYPES["fp16"])
    tensor.buffer.fill(Tile(domain, tensor.dtype, None, np.arange(16.0)))
    tile = Descriptor(tensor, (2, 8), (8, 1), (2, 4)).load([1, 6])
    assert tile.data.tolist() == [[14.0, 15.0, 0.0, 0.0], [0.0] * 4]
    for strides in ((9, 1), (8, 2)):
        with pytest.raises(ValueError, match="strides"):
            Descriptor(tensor, (2, 8), strides, (2, 4))


@pytest.mark.parametrize("unit", [1, 8])
def test_strides_are_unequal_and_no_two_elements_meet(unit):
    shape = (2, 3, 4)
    seen = set()
    for number in range(4):
        strides = strides_of(shape, number, unit)
        assert strides[-1] == 1
        assert all(s % unit == 0 for s in strides[:-1])
        offsets = {
            sum(i * s for i, s in zip(at, strides, strict=True)) for at in np.ndindex(*shape)
        }
        assert len(offsets) == 24
        seen.add(strides)
    assert unit == 8 or len(seen) == 4
