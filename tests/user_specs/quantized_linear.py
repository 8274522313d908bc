"""A linear layer whose activations are quantised to int8, one scale a token."""

from __future__ import annotations

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import abs as magnitude
from superopt import maximum
from superopt import round_to
from superopt import spec


def reference(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    scale = x.abs().amax(1, keepdim=True).clamp(min=1e-12) / 127
    return ((x / scale).round() @ w) * scale


@spec(cases=[Case("mlp", m=512, k=1024, n=768)], dtype="bf16", reference=reference)
def quantized_linear(
    x: Annotated[Tensor, "m k"], w: Annotated[Tensor, "k n"]
) -> Annotated[Tensor, "m n"]:
    scale = maximum(magnitude(x).max("k"), 1e-12) / 127
    return (round_to(x / scale, "int8") * w).sum("k") * scale
