"""The logarithm of the sum of exponentials of every row."""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import logsumexp as logsumexp_of
from superopt import spec


def logsumexp_reference(x):
    return torch.logsumexp(x, dim=-1)


@spec(
    cases=[
        Case("vocabulary", m=8192, n=131072),
        Case("square", m=8192, n=8192),
        Case("fp32", m=4096, n=8192, dtype="fp32"),
    ],
    dtype="bf16",
    reference=logsumexp_reference,
)
def logsumexp(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m", "fp32"]:
    return logsumexp_of(x, "n")
