"""Loops and branches of small functions, read with symbols."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import read_text
from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.bounds import in_bounds
from superopt.verify.source.symbolic.evaluate import number_of
from superopt.verify.source.symbolic.formula import TRUE
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.kernel import Kernel
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.solve import Prover
from superopt.verify.source.symbolic.value import Address
from superopt.verify.source.symbolic.value import Descriptor
from superopt.verify.source.symbolic.value import Tensor
from superopt.verify.source.symbolic.value import Whole


def read(body, concrete=False, n=20):
    """The reading of a function of x_ptr, n and T = 4; n is a symbol unless ``concrete``."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    return read_of(f"@triton.jit\ndef f(x_ptr, n, T):\n{lines}\n", concrete, n)


def read_of(source, concrete=False, n=20):
    text = read_text(source)
    atoms = Atoms(None if concrete else Prover())
    size = number(n) if concrete else atoms.free("n", shared=True)
    if not concrete:
        atoms.assume("n", at_least(size, ZERO))
    tensor = Tensor("x", (size,), (number(1),), "input", "int32")
    given = {"x_ptr": Address(tensor, ZERO), "n": Whole(size, 32), "T": Whole(number(4))}
    given |= {"x_desc": Descriptor(tensor, (number(8),))}
    pid = number(0) if concrete else atoms.free("pid", upper=(size,))
    return Kernel(text, text.kernels["f"], given, atoms, pid).read()


CARRIED = """
at = x_ptr
k = 0
for i in range(0, n, T):
    tl.load(at + k)
    at = at + T
    k = k + 1
tl.load(at + k)
"""


def offsets(kernel, values=None):
    return [number_of(a.offset, values or {}, kernel.atoms) for a in kernel.accesses]


def test_what_a_loop_carries_grows_evenly():
    kernel = read(CARRIED)
    inside, behind = kernel.accesses
    (trip,) = inside.trips
    assert str(inside.offset) == f"5*{trip}"
    for n in (0, 3, 4, 9):
        assert number_of(behind.offset, {"n": n}, kernel.atoms) == 5 * -(-n // 4)


def test_symbols_agree_with_trip_by_trip_execution():
    assert offsets(read(CARRIED, concrete=True, n=9)) == [0, 5, 10, 15]


NESTED = """
at = x_ptr
for i in range(0, n, T):
    inner = at
    for j in range(0, i, 1):
        tl.load(inner)
        inner = inner + 2
    at = at + 3
"""


def test_walks_inside_walks():
    kernel = read(NESTED)
    (access,) = kernel.accesses
    outer, inner = access.trips
    assert number_of(access.offset, {outer: 5, inner: 7}, kernel.atoms) == 3 * 5 + 2 * 7
    concrete = offsets(read(NESTED, concrete=True, n=9))
    assert concrete == [3 * t + 2 * j for t in range(3) for j in range(4 * t)]


def test_what_does_not_grow_evenly_is_any_number():
    kernel = read("k = 1\nfor i in range(0, n, T):\n    tl.load(x_ptr + k)\n    k = k * 2")
    (access,) = kernel.accesses
    (name,) = access.offset.atoms
    assert kernel.atoms.facts(name) == ()


def test_a_variable_that_a_loop_sets_is_not_known_behind_it():
    with pytest.raises(OutsideVocabularyError, match="what k is here is not known"):
        read("for i in range(0, n, T):\n    k = i\ntl.load(x_ptr + k)")


def test_branches_are_both_read_under_their_conditions():
    kernel = read("k = 0\nif n > 4:\n    k = n\ntl.load(x_ptr + k)")
    (access,) = kernel.accesses
    assert [number_of(access.offset, {"n": n}, kernel.atoms) for n in (3, 4, 5)] == [0, 0, 5]


def test_an_extremum_of_data_is_that_of_some_lane():
    kernel = read(
        "lane = tl.arange(0, T)\nv = tl.load(x_ptr + lane)\n"
        "low = tl.min(tl.minimum(tl.maximum(v, 0), n), axis=0)\ntl.load(x_ptr + low)"
    )
    offset = kernel.accesses[1].offset
    assert kernel.atoms.follows(at_least(offset, ZERO))
    assert kernel.atoms.follows(at_least(kernel.names["n"].poly, offset))
    assert not kernel.atoms.follows(at_least(ZERO, offset))


def test_a_box_of_a_descriptor_needs_no_mask():
    (copy,) = read("x_desc.load([n])").accesses
    (lane,) = copy.dims
    assert set(copy.offset.atoms) == {lane, "n"}
    prover = Prover()
    kernel = read("x_desc.load([n - 4])")
    assert in_bounds(kernel.accesses, kernel.atoms, prover) == []
    plain = replace(kernel.accesses[0], mask=TRUE)
    assert in_bounds([plain], kernel.atoms, prover) != []


@pytest.mark.parametrize(
    "line",
    [
        "tl.atomic_add(x_ptr, 1)",
        "tl.load(x_ptr, n < 4)",
        "while n > 0:\n    n = n - 1",
        "tl.load(x_ptr + tl.sum(tl.load(x_ptr), axis=0))",
        "tl.program_id(1)",
        "lane = tl.arange(0, T)\ntl.load(x_ptr + lane[:, None] + lane[None, :])",
        "tl.load(x_ptr + tl.arange(0, T)[:, None] + tl.arange(0, 8)[:, None])",
        "for i in range(0, n, n):\n    tl.load(x_ptr)",
        "tl.load(x_ptr, boundary_check=n)",
    ],
)
def test_what_has_no_meaning_is_refused_with_its_line(line):
    with pytest.raises(OutsideVocabularyError, match="line "):
        read(line)


@pytest.mark.parametrize("limits", ["n + n, n", "0, n + n - n - 1"])
def test_limits_of_loops_have_to_fit_with_numbers_too(limits):
    """They were not looked at where they are numbers: an end of 2**31 was none of a fault."""
    kernel = read(f"for i in range({limits}, T):\n    pass", concrete=True, n=2**30)
    assert [s for u in kernel.uses for s in u.steps if s.bits == 32 and s.poly == number(2**31)]
