"""Scaled dot product attention: plain, causal, with the logsumexp of the rows, and decode.

Axes: b batch, h heads, m queries, n keys, d and e features of keys and of values.
"""

from typing import Annotated

import torch
from torch.nn.functional import scaled_dot_product_attention

from superopt import Case
from superopt import Tensor
from superopt import index
from superopt import inf
from superopt import logsumexp
from superopt import rsqrt
from superopt import size
from superopt import softmax
from superopt import spec
from superopt import where

PREFILL = [
    Case("prefill", b=4, h=32, m=4096, n=4096, d=128, e=128),
    Case("long", b=1, h=32, m=16384, n=16384, d=128, e=128),
    Case("narrow", b=4, h=32, m=4608, n=4608, d=64, e=64),
    Case("fp32", b=1, h=16, m=1024, n=1024, d=64, e=64, dtype="fp32"),
]
LONG_FEATURES = [
    Case("prefill", b=4, h=16, m=4096, n=4096, d=512, e=128),
    Case("fp32", b=1, h=4, m=512, n=512, d=512, e=64, dtype="fp32"),
]


def attention_reference(q, k, v):
    return scaled_dot_product_attention(q, k, v)


def causal_reference(q, k, v):
    return scaled_dot_product_attention(q, k, v, is_causal=True)


def with_lse_reference(q, k, v):
    scores = torch.einsum("bhmd,bhnd->bhmn", q, k) / q.shape[-1] ** 0.5
    return scaled_dot_product_attention(q, k, v), torch.logsumexp(scores, dim=-1)


def decode_reference(q, k, v):
    return scaled_dot_product_attention(q.unsqueeze(2), k, v).squeeze(2)


@spec(cases=PREFILL, dtype="bf16", reference=attention_reference)
def attention(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h m e"]:
    scores = (q * k).sum("d") * rsqrt(size("d"))
    return (softmax(scores, "n") * v).sum("n")


@spec(cases=PREFILL, dtype="bf16", reference=causal_reference)
def causal(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h m e"]:
    scores = (q * k).sum("d") * rsqrt(size("d"))
    seen = where(index("m") >= index("n"), scores, -inf)
    return (softmax(seen, "n") * v).sum("n")


@spec(cases=PREFILL, dtype="bf16", reference=with_lse_reference)
def with_lse(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> tuple[Annotated[Tensor, "b h m e"], Annotated[Tensor, "b h m", "fp32"]]:
    scores = (q * k).sum("d") * rsqrt(size("d"))
    return (softmax(scores, "n") * v).sum("n"), logsumexp(scores, "n")


@spec(cases=LONG_FEATURES, dtype="bf16", reference=attention_reference)
def long_features(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h m e"]:
    """Attention whose queries are too long for one tile, so that scores need a walk of theirs."""
    scores = (q * k).sum("d") * rsqrt(size("d"))
    return (softmax(scores, "n") * v).sum("n")


@spec(
    cases=[
        Case("batch", b=8, h=32, n=8192, d=128, e=128),
        Case("long", b=1, h=32, n=131072, d=128, e=128),
        Case("fp32", b=1, h=16, n=8192, d=64, e=64, dtype="fp32"),
    ],
    dtype="bf16",
    reference=decode_reference,
)
def decode(
    q: Annotated[Tensor, "b h d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h e"]:
    scores = (q * k).sum("d") * rsqrt(size("d"))
    return (softmax(scores, "n") * v).sum("n")
