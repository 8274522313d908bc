"""Attention at the sizes that benchmarks compare and no user need search for.

Axes: b batch, h heads (g groups of r), m queries, n keys, d and e features of keys and of values.
"""

from typing import Annotated

import torch
from torch.nn.functional import scaled_dot_product_attention

from superopt import Case
from superopt import Tensor
from superopt import index
from superopt import inf
from superopt import rsqrt
from superopt import size
from superopt import softmax
from superopt import spec
from superopt import where

SIZES = [
    Case("4608", b=4, h=32, m=4608, n=4608, d=128, e=128),
    Case("1000", b=16, h=32, m=1000, n=1000, d=128, e=128),
    Case("4097", b=4, h=32, m=4097, n=4097, d=128, e=128),
]
GROUPED = [Case("16384", b=1, g=8, r=4, m=16384, n=16384, d=128, e=128)]


def attention_reference(q, k, v):
    return scaled_dot_product_attention(q, k, v)


def grouped_reference(q, k, v):
    scores = torch.einsum("bgrmd,bgnd->bgrmn", q, k) / q.shape[-1] ** 0.5
    m, n = scores.shape[-2:]
    hidden = torch.arange(n)[None, :] > torch.arange(m)[:, None]
    weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1)
    return torch.einsum("bgrmn,bgne->bgrme", weights, v)


@spec(cases=SIZES, dtype="bf16", reference=attention_reference)
def attention_sizes(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h m e"]:
    scores = (q * k).sum("d") * rsqrt(size("d"))
    return (softmax(scores, "n") * v).sum("n")


@spec(cases=GROUPED, dtype="bf16", reference=grouped_reference)
def grouped_causal(
    q: Annotated[Tensor, "b g r m d"],
    k: Annotated[Tensor, "b g n d"],
    v: Annotated[Tensor, "b g n e"],
) -> Annotated[Tensor, "b g r m e"]:
    scores = (q * k).sum("d") * rsqrt(size("d"))
    seen = where(index("m") >= index("n"), scores, -inf)
    return (softmax(seen, "n") * v).sum("n")
