"""Layer normalisation of every row, with and without weight and bias."""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import layer_norm as layer_norm_of
from superopt import spec

CASES = [
    Case("square", m=8192, n=8192),
    Case("narrow", m=16384, n=1024),
    Case("fp32", m=4096, n=4096, dtype="fp32"),
]
EPS = 1e-5


def layer_norm_reference(x, weight, bias):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps=EPS)


def plain_reference(x):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], eps=EPS)


@spec(cases=CASES, dtype="bf16", reference=layer_norm_reference)
def layer_norm(
    x: Annotated[Tensor, "m n"], weight: Annotated[Tensor, "n"], bias: Annotated[Tensor, "n"]
) -> Annotated[Tensor, "m n"]:
    return layer_norm_of(x, "n", weight, bias, eps=EPS)


@spec(cases=CASES, dtype="bf16", reference=plain_reference)
def plain(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n"]:
    return layer_norm_of(x, "n", eps=EPS)
