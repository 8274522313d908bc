"""Cases as JSON, cases that bind no operator, and files that fail before there is one."""

from __future__ import annotations

import json

import pytest

from superopt.case import Case
from superopt.case import bind
from superopt.case import case_from
from superopt.case import case_record
from superopt.integers import Segments
from superopt.integers import Uniform
from tests.bad_spec import check_refused

# name -> (the file, with the line at fault marked; what the message says)
BAD = {
    "size unbound": (
        """
        @spec(
            cases=[
                Case("good", m=4, n=4),
                Case("poor", n=4),  # HERE
            ]
        )
        def f(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n"]:
            return x
        """,
        "case 'poor' does not bind size 'm'",
    ),
    "size of no axis": (
        """
        cases = [Case("c", m=4, k=5)]  # HERE
        @spec(cases=cases)
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return x
        """,
        "case 'c' binds 'k', which the spec does not have; it has 'm'",
    ),
    "size negative": (
        """
        @spec(cases=[Case("c", m=-4)])  # HERE
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return x
        """,
        "size m=-4 must be a whole number from 0",
    ),
    "size no whole number": (
        """
        @spec(cases=[Case("c", m=4.5)])  # HERE
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return x
        """,
        "size m=4.5 must be a whole number",
    ),
    "size a text": (
        """
        @spec(cases=[Case("c", m="4")])  # HERE
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return x
        """,
        "m='4' is no number",
    ),
    "scalar of the wrong kind": (
        """
        @spec(cases=[Case("c", m=4, w=0.5)])  # HERE
        def f(x: Annotated[Tensor, "m"], w: Annotated[Scalar, "int32"]) -> Annotated[Tensor, "m"]:
            return x * w
        """,
        "w=0.5 must be a whole number",
    ),
    "two cases of one name": (
        """
        @spec(
            cases=[
                Case("c", m=4),
                Case("c", m=5),  # HERE
            ]
        )
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return x
        """,
        "two cases are named 'c'",
    ),
    "case name with a slash": (
        """
        CASE = Case("a/b", m=4)  # HERE
        """,
        "case name 'a/b' must be made of letters",
    ),
    "no cases": (
        """
        @spec(cases=[])  # HERE
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return x
        """,
        "needs at least one case",
    ),
    "cases missing": (
        """
        @spec()  # HERE
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return x
        """,
        "missing 1 required keyword-only argument: 'cases'",
    ),
    "cases are no cases": (
        """
        @spec(cases=[{"m": 4}])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:  # HERE
            return x
        """,
        r"cases= holds Case\(...\) objects, got {'m': 4}",
    ),
    "dtype of the spec": (
        """
        @spec(cases=[Case("c", m=4)], dtype="float64")  # HERE
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return x
        """,
        "unsupported dtype 'float64'; a case or a spec has fp16, bf16, fp32",
    ),
    "dtype of a case": (
        """
        CASE = Case("c", m=4, dtype="int32")  # HERE
        """,
        "unsupported dtype 'int32'",
    ),
    "an error in the file": (
        """
        import no_such_module  # HERE
        """,
        "ModuleNotFoundError: No module named 'no_such_module'",
    ),
    "exit in the file": (
        """
        raise SystemExit(3)  # HERE
        """,
        "SystemExit: 3",
    ),
    "syntax": (
        """
        def f(:  # HERE
            pass
        """,
        "syntax error",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_it_is_refused_at_its_line(name, tmp_path, monkeypatch):
    check_refused(*BAD[name], tmp_path, monkeypatch)


@pytest.mark.parametrize("scale", [2, 2.0, 0.125, float("inf")])
def test_a_bound_case_survives_json(scale):
    rules = {"first": Segments(3), "label": Uniform(0, 9)}
    given = Case("long", n=8, m=4, length=30, scale=scale, tf32=True, **rules)
    case = bind(given, ("m", "n"), {"length": "int32", "scale": "fp32"}, "fp16", tuple(rules))
    found = case_from(json.loads(json.dumps(case_record(case))))
    assert found == case
    assert list(found.sizes) == ["m", "n"]
    assert {n: type(v) for n, v in found.scalars.items()} == {"length": int, "scale": type(scale)}
