"""Root mean square normalisation of every row."""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import rms_norm as rms_norm_of
from superopt import spec

EPS = 1e-6


def rms_norm_reference(x, weight):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps=EPS)


@spec(
    cases=[
        Case("square", m=8192, n=8192),
        Case("narrow", m=16384, n=2048),
        Case("fp32", m=4096, n=4096, dtype="fp32"),
    ],
    dtype="bf16",
    reference=rms_norm_reference,
)
def rms_norm(
    x: Annotated[Tensor, "m n"], weight: Annotated[Tensor, "n"]
) -> Annotated[Tensor, "m n"]:
    return rms_norm_of(x, "n", weight, eps=EPS)
