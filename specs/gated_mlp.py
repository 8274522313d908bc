"""The first half of a gated feed-forward layer: two linear layers, one gating the other.

Axes: m rows, k features, n hidden features.
"""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import silu
from superopt import spec


def gated_mlp_reference(x, gate, up):
    return torch.nn.functional.silu(x @ gate) * (x @ up)


@spec(
    cases=[
        Case("prefill", m=4096, k=4096, n=4096),
        Case("decode", m=16, k=4096, n=11008),
        Case("fp32", m=1024, k=1024, n=1024, dtype="fp32"),
    ],
    dtype="bf16",
    reference=gated_mlp_reference,
)
def gated_mlp(
    x: Annotated[Tensor, "m k"], gate: Annotated[Tensor, "k n"], up: Annotated[Tensor, "k n"]
) -> Annotated[Tensor, "m n"]:
    return silu((x * gate).sum("k")) * (x * up).sum("k")
