"""Other weights than those of a softmax: differences of two, gates, one more, features, twice, all.

Axes: b batch, h heads, m queries, n keys, d and e features of keys and of values, f random
features.
"""

import math
from typing import Annotated

import torch

from superopt import Case
from superopt import Scalar
from superopt import Tensor
from superopt import argmax
from superopt import exp
from superopt import gather
from superopt import inf
from superopt import log
from superopt import maximum
from superopt import rsqrt
from superopt import sigmoid
from superopt import size
from superopt import softmax
from superopt import spec
from superopt import where

FLOOR = 1e-4  # what is added to every random feature
CASES = [
    Case("prefill", b=4, h=32, m=4096, n=4096, d=128, e=128),
    Case("fp32", b=1, h=16, m=1024, n=1024, d=64, e=64, dtype="fp32"),
]


def torch_scores(q, k):
    return torch.einsum("bhmd,bhnd->bhmn", q, k) / q.shape[-1] ** 0.5


def differential_reference(q1, k1, q2, k2, v, share):
    first = torch.softmax(torch_scores(q1, k1), dim=-1)
    return (first - share * torch.softmax(torch_scores(q2, k2), dim=-1)) @ v


def sigmoid_attention_reference(q, k, v):
    scores = torch_scores(q, k)
    return torch.special.expit(scores - math.log(scores.shape[-1])) @ v


def off_by_one_reference(q, k, v):
    scores = torch_scores(q, k)
    further = torch.zeros_like(scores[..., :1])
    return torch.softmax(torch.cat([scores, further], dim=-1), dim=-1)[..., :-1] @ v


def hard_attention_reference(q, k, v):
    best = torch_scores(q, k).argmax(dim=-1, keepdim=True)
    return torch.take_along_dim(v, best, dim=-2)


def random_features_reference(u, v):
    features = torch.nan_to_num(torch.exp(u - u.amax(-1, keepdim=True)), nan=0.0) + FLOOR
    return features @ v, features.sum(-1)


def softmax_twice_reference(x):
    return torch.softmax(torch.softmax(x, dim=-1), dim=-1)


@spec(
    cases=[
        Case("prefill", b=4, h=16, m=4096, n=4096, d=64, e=128, share=0.8),
        Case("fp32", b=1, h=8, m=1024, n=1024, d=64, e=64, dtype="fp32", share=0.8),
    ],
    dtype="bf16",
    reference=differential_reference,
)
def differential(
    q1: Annotated[Tensor, "b h m d"],
    k1: Annotated[Tensor, "b h n d"],
    q2: Annotated[Tensor, "b h m d"],
    k2: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    share: Scalar,
) -> Annotated[Tensor, "b h m e"]:
    """The difference of two attentions to the same values."""
    first = softmax((q1 * k1).sum("d") * rsqrt(size("d")), "n")
    second = softmax((q2 * k2).sum("d") * rsqrt(size("d")), "n")
    return ((first - share * second) * v).sum("n")


@spec(cases=CASES, dtype="bf16", reference=sigmoid_attention_reference)
def sigmoid_attention(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h m e"]:
    """Every key is weighted by itself: nothing has to be repaired."""
    weights = sigmoid((q * k).sum("d") * rsqrt(size("d")) - log(size("n")))
    return (weights * v).sum("n")


@spec(cases=CASES, dtype="bf16", reference=off_by_one_reference)
def off_by_one(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h m e"]:
    """One is added below, as if a key had the score 0 and no value: a row may attend to nothing."""
    scores = (q * k).sum("d") * rsqrt(size("d"))
    largest = maximum(scores.max("n"), 0)
    weights = exp(scores - largest)
    return (weights / (weights.sum("n") + exp(-largest)) * v).sum("n")


@spec(
    cases=[*CASES, Case("decode", b=32, h=32, m=1, n=8192, d=128, e=128)],
    dtype="bf16",
    reference=hard_attention_reference,
)
def hard_attention(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h m e"]:
    """All weight on the key that fits best, the first of several."""
    scores = (q * k).sum("d") * rsqrt(size("d"))
    return gather(v, argmax(scores, "n"), "n")


@spec(
    cases=[
        Case("keys", b=128, m=256, n=8192, e=128),
        Case("fp32", b=16, m=64, n=4096, e=64, dtype="fp32"),
    ],
    dtype="bf16",
    reference=random_features_reference,
)
def random_features(
    u: Annotated[Tensor, "b m n"], v: Annotated[Tensor, "b n e"]
) -> tuple[Annotated[Tensor, "b m e", "fp32"], Annotated[Tensor, "b m", "fp32"]]:
    """Sums of values over positive features of all keys n; a row m is one feature."""
    largest = u.max("n")
    features = exp(u - where(largest == -inf, 0, largest)) + FLOOR
    return (features * v).sum("n"), features.sum("n")


@spec(
    cases=[
        Case("square", m=8192, n=8192),
        Case("long", m=1024, n=131072),
        Case("fp32", m=4096, n=8192, dtype="fp32"),
    ],
    dtype="bf16",
    reference=softmax_twice_reference,
)
def softmax_twice(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n"]:
    """No single walk has both normalisers."""
    return softmax(softmax(x, "n"), "n")
