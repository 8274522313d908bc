"""The mean of the first ``length`` vectors of each sequence; zero for an empty one."""

from __future__ import annotations

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import index
from superopt import maximum
from superopt import spec
from superopt import where


def reference(x: torch.Tensor, length: torch.Tensor) -> torch.Tensor:
    mask = torch.arange(x.shape[1])[None, :] < length[:, None]
    total = (x * mask[:, :, None]).sum(1)
    return total / length.clamp(min=1)[:, None]


@spec(
    cases=[Case("encoder", b=256, n=512, d=768), Case("long", b=8, n=16384, d=1024)],
    dtype="bf16",
    reference=reference,
)
def masked_mean_pooling(
    x: Annotated[Tensor, "b n d"], length: Annotated[Tensor, "b", "int32"]
) -> Annotated[Tensor, "b d"]:
    total = where(index("n") < length, x, 0).sum("n")
    return total / maximum(length, 1)
