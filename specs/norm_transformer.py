"""The residual step of a transformer whose hidden states have length 1.

A state moves towards the normalised output of a block by a learned rate of each feature, and is
normalised again. Axes: m rows, d features.
"""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import l2_normalize
from superopt import spec

EPS = 1e-12


def norm_step_reference(x, h, a):
    unit = torch.nn.functional.normalize
    return unit(torch.lerp(x, unit(h, dim=-1, eps=EPS), a.expand_as(x)), dim=-1, eps=EPS)


@spec(
    cases=[
        Case("square", m=8192, d=8192),
        Case("model", m=16384, d=4096),
        Case("narrow", m=32768, d=1024),
        Case("fp32", m=4096, d=4096, dtype="fp32"),
    ],
    dtype="bf16",
    reference=norm_step_reference,
)
def norm_step(
    x: Annotated[Tensor, "m d"], h: Annotated[Tensor, "m d"], a: Annotated[Tensor, "d"]
) -> Annotated[Tensor, "m d"]:
    """``norm(x + a (norm(h) - x))`` with the norm that divides by the length."""
    towards = l2_normalize(h, "d", eps=EPS)
    return l2_normalize(x + a * (towards - x), "d", eps=EPS)
