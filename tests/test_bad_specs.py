"""Every way in which a spec's file can be wrong: one line that names the file and the line."""

from __future__ import annotations

import pytest

from superopt.errors import UserError
from superopt.loading import load

HEAD = """
from typing import Annotated
from superopt import *
"""

# name -> (the file below HEAD with the line at fault marked, what the message says)
BAD = {
    "axis repeated": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m m"]) -> Annotated[Tensor, "m"]:  # HERE
            return x
        """,
        "parameter 'x' repeats axis 'm'",
    ),
    "axis of the output unknown": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m n"]:  # HERE
            return x
        """,
        "out has axis 'n', which no parameter has",
    ),
    "output lacks an axis": (
        """
        @spec(cases=[Case("c", m=4, n=4)])
        def f(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n"]:  # HERE
            return x.sum("n")
        """,
        "declared with axis 'n', but the value has 'm'",
    ),
    "output has an axis too many": (
        """
        @spec(cases=[Case("c", m=4, n=4)])
        def f(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m"]:  # HERE
            return x + 1
        """,
        "the value also has axis 'n'; fold over it or declare it",
    ),
    "fold over an absent axis": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            y = x + 1
            return y.sum("k")  # HERE
        """,
        "no axis 'k' to fold over; the tensor has 'm'",
    ),
    "fold over an absent axis in a library call": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return softmax(x, "k")  # HERE
        """,
        "no axis 'k' to fold over",
    ),
    "fold names an axis twice": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, ""]:
            return x.sum("m", "m")  # HERE
        """,
        "axis 'm' is named twice",
    ),
    "fold names no axis": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, ""]:
            return x.max()  # HERE
        """,
        "name the axes to fold over; the tensor has 'm'",
    ),
    "axis by number": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, ""]:
            return x.mean(0)  # HERE
        """,
        "axes are named by strings, got 0",
    ),
    "fold of truth values": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, ""]:
            return (x > 0).sum("m")  # HERE
        """,
        r"write where\(condition, 1, 0\)",
    ),
    "index of an unknown axis": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return x + index("z")  # HERE
        """,
        "no axis 'z'; the parameters have 'm'",
    ),
    "size of an unknown axis": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return x / size("z")  # HERE
        """,
        "no axis 'z'; the parameters have 'm'",
    ),
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
    "dtype of a tensor": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m", "e4m3"]) -> Annotated[Tensor, "m"]:  # HERE
            return x
        """,
        "parameter 'x' has unsupported dtype 'e4m3'; supported: fp16, bf16",
    ),
    "dtype of a scalar": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"], a: Annotated[Scalar, "fp64"]) -> Annotated[Tensor, "m"]:  # HERE
            return x * a
        """,
        "parameter 'a' has unsupported dtype 'fp64'; a Scalar is fp32 or int32",
    ),
    "truth values stored as floats": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:  # HERE
            return x > 0
        """,
        "out holds truth values, but is stored as the case's float dtype",
    ),
    "numbers stored as truth values": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m", "bool"]:  # HERE
            return x
        """,
        "out holds numbers, but is stored as bool",
    ),
    "reals stored as integers": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m", "int32"]:  # HERE
            return x
        """,
        "nothing is rounded",
    ),
    "annotation missing": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x) -> Annotated[Tensor, "m"]:  # HERE
            return x
        """,
        "parameter 'x' needs an annotation with its axes",
    ),
    "axes missing": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Tensor) -> Annotated[Tensor, "m"]:  # HERE
            return x
        """,
        "parameter 'x' needs an annotation with its axes",
    ),
    "output not annotated": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]):  # HERE
            return x
        """,
        "the output needs an annotation with its axes",
    ),
    "outputs of unknown number": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> tuple[Annotated[Tensor, "m"], ...]:  # HERE
            return x
        """,
        "the outputs must be listed one by one",
    ),
    "annotation misspelt": (
        """
        from __future__ import annotations
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tenor, "m"]) -> Annotated[Tensor, "m"]:  # HERE
            return x
        """,
        "an annotation cannot be read: name 'Tenor' is not defined",
    ),
    "axis no name": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m 3"]) -> Annotated[Tensor, "m"]:  # HERE
            return x
        """,
        "'3' cannot name an axis",
    ),
    "parameter with a default": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"], eps: Scalar = 1) -> Annotated[Tensor, "m"]:  # HERE
            return x + eps
        """,
        "parameter 'eps' has a default",
    ),
    "no tensor": (
        """
        @spec(cases=[Case("c")])
        def f(x: Scalar) -> Annotated[Tensor, ""]:  # HERE
            return x
        """,
        "at least one tensor among its parameters",
    ),
    "parameter unused": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"], y: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:  # HERE
            return x
        """,
        "parameter 'y' is not used by any output",
    ),
    "scalar named as an axis": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"], m: Scalar) -> Annotated[Tensor, "m"]:  # HERE
            return x * m
        """,
        "'m' names both a Scalar and an axis",
    ),
    "nothing returned": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:  # HERE
            x + 1
        """,
        "out is a NoneType, not a tensor",
    ),
    "too few outputs": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> tuple[Annotated[Tensor, "m"], Annotated[Tensor, "m"]]:  # HERE
            return x
        """,
        r"returns 1 value\(s\), its annotation says 2",
    ),
    "if on a tensor": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            if x > 0:  # HERE
                return x
            return -x
        """,
        r"no truth value while a spec is traced; use where\(condition, a, b\)",
    ),
    "NaN": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return where(x > 0, x, float("nan"))  # HERE
        """,
        "NaN is no constant",
    ),
    "where of a number": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return where(x, x, 0)  # HERE
        """,
        "where got arguments of the wrong kind",
    ),
    "a condition in arithmetic": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return x * (x > 0)  # HERE
        """,
        "mul got arguments of the wrong kind: real, bool",
    ),
    "matmul operator": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return x @ x  # HERE
        """,
        "there is no @",
    ),
    "unsupported power": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return x ** 1.5  # HERE
        """,
        "exponent 1.5 is not supported",
    ),
    "tensor as exponent": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return x ** x  # HERE
        """,
        "an exponent is a constant",
    ),
    "subscript": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return x[0]  # HERE
        """,
        "a tensor has no items",
    ),
    "no such method": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return x.transpose()  # HERE
        """,
        "AttributeError: 'Tensor' object has no attribute 'transpose'",
    ),
    "function of another library": (
        """
        import math
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            return math.exp(x)  # HERE
        """,
        "a tensor is no Python number",
    ),
    "an error in the function": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            y = 1 // 0  # HERE
            return x
        """,
        "f: ZeroDivisionError",
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
def test_a_bad_spec_is_one_line_with_file_and_line(name, tmp_path, monkeypatch):
    body, message = BAD[name]
    text = (HEAD + body).replace("\n        ", "\n")
    if "__future__" in text:
        text = "from __future__ import annotations\n" + text.replace(
            "from __future__ import annotations\n", "\n"
        )
    line = next(i for i, row in enumerate(text.splitlines(), 1) if "# HERE" in row)
    (tmp_path / "bad.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message) as error:
        load("bad.py")
    assert error.value.where == f"bad.py:{line}"
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(f"bad.py:{line}: ")
