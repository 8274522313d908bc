"""A batched bilinear form, as in torch.nn.Bilinear."""

from __future__ import annotations

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import spec


def reference(
    x: torch.Tensor, y: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor
) -> torch.Tensor:
    return torch.nn.functional.bilinear(x, y, weight, bias)


@spec(
    cases=[
        Case("relations", m=4096, o=64, i=256, j=256),
        Case("fp32", m=256, o=16, i=64, j=64, dtype="fp32"),
    ],
    dtype="bf16",
    reference=reference,
)
def bilinear_form(
    x: Annotated[Tensor, "m i"],
    y: Annotated[Tensor, "m j"],
    weight: Annotated[Tensor, "o i j"],
    bias: Annotated[Tensor, "o"],
) -> Annotated[Tensor, "m o"]:
    return (x * weight * y).sum("i j") + bias
