"""A GeGLU feed-forward block: two projections up, a gate, one projection down."""

from __future__ import annotations

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import gelu
from superopt import spec


def reference(
    x: torch.Tensor, w_gate: torch.Tensor, w_up: torch.Tensor, w_down: torch.Tensor
) -> torch.Tensor:
    gate = torch.nn.functional.gelu(x @ w_gate.T)
    return (gate * (x @ w_up.T)) @ w_down.T


@spec(
    cases=[
        Case("block", m=4096, k=1024, f=4096, o=1024),
        Case("token", m=8, k=1024, f=4096, o=1024),
    ],
    dtype="bf16",
    reference=reference,
)
def geglu_mlp(
    x: Annotated[Tensor, "m k"],
    w_gate: Annotated[Tensor, "f k"],
    w_up: Annotated[Tensor, "f k"],
    w_down: Annotated[Tensor, "o f"],
) -> Annotated[Tensor, "m o"]:
    hidden = gelu((x * w_gate).sum("k")) * (x * w_up).sum("k")
    return (hidden * w_down).sum("f")
