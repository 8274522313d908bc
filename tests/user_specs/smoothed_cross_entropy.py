"""Cross entropy of each row with smoothed labels."""

from __future__ import annotations

from typing import Annotated

import torch

from superopt import Case
from superopt import Scalar
from superopt import Tensor
from superopt import index
from superopt import log_softmax
from superopt import spec
from superopt import where


def reference(logits: torch.Tensor, label: torch.Tensor, smoothing: float) -> torch.Tensor:
    logs = torch.log_softmax(logits, dim=-1)
    picked = logs.gather(-1, label.long()[:, None])[:, 0]
    return -((1 - smoothing) * picked + smoothing * logs.mean(-1))


@spec(
    cases=[
        Case("tokens", m=4096, v=50257),
        Case("classes", m=8192, v=1000, dtype="fp32"),
    ],
    dtype="bf16",
    reference=reference,
)
def smoothed_cross_entropy(
    logits: Annotated[Tensor, "m v"],
    label: Annotated[Tensor, "m", "int64"],
    smoothing: Scalar,
) -> Annotated[Tensor, "m", "fp32"]:
    logs = log_softmax(logits, "v")
    picked = where(index("v") == label, logs, 0).sum("v")
    return -((1 - smoothing) * picked + smoothing * logs.mean("v"))
