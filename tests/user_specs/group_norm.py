"""Group norm of channels-first images, followed by silu."""

from __future__ import annotations

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import rsqrt
from superopt import silu
from superopt import spec


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    b, g, c, h, w = x.shape
    y = torch.nn.functional.group_norm(
        x.reshape(b, g * c, h, w), g, weight.reshape(-1), bias.reshape(-1), eps=1e-5
    )
    return torch.nn.functional.silu(y).reshape(x.shape)


@spec(
    cases=[Case("unet", b=8, g=32, c=10, h=64, w=64), Case("vae", b=1, g=32, c=4, h=512, w=512)],
    dtype="fp16",
    reference=reference,
)
def group_norm(
    x: Annotated[Tensor, "b g c h w"],
    weight: Annotated[Tensor, "g c"],
    bias: Annotated[Tensor, "g c"],
) -> Annotated[Tensor, "b g c h w"]:
    centred = x - x.mean("c h w")
    variance = (centred * centred).mean("c h w")
    return silu(centred * rsqrt(variance + 1e-5) * weight + bias)
