"""Every kind of change, by what it makes of an expression."""

from __future__ import annotations

import ast

import pytest

from superopt.mutate.kinds import KINDS
from superopt.mutate.scope import Scope

NAMES = ("m_size", "n_size", "q_stride_m", "k_stride_m", "m_lane")
SCOPE = Scope(ast.parse("def f(): pass").body[0], NAMES, True)

EXAMPLES = {
    "operator": ("a % b", {"a // b", "b % a"}),
    "comparison": ("a < b", {"a <= b", "a >= b"}),
    "bound": ("a < b", {"a < b + 1", "a < b - 1"}),
    "mask dropped": ("tl.load(p, mask=m, other=0.0)", {"tl.load(p, other=0.0)"}),
    "other value": (
        "tl.load(p, mask=m, other=0.0)",
        {
            "tl.load(p, mask=m)",
            "tl.load(p, mask=m, other=1.0)",
            "tl.load(p, mask=m, other=float('-inf'))",
        },
    ),
    "guard": ("tl.where(c, a, b)", {"a", "b", "tl.where(c, b, a)"}),
    "initial value": ("tl.full([M], 1, tl.int32)", {"tl.full([M], 0, tl.int32)"}),
    "cast": ("x.to(tl.float32)", {"x", "x.to(tl.float16)"}),
    "factor": ("a * b", {"a", "b", "a * b * b"}),
    "name": ("q_stride_m", {"k_stride_m", "1"}),
    "loop limits": (
        "range(0, n, T)",
        {
            "range(0, n + 1, T)",
            "range(0, n - 1, T)",
            "range(0 + T, n, T)",
            "range(0, n - T, T)",
            "range(0, n + T, T)",
            "range(0, n, 2 * T)",
            "range(0, n, 1)",
        },
    ),
    "axis": ("tl.sum(x, axis=1)", {"tl.sum(x, axis=0)", "tl.sum(x, axis=2)"}),
    "function": ("tl.sqrt(x)", {"tl.rsqrt(x)", "x"}),
    "constant": ("2", {"3", "1"}),
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.name)
def test_a_kind_makes_these_of_its_example(kind):
    text, wanted = EXAMPLES[kind.name]
    found = {ast.unparse(n) for n in kind.change(ast.parse(text, mode="eval").body, SCOPE)}
    assert found == wanted


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.name)
def test_what_is_of_no_kind_stays(kind):
    assert list(kind.change(ast.parse("f(x)[y]", mode="eval").body, SCOPE)) == []


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        ("mask dropped", "a & b", "b"),
        ("axis", "x[:, None]", "x[None, :]"),
        ("axis", "tl.reduce(x, 1, _max)", "tl.reduce(x, 0, _max)"),
        ("function", "tl.maximum(a, b)", "a"),
        ("function", "tl.dot(a, b, c)", "tl.dot(a, b)"),
        ("constant", "float('-inf')", "float('inf')"),
        ("constant", "True", "False"),
        ("cast", "torch.float32", "torch.float16"),
        ("operator", "-a", "a"),
    ],
)
def test_further_forms(kind, text, found):
    (row,) = [k for k in KINDS if k.name == kind]
    made = row.change(ast.parse(text, mode="eval").body, SCOPE)
    assert found in [ast.unparse(n) for n in made]
