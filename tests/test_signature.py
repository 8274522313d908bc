"""Annotations and results that describe no operator."""

from __future__ import annotations

import pytest

from tests.bad_spec import check_refused

# name -> (the file, with the line at fault marked; what the message says)
BAD = {
    "axis repeated": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m m"]) -> Annotated[Tensor, "m"]:  # HERE
            return x
        """,
        "parameter 'x' repeats axis 'm'",
    ),
    "name of a module that kernel files import": (
        """
        @spec(cases=[Case("c", m=4)])
        def triton(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:  # HERE
            return x
        """,
        "a kernel file needs the name 'triton' itself; name the spec otherwise",
    ),
    "letters in the name of a kernel": (
        """
        @spec(cases=[Case("c", α=4)])
        def größe(x: Annotated[Tensor, "α"]) -> Annotated[Tensor, "α"]:  # HERE
            return x
        """,
        "the name 'größe' has letters outside of ASCII",
    ),
    "name of a function of Python": (
        """
        @spec(cases=[Case("c", m=4)])
        def max(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:  # HERE
            return x
        """,
        "a kernel file needs the name 'max' itself",
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
        def f(  # HERE
            x: Annotated[Tensor, "m"], a: Annotated[Scalar, "fp64"]
        ) -> Annotated[Tensor, "m"]:
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
    "nothing has the case's dtype": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(  # HERE
            x: Annotated[Tensor, "m", "int8"], scale: Annotated[Tensor, "", "fp32"]
        ) -> Annotated[Tensor, "m"]:
            return x * scale
        """,
        "out has no dtype, and no parameter has the case's",
    ),
    "axes between commas": (
        """
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m, n"]) -> Annotated[Tensor, "m"]:  # HERE
            return x
        """,
        "parameter 'x': axes in 'm, n' are separated by spaces, not commas",
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
        def f(  # HERE
            x: Annotated[Tensor, "m"], y: Annotated[Tensor, "m"]
        ) -> Annotated[Tensor, "m"]:
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
        def f(  # HERE
            x: Annotated[Tensor, "m"]
        ) -> tuple[Annotated[Tensor, "m"], Annotated[Tensor, "m"]]:
            return x
        """,
        r"returns 1 value\(s\), its annotation says 2",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_it_is_refused_at_its_line(name, tmp_path, monkeypatch):
    check_refused(*BAD[name], tmp_path, monkeypatch)
