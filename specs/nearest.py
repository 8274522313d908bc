"""The nearest of many centres: squared distances, of which the least of every row are kept.

Axes: m points, n centres, k features. The squares of a point are the same for all centres, so the
products of points and centres are all that has to be walked.
"""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import spec
from superopt import top_k

NEIGHBOURS = 8
CASES = [
    Case("codebook", m=65536, n=8192, k=512),
    Case("fp32", m=1024, n=2048, k=384, dtype="fp32"),
]


def nearest_reference(x, c):
    return (c.square().sum(-1) - 2 * x @ c.T).amin(-1) + x.square().sum(-1)


def neighbours_reference(x, c):
    apart = c.square().sum(-1) - 2 * x @ c.T
    return torch.sort(apart, dim=-1).values[:, :NEIGHBOURS] + x.square().sum(-1, keepdim=True)


@spec(cases=CASES, dtype="bf16", reference=nearest_reference)
def nearest(
    x: Annotated[Tensor, "m k"], c: Annotated[Tensor, "n k"]
) -> Annotated[Tensor, "m", "fp32"]:
    """The squared distance to the nearest centre."""
    apart = (c * c).sum("k") - 2 * (x * c).sum("k")
    return apart.min("n") + (x * x).sum("k")


@spec(cases=CASES, dtype="bf16", reference=neighbours_reference)
def neighbours(
    x: Annotated[Tensor, "m k"], c: Annotated[Tensor, "n k"]
) -> Annotated[Tensor, "m t", "fp32"]:
    """The squared distances to the nearest centres, the least first."""
    close = 2 * (x * c).sum("k") - (c * c).sum("k")
    best, _ = top_k(close, axis="n", k=NEIGHBOURS, into="t")
    return (x * x).sum("k") - best
