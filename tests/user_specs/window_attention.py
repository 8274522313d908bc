"""Causal attention over the last ``window`` positions, the window chosen at run time."""

from __future__ import annotations

from typing import Annotated

import torch

from superopt import Case
from superopt import Scalar
from superopt import Tensor
from superopt import index
from superopt import inf
from superopt import rsqrt
from superopt import size
from superopt import softmax
from superopt import spec
from superopt import where


def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, window: int) -> torch.Tensor:
    m, n = q.shape[-2], k.shape[-2]
    distance = torch.arange(m)[:, None] - torch.arange(n)[None, :]
    seen = (distance >= 0) & (distance < window)
    scores = torch.einsum("bhmd,bhnd->bhmn", q, k) / q.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), dim=-1)
    return torch.nan_to_num(weights, nan=0.0) @ v


@spec(
    cases=[
        Case("local", b=2, h=16, m=4096, n=4096, d=64, e=64, window=512),
        Case("wide", b=1, h=16, m=8192, n=8192, d=128, e=128, window=4096),
    ],
    dtype="fp16",
    reference=reference,
)
def window_attention(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    window: Annotated[Scalar, "int32"],
) -> Annotated[Tensor, "b h m e"]:
    m, n = index("m"), index("n")
    scores = (q * k).sum("d") * rsqrt(size("d"))
    seen = (n <= m) & (n > m - window)
    return (softmax(where(seen, scores, -inf), "n") * v).sum("n")
