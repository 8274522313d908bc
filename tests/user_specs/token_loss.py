"""Cross entropy of each token, and which class is the likeliest."""

from __future__ import annotations

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import argmax
from superopt import gather
from superopt import logsumexp
from superopt import spec


def reference(logits: torch.Tensor, label: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    loss = torch.nn.functional.cross_entropy(logits, label.long(), reduction="none")
    return loss, logits.argmax(1)


@spec(cases=[Case("classes", m=8192, n=1000)], dtype="bf16", reference=reference)
def token_loss(
    logits: Annotated[Tensor, "m n"], label: Annotated[Tensor, "m", "int32"]
) -> tuple[Annotated[Tensor, "m", "fp32"], Annotated[Tensor, "m", "int32"]]:
    return logsumexp(logits, "n") - gather(logits, label, "n"), argmax(logits, "n")
