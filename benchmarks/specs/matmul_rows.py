"""Matrix products alone and with a residual behind them, at the sizes that benchmarks compare.

Axes: m rows, k features, n results.
"""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import spec


def matmul_reference(x, w):
    return torch.mm(x, w)


def residual_reference(x, w, rest):
    return torch.addmm(rest, x, w)


@spec(
    cases=[Case("8192", m=8192, k=8192, n=8192), Case("4096", m=4096, k=4096, n=4096)],
    dtype="bf16",
    reference=matmul_reference,
)
def matmul(x: Annotated[Tensor, "m k"], w: Annotated[Tensor, "k n"]) -> Annotated[Tensor, "m n"]:
    return (x * w).sum("k")


@spec(cases=[Case("4096", m=4096, k=4096, n=4096)], dtype="bf16", reference=residual_reference)
def linear_residual(
    x: Annotated[Tensor, "m k"],
    w: Annotated[Tensor, "k n"],
    rest: Annotated[Tensor, "m n"],
) -> Annotated[Tensor, "m n"]:
    return rest + (x * w).sum("k")
