"""KL divergence of the distributions of two rows of logits, as for distillation."""

from __future__ import annotations

from typing import Annotated

import torch

from superopt import Case
from superopt import Scalar
from superopt import Tensor
from superopt import exp
from superopt import log_softmax
from superopt import spec


def reference(teacher: torch.Tensor, student: torch.Tensor, temperature: float) -> torch.Tensor:
    p = torch.log_softmax(teacher / temperature, dim=-1)
    q = torch.log_softmax(student / temperature, dim=-1)
    return torch.nn.functional.kl_div(q, p, reduction="none", log_target=True).sum(-1)


@spec(
    cases=[Case("vocabulary", m=2048, v=32000), Case("classes", m=4096, v=1000, dtype="fp32")],
    dtype="bf16",
    reference=reference,
)
def kl_divergence(
    teacher: Annotated[Tensor, "m v"],
    student: Annotated[Tensor, "m v"],
    temperature: Scalar,
) -> Annotated[Tensor, "m", "fp32"]:
    p = log_softmax(teacher / temperature, "v")
    q = log_softmax(student / temperature, "v")
    return (exp(p) * (p - q)).sum("v")
