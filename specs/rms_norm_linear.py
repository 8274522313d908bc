"""Root mean square normalisation followed by a linear layer.

Axes: m rows, k features, n results.
"""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import rms_norm
from superopt import spec

EPS = 1e-6


def rms_norm_linear_reference(x, weight, w):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps=EPS) @ w


@spec(
    cases=[
        Case("prefill", m=4096, k=4096, n=4096),
        Case("decode", m=16, k=4096, n=4096),
        Case("fp32", m=1024, k=1024, n=1024, dtype="fp32"),
    ],
    dtype="bf16",
    reference=rms_norm_linear_reference,
)
def rms_norm_linear(
    x: Annotated[Tensor, "m k"], weight: Annotated[Tensor, "k"], w: Annotated[Tensor, "k n"]
) -> Annotated[Tensor, "m n"]:
    return (rms_norm(x, "k", weight, eps=EPS) * w).sum("k")
