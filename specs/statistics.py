"""Statistics and lengths of rows, from one pass over them.

Axes: m rows, n features; b batch, g groups, c channels of a group, s positions.
"""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import layer_norm
from superopt import maximum
from superopt import rms_norm
from superopt import spec
from superopt import sqrt
from superopt import var
from superopt import where

CASES = [
    Case("square", m=8192, n=8192),
    Case("long", m=1024, n=131072),
    Case("fp32", m=4096, n=8192, dtype="fp32"),
]
EPS = 1e-5


def variance_reference(x):
    return x.var(-1, unbiased=False)


def moments_reference(x):
    deviation, mean = torch.std_mean(x, dim=-1, unbiased=False)
    return mean, 1 / torch.sqrt(deviation.square() + EPS)


def group_moments_reference(x):
    rows = x.flatten(2)
    return rows.mean(-1), torch.rsqrt(rows.var(-1, unbiased=False) + EPS)


def stable_norm_reference(x):
    return torch.linalg.vector_norm(x, dim=-1)


def cosine_similarity_reference(x, y):
    return torch.nn.functional.cosine_similarity(x, y, dim=-1, eps=1e-8)


def rms_norm_amax_reference(x):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], eps=EPS).abs().amax(-1)


def centred_amax_reference(x):
    return (x - x.mean(-1, keepdim=True)).abs().amax(-1)


def layer_norm_amax_reference(x):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], eps=EPS).abs().amax(-1)


def affine_norm_amax_reference(x, weight):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, eps=EPS).abs().amax(-1)


@spec(cases=CASES, dtype="bf16", reference=variance_reference)
def variance(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m", "fp32"]:
    return var(x, "n")


@spec(cases=CASES, dtype="bf16", reference=moments_reference)
def moments(
    x: Annotated[Tensor, "m n"],
) -> tuple[Annotated[Tensor, "m", "fp32"], Annotated[Tensor, "m", "fp32"]]:
    """What a layer norm needs to know of a row: its mean, and one over its deviation."""
    return x.mean("n"), (var(x, "n") + EPS) ** -0.5


@spec(
    cases=[
        Case("image", b=16, g=32, c=16, s=4096),
        Case("fp32", b=8, g=32, c=8, s=1024, dtype="fp32"),
    ],
    dtype="bf16",
    reference=group_moments_reference,
)
def group_moments(
    x: Annotated[Tensor, "b g c s"],
) -> tuple[Annotated[Tensor, "b g", "fp32"], Annotated[Tensor, "b g", "fp32"]]:
    """The same of groups of channels."""
    mean = x.mean("c", "s")
    return mean, (((x - mean) ** 2).mean("c", "s") + EPS) ** -0.5


@spec(cases=CASES, dtype="bf16", reference=stable_norm_reference)
def stable_norm(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m", "fp32"]:
    """The length of a row, of which no square overflows."""
    largest = abs(x).max("n")
    scale = where(largest == 0, 1, largest)
    return scale * sqrt(((x / scale) ** 2).sum("n"))


@spec(cases=CASES, dtype="bf16", reference=cosine_similarity_reference)
def cosine_similarity(
    x: Annotated[Tensor, "m n"], y: Annotated[Tensor, "m n"]
) -> Annotated[Tensor, "m", "fp32"]:
    x_length = maximum(sqrt((x**2).sum("n")), 1e-8)
    y_length = maximum(sqrt((y**2).sum("n")), 1e-8)
    return (x / x_length * (y / y_length)).sum("n")


@spec(cases=CASES, dtype="bf16", reference=rms_norm_amax_reference)
def rms_norm_amax(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m", "fp32"]:
    """The largest absolute value of a normalised row, from which a scale is made."""
    return abs(rms_norm(x, "n", eps=EPS)).max("n")


@spec(cases=CASES, dtype="bf16", reference=centred_amax_reference)
def centred_amax(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m", "fp32"]:
    """The largest distance from the mean of a row."""
    return abs(x - x.mean("n")).max("n")


@spec(cases=CASES, dtype="bf16", reference=layer_norm_amax_reference)
def layer_norm_amax(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m", "fp32"]:
    return abs(layer_norm(x, "n", eps=EPS)).max("n")


@spec(cases=CASES, dtype="bf16", reference=affine_norm_amax_reference)
def affine_norm_amax(
    x: Annotated[Tensor, "m n"], weight: Annotated[Tensor, "n"]
) -> Annotated[Tensor, "m", "fp32"]:
    """With a weight for every feature; it takes a second pass."""
    return abs(layer_norm(x, "n", weight, eps=EPS)).max("n")
