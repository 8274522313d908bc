"""The matrix of cosine similarities of two sets of vectors."""

from __future__ import annotations

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import maximum
from superopt import spec
from superopt import sqrt


def reference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.cosine_similarity(x[:, None, :], y[None, :, :], dim=-1, eps=1e-6)


@spec(
    cases=[
        Case("embeddings", m=4096, n=4096, d=768),
        Case("query", m=16, n=65536, d=384, dtype="fp32"),
    ],
    dtype="fp16",
    reference=reference,
)
def cosine_similarity(
    x: Annotated[Tensor, "m d"], y: Annotated[Tensor, "n d"]
) -> Annotated[Tensor, "m n", "fp32"]:
    x_length = maximum(sqrt((x * x).sum("d")), 1e-6)
    y_length = maximum(sqrt((y * y).sum("d")), 1e-6)
    return (x * y).sum("d") / (x_length * y_length)
