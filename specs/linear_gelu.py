"""A linear layer with bias and GELU: exact, and by the usual approximation.

Axes: m rows, k features, n results.
"""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import gelu
from superopt import spec

CASES = [
    Case("prefill", m=4096, k=4096, n=16384),
    Case("square", m=4096, k=4096, n=4096),
    Case("fp32", m=1024, k=1024, n=4096, dtype="fp32"),
]


def linear_gelu_reference(x, w, bias):
    return torch.nn.functional.gelu(torch.addmm(bias, x, w))


def linear_gelu_tanh_reference(x, w, bias):
    return torch.nn.functional.gelu(torch.addmm(bias, x, w), approximate="tanh")


@spec(cases=CASES, dtype="bf16", reference=linear_gelu_reference)
def linear_gelu(
    x: Annotated[Tensor, "m k"], w: Annotated[Tensor, "k n"], bias: Annotated[Tensor, "n"]
) -> Annotated[Tensor, "m n"]:
    return gelu((x * w).sum("k") + bias)


@spec(cases=CASES, dtype="bf16", reference=linear_gelu_tanh_reference)
def linear_gelu_tanh(
    x: Annotated[Tensor, "m k"], w: Annotated[Tensor, "k n"], bias: Annotated[Tensor, "n"]
) -> Annotated[Tensor, "m n"]:
    return gelu((x * w).sum("k") + bias, approximate="tanh")
