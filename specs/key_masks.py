"""Attention whose keys are hidden or moved by tensors, or are values as well.

Axes: b batch, h heads, m queries, n keys, d and e features of keys and of values, c features of
what is both key and value.
"""

from typing import Annotated

import torch

from superopt import Case
from superopt import Scalar
from superopt import Tensor
from superopt import index
from superopt import inf
from superopt import rsqrt
from superopt import size
from superopt import softmax
from superopt import spec
from superopt import where

CASES = [
    Case("prefill", b=4, h=32, m=4096, n=4096, d=128, e=128),
    Case("fp32", b=1, h=16, m=1024, n=1024, d=64, e=64, dtype="fp32"),
]
PREFIXED = [
    Case("prefill", b=4, h=32, m=4096, n=4096, d=128, e=128, prefix=512),
    Case("fp32", b=1, h=16, m=1024, n=1024, d=64, e=64, dtype="fp32", prefix=100),
]
LATENT = [
    Case("decode", b=32, h=128, n=8192, c=256),
    Case("fp32", b=4, h=16, n=1024, c=64, dtype="fp32"),
]


def scores_of(q, k):
    return torch.einsum("bhmd,bhnd->bhmn", q, k) / q.shape[-1] ** 0.5


def attend(scores, hidden, v):
    """Weights are 0 where a whole row is hidden."""
    weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1)
    return torch.nan_to_num(weights, nan=0.0) @ v


def padded_reference(q, k, v, keep):
    return attend(scores_of(q, k), ~keep[:, None, None, :], v)


def prefix_reference(q, k, v, prefix):
    scores = scores_of(q, k)
    m, n = scores.shape[-2:]
    i, j = torch.arange(m)[:, None], torch.arange(n)[None, :]
    return attend(scores, (j > i) & (j >= prefix), v)


def relative_bias_reference(q, k, v, bias):
    return torch.softmax(scores_of(q, k) + bias, dim=-1) @ v


def latent_reference(q, latent):
    scores = torch.einsum("bhc,bnc->bhn", q, latent) / q.shape[-1] ** 0.5
    return torch.einsum("bhn,bnc->bhc", torch.softmax(scores, dim=-1), latent)


@spec(cases=CASES, dtype="bf16", reference=padded_reference)
def padded(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    keep: Annotated[Tensor, "b n", "bool"],
) -> Annotated[Tensor, "b h m e"]:
    """Keys of padding are hidden from every query, whatever they and their values hold."""
    scores = (q * k).sum("d") * rsqrt(size("d"))
    return (softmax(where(keep, scores, -inf), "n") * v).sum("n")


@spec(cases=PREFIXED, dtype="bf16", reference=prefix_reference)
def prefix(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    prefix: Annotated[Scalar, "int32"],
) -> Annotated[Tensor, "b h m e"]:
    """Every query sees the prefix, and what is not behind itself."""
    n = index("n")
    scores = (q * k).sum("d") * rsqrt(size("d"))
    return (softmax(where((n <= index("m")) | (n < prefix), scores, -inf), "n") * v).sum("n")


@spec(cases=CASES, dtype="bf16", reference=relative_bias_reference)
def relative_bias(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    bias: Annotated[Tensor, "h m n"],
) -> Annotated[Tensor, "b h m e"]:
    """A tensor is added to the scores, the same for all of the batch."""
    scores = (q * k).sum("d") * rsqrt(size("d")) + bias
    return (softmax(scores, "n") * v).sum("n")


@spec(cases=LATENT, dtype="bf16", reference=latent_reference)
def latent(
    q: Annotated[Tensor, "b h c"], latent: Annotated[Tensor, "b n c"]
) -> Annotated[Tensor, "b h c"]:
    """One tensor is key and value of all heads."""
    scores = (q * latent).sum("c") * rsqrt(size("c"))
    return (softmax(scores, "n") * latent).sum("n")
