"""Attention between normalised queries and keys, with a learned temperature per head."""

from __future__ import annotations

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import l2_normalize
from superopt import softmax
from superopt import spec


def reference(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: torch.Tensor
) -> torch.Tensor:
    q = torch.nn.functional.normalize(q, dim=-1)
    k = torch.nn.functional.normalize(k, dim=-1)
    scores = q @ k.transpose(-1, -2) * scale[:, None, None]
    return torch.softmax(scores, dim=-1) @ v


@spec(
    cases=[Case("vision", b=16, h=16, m=1024, n=1024, d=64, e=64)],
    dtype="bf16",
    reference=reference,
)
def qk_norm_attention(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    scale: Annotated[Tensor, "h", "fp32"],
) -> Annotated[Tensor, "b h m e"]:
    scores = (l2_normalize(q, "d") * l2_normalize(k, "d")).sum("d") * scale
    return (softmax(scores, "n") * v).sum("n")
