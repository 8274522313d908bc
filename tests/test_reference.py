"""A spec that differs from its reference is found, and the message says where and by how much."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import pytest
import torch

from superopt import Case
from superopt import Scalar
from superopt import Spec
from superopt import Tensor
from superopt import index
from superopt import inf
from superopt import log
from superopt import rms_norm
from superopt import rsqrt
from superopt import size
from superopt import softmax
from superopt import spec
from superopt import where
from superopt.errors import SpecError
from superopt.reference import check_reference

ROWS = [Case("c", m=8, n=8)]


def normed(reference: Callable[..., object], eps: float = 1e-6) -> Spec:
    @spec(cases=ROWS, reference=reference)
    def f(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n"]:
        return rms_norm(x, "n", eps=eps)

    return f


def torch_norm(x):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], eps=1e-6)


def test_agreement_is_silent():
    check_reference(normed(torch_norm))
    check_reference(normed(torch_norm), seed=7)


def test_no_reference_is_no_claim():
    check_reference(normed(None))


@pytest.mark.parametrize(
    "reference",
    [
        lambda x: torch_norm(x) * (1 + 1e-6),
        lambda x: torch.nn.functional.rms_norm(x, x.shape[-1:], eps=1e-5),
        lambda x: torch.nn.functional.rms_norm(x, x.shape[-1:], eps=0),
        lambda x: torch_norm(x.T).T,
        lambda x: torch_norm(x.float()).double(),
        lambda x: torch_norm(x).where(x != x.max(), torch.nan),
        lambda x: torch_norm(x).where(x != x.max(), torch.inf),
    ],
    ids=["factor", "eps", "no eps", "axis", "rounds", "nan", "inf"],
)
def test_a_difference_is_found(reference):
    with pytest.raises(SpecError, match=r"out of f disagrees with its reference at \[m=\d, n=\d\]"):
        check_reference(normed(reference))


def test_the_message_has_all_that_is_needed():
    with pytest.raises(SpecError) as error:
        check_reference(normed(lambda x: torch_norm(x) + (torch.arange(x.shape[1]) == 2) / 2))
    text = str(error.value)
    for part in ("test_reference.py:", "n=2]", "the spec gives", "off by 0.5", "sizes m="):
        assert part in text, text
    assert "\n" not in text


def test_rounding_is_named():
    with pytest.raises(SpecError, match="a reference that rounds"):
        check_reference(normed(lambda x: torch_norm(x.float()).double()))


def test_a_fully_masked_row_is_named():
    @spec(
        cases=ROWS,
        reference=lambda x, keep: torch.softmax(x.masked_fill(~keep[:, None], -torch.inf), -1),
    )
    def f(
        x: Annotated[Tensor, "m n"], keep: Annotated[Tensor, "m", "bool"]
    ) -> Annotated[Tensor, "m n"]:
        return softmax(where(keep, x, -inf), "n")

    with pytest.raises(SpecError, match="references follow the spec where a whole row is masked"):
        check_reference(f)


def test_the_second_output_is_compared():
    @spec(cases=ROWS, reference=lambda x: (x.sum(1), x.amax(0)))
    def f(
        x: Annotated[Tensor, "m n"],
    ) -> tuple[Annotated[Tensor, "m"], Annotated[Tensor, "m"]]:
        return x.sum("n"), x.max("n")

    with pytest.raises(SpecError, match=r"out1 of f has shape \(\d,\) \('m'\), the reference's"):
        check_reference(f)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (lambda x: (x, x), r"returns 2 value\(s\), f has 1"),
        (lambda x: 3, "returns a int, not a tensor"),
        (lambda: 3, "fails at sizes m=.*takes 0 positional arguments"),
        (lambda x: x @ x, r"test_reference\.py:\d+: reference <lambda> of f fails at sizes"),
        (lambda x: x.T, r"out of f has shape"),
    ],
)
def test_a_reference_that_is_none(reference, message):
    with pytest.raises(SpecError, match=message):
        check_reference(normed(reference))


def test_undefined_everywhere_is_no_agreement():
    @spec(cases=ROWS, reference=lambda x: torch.log(-1 - x * x))
    def f(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n"]:
        return log(-1 - x * x)

    with pytest.raises(SpecError, match="out of f is NaN for every input tried"):
        check_reference(f)


def windowed(width: int, reference_width: int, case_width: int | None = None) -> Spec:
    """A window, by a constant or by a scalar, whose width is beyond small sizes."""

    def reference(x, y, *rest):
        limit = rest[0] if rest else reference_width
        far = torch.arange(len(x))[:, None] - torch.arange(len(y)) >= limit + (rest != ())
        return (x[:, None] * y).masked_fill(far, 0).sum(1)

    if case_width is not None:

        @spec(cases=[Case("c", m=8, n=8, width=case_width)], reference=reference)
        def g(
            x: Annotated[Tensor, "m"],
            y: Annotated[Tensor, "n"],
            width: Annotated[Scalar, "int32"],
        ) -> Annotated[Tensor, "m"]:
            near = index("m") - index("n") < where(width > 40, width, width + 1)
            return where(near, x * y, 0).sum("n")

        return g

    @spec(cases=ROWS, reference=reference)
    def f(x: Annotated[Tensor, "m"], y: Annotated[Tensor, "n"]) -> Annotated[Tensor, "m"]:
        return where(index("m") - index("n") < width, x * y, 0).sum("n")

    return f


def test_a_wide_window_is_reached():
    check_reference(windowed(100, 100))
    with pytest.raises(SpecError, match="sizes past 100"):
        check_reference(windowed(100, 101))
    with pytest.raises(SpecError, match="sizes past 64"):
        check_reference(windowed(0, 0, case_width=64))


def test_scalars_and_integers_reach_the_reference_as_they_are():
    seen = []

    def reference(x, ids, scale, shift):
        seen.append((x.dtype, ids.dtype, type(scale), type(shift)))
        return x * scale + ids + shift

    @spec(cases=ROWS, reference=reference)
    def f(
        x: Annotated[Tensor, "m n"],
        ids: Annotated[Tensor, "m n", "int32"],
        scale: Scalar,
        shift: Annotated[Scalar, "int32"],
    ) -> Annotated[Tensor, "m n"]:
        return x * scale + ids + shift

    check_reference(f)
    assert set(seen) == {(torch.float64, torch.int32, float, int)}


def test_names_of_locals_serve_annotations():
    axes = "m n"

    @spec(cases=ROWS, reference=lambda x: x.mean(1) / x.shape[1] ** 0.5)
    def f(x: Annotated[Tensor, axes]) -> Annotated[Tensor, "m"]:
        return x.mean("n") * rsqrt(size("n"))

    check_reference(f)
