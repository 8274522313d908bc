from __future__ import annotations

import subprocess
import sys
from typing import Annotated

import pytest

from superopt import Case
from superopt import Scalar
from superopt import Tensor
from superopt import index
from superopt import inf
from superopt import rsqrt
from superopt import size
from superopt import softmax
from superopt import spec
from superopt import where
from superopt.errors import SpecError
from superopt.ugraph.node import Input
from superopt.ugraph.node import Scalar as ScalarNode
from tests import samples


@spec(cases=[Case("c", b=1, h=2, m=3, n=4, d=5, e=6)])
def attention(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h m e"]:
    weights = softmax((q * k).sum("d") * rsqrt(size("d")), "n")
    return (weights * v).sum("n")


@spec(cases=[Case("c", b=1, h=2, m=3, n=4, d=5, e=6)])
def causal(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h m e"]:
    scores = (q * k).sum("d") * rsqrt(size("d"))
    return (softmax(where(index("n") <= index("m"), scores, -inf), "n") * v).sum("n")


def test_a_traced_function_is_its_algebra():
    assert attention.program == samples.attention()
    assert causal.program.outputs == samples.attention(causal=True).outputs


def test_where_it_stands():
    assert attention.name == "attention"
    assert attention.file == __file__
    assert attention.source_text.splitlines()[1] == "def attention("
    with open(__file__) as file:
        assert file.read().splitlines()[attention.line - 1] == "def attention("


def test_a_library_call_is_its_body_written_out():
    @spec(cases=[Case("c", m=3, n=4)])
    def called(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n"]:
        return softmax(x, "n")

    assert called.program.outputs == samples.row_softmax().outputs


def test_a_spec_is_part_of_another():
    @spec(cases=[Case("c", b=1, h=2, m=3, n=4, d=5, e=6)])
    def doubled(
        q: Annotated[Tensor, "b h m d"],
        k: Annotated[Tensor, "b h n d"],
        v: Annotated[Tensor, "b h n e"],
    ) -> Annotated[Tensor, "b h m e"]:
        return 2 * attention(q, k, v)

    two, inner = doubled.program.outputs[0].value.args
    assert inner is attention.program.outputs[0].value
    assert two is samples.num(2)


def test_a_spec_is_not_called_with_data():
    with pytest.raises(SpecError, match="it is called by other specs, not with data"):
        attention([1.0], [1.0], [1.0])


def test_parameters_keep_their_dtypes_and_order():
    @spec(
        cases=[
            Case("first", n=4, m=3, scale=0.5),
            Case("second", m=3, n=4, dtype="fp32", tf32=True, shift=3),
        ],
        dtype="fp16",
    )
    def f(
        scale: Scalar,
        ids: Annotated[Tensor, "n m", "int32"],
        x: Annotated[Tensor, "m"],
        shift: Annotated[Scalar, "int32"],
    ) -> tuple[Annotated[Tensor, "m n"], Annotated[Tensor, "n", "fp32"]]:
        return ids * x * scale, (ids * x).sum("m") + shift

    assert f.program.params == (
        ScalarNode("scale"),
        Input("ids", ("n", "m"), "int32"),
        Input("x", ("m",)),
        ScalarNode("shift", "int32"),
    )
    assert [(o.name, o.order, o.dtype) for o in f.program.outputs] == [
        ("out0", ("m", "n"), None),
        ("out1", ("n",), "fp32"),
    ]
    first, second = f.cases
    assert f.axes == ("n", "m")
    assert list(first.sizes.items()) == [("n", 4), ("m", 3)]  # the order of the signature
    assert list(second.sizes.items()) == [("n", 4), ("m", 3)]
    assert (first.dtype, first.tf32, first.scalars) == ("fp16", False, {"scale": 0.5})
    assert (second.dtype, second.tf32, second.scalars) == ("fp32", True, {"shift": 3})
    assert f.case("second") is second
    with pytest.raises(SpecError, match="f has no case 'third'; it has first, second"):
        f.case("third")


def test_cases_are_named():
    def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
        return x + 1

    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'cases'"):
        spec(f)  # what ``@spec`` alone does
    with pytest.raises(SpecError, match=r"cases are named, as in @spec\(cases="):
        spec([Case("one", m=1)], cases=[Case("one", m=1)])


def test_sizes_of_zero_and_one_are_legal():
    @spec(cases=[Case("none", m=0), Case("one", m=1)])
    def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
        return x + 1

    assert [c.sizes["m"] for c in f.cases] == [0, 1]


def test_the_language_loads_quickly_and_alone():
    code = "import superopt, sys; print(sorted(set(sys.modules) & set(sys.argv[1:])))"
    heavy = ["torch", "triton", "z3", "sympy", "numpy", "optuna"]
    got = subprocess.run(
        [sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True
    )
    assert got.stdout.strip() == "[]"


def test_annotations_that_are_no_text():
    scope: dict[str, object] = {}
    text = (
        "from superopt import *\nfrom typing import Annotated\n"
        "@spec(cases=[Case('c', m=4)])\n"
        "def f(x: Annotated[Tensor, 'm']) -> Annotated[Tensor, 'm']: return x + 1\n"
    )
    exec(compile(text, "<typed>", "exec", dont_inherit=True), scope)
    assert scope["f"].axes == ("m",)
    assert scope["f"].source_text == ""
    assert scope["f"].where == "<typed>:3"
