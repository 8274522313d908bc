"""Losses, poolings and norms over rows, as a user would write them."""

from typing import Annotated

import torch

from superopt import Case
from superopt import Scalar
from superopt import Tensor
from superopt import exp
from superopt import index
from superopt import l2_normalize
from superopt import layer_norm
from superopt import log
from superopt import log_softmax
from superopt import logsumexp
from superopt import maximum
from superopt import relu
from superopt import rms_norm
from superopt import softmax
from superopt import spec
from superopt import sqrt
from superopt import var
from superopt import where

CASES = [Case("small", m=512, n=1000)]


def cross_entropy_reference(logits, labels):
    return torch.nn.functional.cross_entropy(logits, labels, reduction="none")


def residual_norm_reference(x, residual, weight):
    total = x + residual
    return torch.nn.functional.rms_norm(total, total.shape[-1:], weight, 1e-6), total


def mean_pool_reference(x, keep):
    return (x * keep[:, :, None]).sum(1) / keep.sum(1).clamp(min=1)[:, None]


def entropy_reference(x):
    p = torch.softmax(x, dim=-1)
    return -(p * torch.log_softmax(x, dim=-1)).sum(-1)


def cosine_reference(x, y):
    return torch.nn.functional.cosine_similarity(x, y, dim=-1, eps=1e-8)


def statistics_reference(x):
    return x.mean(-1), x.var(-1, unbiased=False), x.amin(-1), x.amax(-1)


def linear_loss_reference(x, w):
    return torch.logsumexp(x @ w, dim=-1)


def positive_reference(x):
    return x > 0


@spec(cases=CASES, reference=cross_entropy_reference)
def cross_entropy(
    logits: Annotated[Tensor, "m n"], labels: Annotated[Tensor, "m", "int64"]
) -> Annotated[Tensor, "m", "fp32"]:
    picked = where(index("n") == labels, logits, 0).sum("n")
    return logsumexp(logits, "n") - picked


@spec(cases=CASES, reference=residual_norm_reference)
def residual_norm(
    x: Annotated[Tensor, "m n"], residual: Annotated[Tensor, "m n"], weight: Annotated[Tensor, "n"]
) -> tuple[Annotated[Tensor, "m n"], Annotated[Tensor, "m n"]]:
    total = x + residual
    return rms_norm(total, "n", weight), total


@spec(cases=[Case("small", b=8, n=500, d=256)], reference=mean_pool_reference)
def mean_pool(
    x: Annotated[Tensor, "b n d"], keep: Annotated[Tensor, "b n", "bool"]
) -> Annotated[Tensor, "b d"]:
    count = where(keep, 1, 0).sum("n")
    return where(keep, x, 0).sum("n") / maximum(count, 1)


@spec(cases=CASES, reference=entropy_reference)
def entropy(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m", "fp32"]:
    return -(softmax(x, "n") * log_softmax(x, "n")).sum("n")


@spec(cases=CASES, reference=cosine_reference)
def cosine_similarity(
    x: Annotated[Tensor, "m n"], y: Annotated[Tensor, "m n"]
) -> Annotated[Tensor, "m"]:
    lengths = maximum(sqrt((x**2).sum("n")), 1e-8) * maximum(sqrt((y**2).sum("n")), 1e-8)
    return (x * y).sum("n") / lengths


@spec(cases=CASES, reference=lambda x: torch.nn.functional.normalize(x, dim=-1))
def unit_rows(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n"]:
    return l2_normalize(x, "n")


@spec(cases=CASES, reference=statistics_reference)
def statistics(
    x: Annotated[Tensor, "m n"],
) -> tuple[
    Annotated[Tensor, "m", "fp32"],
    Annotated[Tensor, "m", "fp32"],
    Annotated[Tensor, "m"],
    Annotated[Tensor, "m"],
]:
    return x.mean("n"), var(x, "n"), x.min("n"), x.max("n")


@spec(cases=[Case("small", m=256, k=512, n=2000)], reference=linear_loss_reference)
def linear_logsumexp(
    x: Annotated[Tensor, "m k"], w: Annotated[Tensor, "k n"]
) -> Annotated[Tensor, "m", "fp32"]:
    return logsumexp((x * w).sum("k"), "n")


@spec(
    cases=[Case("small", b=4, c=32, y=24, x=40)],
    reference=lambda t: torch.nn.functional.instance_norm(t, eps=1e-5),
)
def instance_norm(t: Annotated[Tensor, "b c y x"]) -> Annotated[Tensor, "b c y x"]:
    centred = t - t.mean("y", "x")
    return centred * ((centred**2).mean("y x") + 1e-5) ** -0.5


@spec(cases=CASES, reference=positive_reference)
def positive(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n", "bool"]:
    return x > 0


def stable_softplus(y):
    """Without overflow: the larger of 0 and y, plus what is left."""
    return relu(y) + log(1 + exp(-abs(y)))


@spec(cases=CASES, reference=lambda x, beta: torch.nn.functional.softplus(x, beta, threshold=1e9))
def softplus(x: Annotated[Tensor, "m n"], beta: Scalar) -> Annotated[Tensor, "m n"]:
    return stable_softplus(beta * x) / beta


@spec(
    cases=CASES, reference=lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]).square().mean()
)
def norm_loss(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "", "fp32"]:
    return (layer_norm(x, "n") ** 2).mean("m n")
