"""Causal attention with linear biases, a slope per head."""

from __future__ import annotations

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import index
from superopt import inf
from superopt import rsqrt
from superopt import size
from superopt import softmax
from superopt import spec
from superopt import where


def reference(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, slope: torch.Tensor
) -> torch.Tensor:
    m, n = q.shape[1], k.shape[1]
    distance = torch.arange(m)[:, None] - torch.arange(n)[None, :]
    scores = torch.einsum("bmhd,bnhd->bhmn", q, k) / q.shape[-1] ** 0.5
    scores = scores - slope[None, :, None, None] * distance
    weights = torch.softmax(scores.masked_fill(distance < 0, -torch.inf), dim=-1)
    return torch.einsum("bhmn,bnhe->bmhe", weights, v)


@spec(
    cases=[Case("prefill", b=2, h=32, m=2048, n=2048, d=128, e=128)],
    dtype="bf16",
    reference=reference,
)
def alibi_attention(
    q: Annotated[Tensor, "b m h d"],
    k: Annotated[Tensor, "b n h d"],
    v: Annotated[Tensor, "b n h e"],
    slope: Annotated[Tensor, "h", "fp32"],
) -> Annotated[Tensor, "b m h e"]:
    m, n = index("m"), index("n")
    scores = (q * k).sum("d") * rsqrt(size("d")) - slope * (m - n)
    return (softmax(where(m >= n, scores, -inf), "n") * v).sum("n")
