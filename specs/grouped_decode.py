"""Attention of few queries to a cache of keys and values that a group of heads shares.

Axes: b batch, g groups of heads, r heads of a group, m queries (the last positions of the
sequence), n keys of the cache, d and e features of keys and of values.
"""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import index
from superopt import inf
from superopt import rsqrt
from superopt import size
from superopt import softmax
from superopt import spec
from superopt import tanh
from superopt import where

CAP = 50  # no score passes it

DECODE = [
    Case("B8", b=8, g=8, r=4, n=8192, d=128, e=128),
    Case("B1", b=1, g=8, r=4, n=131072, d=128, e=128),
    Case("fp32", b=1, g=4, r=4, n=8192, d=64, e=64, dtype="fp32"),
]
STEP = [
    Case("B8", b=8, g=8, r=4, m=4, n=8192, d=128, e=128),
    Case("B1", b=1, g=8, r=4, m=4, n=131072, d=128, e=128),
    Case("fp32", b=1, g=4, r=4, m=4, n=8192, d=64, e=64, dtype="fp32"),
]


def scores_of(q, k):
    return torch.einsum("bgrd,bgnd->bgrn", q, k) / q.shape[-1] ** 0.5


def attend(scores, v):
    return torch.einsum("bgrn,bgne->bgre", torch.softmax(scores, dim=-1), v)


def grouped_decode_reference(q, k, v):
    return attend(scores_of(q, k), v)


def softcap_decode_reference(q, k, v):
    return attend(CAP * torch.tanh(scores_of(q, k) / CAP), v)


def alibi_decode_reference(q, k, v, slope):
    scores = scores_of(q, k)
    ago = torch.arange(scores.shape[-1] - 1, -1, -1)
    return attend(scores - slope[None, :, :, None] * ago, v)


def grouped_step_reference(q, k, v):
    m, n = q.shape[-2], k.shape[-2]
    scores = torch.einsum("bgrmd,bgnd->bgrmn", q, k) / q.shape[-1] ** 0.5
    seen = torch.ones(m, n, dtype=torch.bool).tril(n - m)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), dim=-1)
    return torch.einsum("bgrmn,bgne->bgrme", torch.nan_to_num(weights, nan=0.0), v)


@spec(cases=DECODE, dtype="bf16", reference=grouped_decode_reference)
def grouped_decode(
    q: Annotated[Tensor, "b g r d"],
    k: Annotated[Tensor, "b g n d"],
    v: Annotated[Tensor, "b g n e"],
) -> Annotated[Tensor, "b g r e"]:
    """One query a sequence."""
    scores = (q * k).sum("d") * rsqrt(size("d"))
    return (softmax(scores, "n") * v).sum("n")


@spec(cases=DECODE, dtype="bf16", reference=softcap_decode_reference)
def softcap_decode(
    q: Annotated[Tensor, "b g r d"],
    k: Annotated[Tensor, "b g n d"],
    v: Annotated[Tensor, "b g n e"],
) -> Annotated[Tensor, "b g r e"]:
    """One query a sequence; scores go through a hyperbolic tangent, so that none passes ``CAP``."""
    scores = CAP * tanh((q * k).sum("d") * rsqrt(size("d")) / CAP)
    return (softmax(scores, "n") * v).sum("n")


@spec(cases=DECODE, dtype="bf16", reference=alibi_decode_reference)
def alibi_decode(
    q: Annotated[Tensor, "b g r d"],
    k: Annotated[Tensor, "b g n d"],
    v: Annotated[Tensor, "b g n e"],
    slope: Annotated[Tensor, "g r", "fp32"],
) -> Annotated[Tensor, "b g r e"]:
    """One query a sequence, at the last position; scores fall with the distance to it."""
    distance = index("n") - (size("n") - 1)
    scores = (q * k).sum("d") * rsqrt(size("d")) + slope * distance
    return (softmax(scores, "n") * v).sum("n")


@spec(cases=STEP, dtype="bf16", reference=grouped_step_reference)
def grouped_step(
    q: Annotated[Tensor, "b g r m d"],
    k: Annotated[Tensor, "b g n d"],
    v: Annotated[Tensor, "b g n e"],
) -> Annotated[Tensor, "b g r m e"]:
    """Some queries a sequence, at its last positions; each sees keys up to its own."""
    scores = (q * k).sum("d") * rsqrt(size("d"))
    seen = index("n") <= index("m") + (size("n") - size("m"))
    return (softmax(where(seen, scores, -inf), "n") * v).sum("n")
