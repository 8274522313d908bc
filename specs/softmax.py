"""Softmax of every row, and its logarithm."""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import log_softmax as log_softmax_of
from superopt import softmax as softmax_of
from superopt import spec

CASES = [
    Case("square", m=8192, n=8192),
    Case("vocabulary", m=8192, n=131072),
    Case("short", m=32768, n=512),
    Case("fp32", m=4096, n=8192, dtype="fp32"),
]


def softmax_reference(x):
    return torch.softmax(x, dim=-1)


def log_softmax_reference(x):
    return torch.log_softmax(x, dim=-1)


@spec(cases=CASES, dtype="bf16", reference=softmax_reference)
def softmax(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n"]:
    return softmax_of(x, "n")


@spec(cases=CASES, dtype="bf16", reference=log_softmax_reference)
def log_softmax(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n"]:
    return log_softmax_of(x, "n")
