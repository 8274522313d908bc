"""A linear layer with a low-rank update.

Axes: m rows, k features, r rank, n results.
"""

from typing import Annotated

from superopt import Case
from superopt import Tensor
from superopt import spec


def lora_reference(x, w, a, b):
    return x @ (w + a @ b)


@spec(
    cases=[
        Case("prefill", m=4096, k=4096, n=4096, r=16),
        Case("decode", m=16, k=4096, n=4096, r=64),
        Case("fp32", m=1024, k=1024, n=1024, r=16, dtype="fp32"),
    ],
    dtype="bf16",
    reference=lora_reference,
)
def lora(
    x: Annotated[Tensor, "m k"],
    w: Annotated[Tensor, "k n"],
    a: Annotated[Tensor, "k r"],
    b: Annotated[Tensor, "r n"],
) -> Annotated[Tensor, "m n"]:
    low_rank = ((x * a).sum("k") * b).sum("r")
    return (x * w).sum("k") + low_rank
