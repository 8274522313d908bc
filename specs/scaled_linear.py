"""A scale or a norm of rows, followed by a linear layer that reads them once.

Axes: m rows, k features, n results.
"""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import layer_norm
from superopt import maximum
from superopt import round_to
from superopt import spec

EPS = 1e-5
LARGEST = 127  # of int8
CASES = [
    Case("prefill", m=4096, k=4096, n=4096),
    Case("decode", m=16, k=4096, n=4096),
    Case("fp32", m=1024, k=1024, n=1024, dtype="fp32"),
]


def layer_norm_linear_reference(x, w):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], eps=EPS) @ w


def affine_norm_linear_reference(x, weight, bias, w):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps=EPS) @ w


def amax_linear_reference(x, w):
    return (x / x.abs().amax(-1, keepdim=True).clamp(min=EPS)) @ w


def quantised_linear_reference(x, w):
    scale = x.abs().amax(-1, keepdim=True).clamp(min=EPS) / LARGEST
    return ((x / scale).round().clamp(-LARGEST, LARGEST) @ w) * scale


@spec(cases=CASES, dtype="bf16", reference=layer_norm_linear_reference)
def layer_norm_linear(
    x: Annotated[Tensor, "m k"], w: Annotated[Tensor, "k n"]
) -> Annotated[Tensor, "m n"]:
    return (layer_norm(x, "k", eps=EPS) * w).sum("k")


@spec(cases=CASES, dtype="bf16", reference=affine_norm_linear_reference)
def affine_norm_linear(
    x: Annotated[Tensor, "m k"],
    weight: Annotated[Tensor, "k"],
    bias: Annotated[Tensor, "k"],
    w: Annotated[Tensor, "k n"],
) -> Annotated[Tensor, "m n"]:
    return (layer_norm(x, "k", weight, bias, eps=EPS) * w).sum("k")


@spec(cases=CASES, dtype="bf16", reference=amax_linear_reference)
def amax_linear(
    x: Annotated[Tensor, "m k"], w: Annotated[Tensor, "k n"]
) -> Annotated[Tensor, "m n"]:
    """Rows are scaled by their largest absolute value; nothing is rounded."""
    scale = maximum(abs(x).max("k"), EPS)
    return (x / scale * w).sum("k")


@spec(cases=CASES, dtype="bf16", reference=quantised_linear_reference)
def quantised_linear(
    x: Annotated[Tensor, "m k"], w: Annotated[Tensor, "k n"]
) -> Annotated[Tensor, "m n"]:
    """Rows in whole numbers of a common scale: a rounding is in the way of a single pass."""
    scale = maximum(abs(x).max("k"), EPS) / LARGEST
    return (round_to(x / scale, "int8") * w).sum("k") * scale
