"""Results of attention over parts of the keys, joined.

Axes: p parts, m rows (queries of all heads), e features of values.
"""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import logsumexp
from superopt import softmax
from superopt import spec

CASES = [
    Case("few", p=8, m=4096, e=128),
    Case("many", p=256, m=512, e=128),
    Case("fp32", p=16, m=1024, e=64, dtype="fp32"),
]


def merged_reference(o, lse):
    weights = torch.nan_to_num(torch.softmax(lse, dim=0), nan=0.0)
    return (weights[..., None] * o).sum(0), torch.logsumexp(lse, dim=0)


@spec(cases=CASES, dtype="bf16", reference=merged_reference)
def merged(
    o: Annotated[Tensor, "p m e"], lse: Annotated[Tensor, "p m", "fp32"]
) -> tuple[Annotated[Tensor, "m e"], Annotated[Tensor, "m", "fp32"]]:
    """A part of which all keys were masked has the normaliser -inf, and no weight."""
    return (softmax(lse, "p") * o).sum("p"), logsumexp(lse, "p")
