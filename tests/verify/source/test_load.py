"""A printed file as a tree: what is in it, and its numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from superopt.emit.scalar import HELPERS
from superopt.ugraph.scalar import Constant
from superopt.verify.source.load import closed_form
from superopt.verify.source.load import misprinted
from superopt.verify.source.load import numbers
from superopt.verify.source.load import read_text
from superopt.verify.source.load import with_fixed
from superopt.verify.source.load import with_numbers
from tests.emit.cases import CASES

TEXT = """
LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def k(x, é, n):
    y = (é >= 12, x + (-512)); z = 512
    return tl.full([4], -9223372036854775808, tl.int64)


def launch(x):
    return 512
"""


def test_a_printed_file_is_taken_apart():
    text = read_text(CASES["attention"]().text())
    assert {"_max", "attention_g0_k0", "attention_g1_k0", "attention_g1_k1"} == set(text.kernels)
    assert {"attention", "_run_g0", "_run_g1", "_check"} <= set(text.functions)
    assert text.constants["LOG2E"] == Fraction("1.4426950408889634")
    assert misprinted(text) is None


def test_a_file_is_called_by_its_name(tmp_path):
    path = tmp_path / "softmax.py"
    path.write_text(TEXT)
    assert read_text(path).name == "softmax.py"


@pytest.mark.parametrize("constant", list(Constant))
def test_closed_forms_have_sixty_digits(constant):
    known = {
        Constant.LN2: "0.693147180559945309417232121458176568075500134360255254120680",
        Constant.LOG2E: "1.44269504088896340735992468100189213742664595415298593413545",
        Constant.PI: "3.14159265358979323846264338327950288419716939937510582097494",
    }
    assert str(closed_form(constant)).startswith(known[constant][:58])


def test_a_constant_that_is_off_by_one_bit_is_misprinted():
    assert misprinted(read_text(TEXT)) is None
    changed = misprinted(read_text(TEXT.replace("9634", "9636")))
    assert changed is not None
    assert "LOG2E is printed as" in changed
    assert misprinted(read_text(TEXT.replace("LOG2E", "TAU"))) == "constant TAU has no closed form"


def test_numbers_of_kernels_are_replaced_where_they_stand():
    text = read_text(TEXT)
    assert numbers(text) == {512, 12, 4}
    changed = with_numbers(text, {512: 3, 12: 1})
    assert "y = (é >= 1, x + (-3)); z = 3" in changed.text
    assert "return 512" in changed.text
    assert changed.text.count("\n") == TEXT.count("\n")


def test_digits_of_a_grid_are_no_distances():
    """Neither those in the helper that rounds nor those that it is given."""
    body = "\n@triton.jit\ndef k(x, n):\n    y = _round_to(x + 14, 2, -14, -57344.0, 57344.0)\n"
    text = read_text(HELPERS["_round_to"] + body)
    assert numbers(text) == {14}
    changed = with_numbers(text, {14: 5, 23: 7, 2: 1})
    assert "_round_to(x + 5, 2, -14, " in changed.text
    assert changed.text.startswith(HELPERS["_round_to"])
    assert 23 in numbers(read_text(HELPERS["_round_to"].replace("1.5 *", "1.25 *")))


def test_sizes_that_a_launcher_knows_are_replaced_where_it_says_them():
    said = (
        'def f(x):\n    sizes = {"t": (5, "f"), "u": (5, "f")}\n    return sizes, {"t": (5, 0)}\n'
    )
    other = said.replace("def f", "def g")
    changed = with_fixed(read_text(said + other), "f", {"t": 2, "n": 3})
    assert changed.text == said.replace('sizes = {"t": (5,', 'sizes = {"t": (2,') + other
