"""A small spec for tests: the sum of every row up to a length."""

from typing import Annotated

import torch

from superopt import Case
from superopt import Scalar
from superopt import Tensor
from superopt import index
from superopt import spec
from superopt import where


def row_sum_reference(x, length):
    return torch.where(torch.arange(x.shape[1]) < length, x, 0).sum(1)


@spec(
    cases=[Case("small", m=6, n=40, length=30), Case("other", m=3, n=50, dtype="fp32")],
    dtype="bf16",
    reference=row_sum_reference,
)
def row_sum(
    x: Annotated[Tensor, "m n"], length: Annotated[Scalar, "int32"]
) -> Annotated[Tensor, "m", "fp32"]:
    return where(index("n") < length, x, 0).sum("n")
