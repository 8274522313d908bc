"""Causal attention between queries and keys that are normalised over their features first.

Axes: b batch, h heads, m queries, n keys, d and e features of keys and of values.
"""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import index
from superopt import inf
from superopt import rms_norm
from superopt import rsqrt
from superopt import size
from superopt import softmax
from superopt import spec
from superopt import where

EPS = 1e-6


def qk_norm_attention_reference(q, k, v, q_weight, k_weight):
    d = q.shape[-1:]
    q = torch.nn.functional.rms_norm(q, d, q_weight, EPS)
    k = torch.nn.functional.rms_norm(k, d, k_weight, EPS)
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


@spec(
    cases=[
        Case("prefill", b=4, h=32, m=4096, n=4096, d=128, e=128),
        Case("long", b=1, h=32, m=16384, n=16384, d=128, e=128),
        Case("fp32", b=1, h=16, m=1024, n=1024, d=64, e=64, dtype="fp32"),
    ],
    dtype="bf16",
    reference=qk_norm_attention_reference,
)
def qk_norm_attention(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    q_weight: Annotated[Tensor, "d"],
    k_weight: Annotated[Tensor, "d"],
) -> Annotated[Tensor, "b h m e"]:
    queries = rms_norm(q, "d", q_weight, eps=EPS)
    keys = rms_norm(k, "d", k_weight, eps=EPS)
    scores = (queries * keys).sum("d") * rsqrt(size("d"))
    seen = where(index("m") >= index("n"), scores, -inf)
    return (softmax(seen, "n") * v).sum("n")
