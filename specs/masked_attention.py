"""Attention with masks and changes of the scores: windows, biases, caps, documents, sinks.

Axes: b batch, h heads, m queries, n keys, d and e features of keys and of values. All of them are
causal: a query sees its own position and earlier ones.
"""

from typing import Annotated

import torch

from superopt import Case
from superopt import Segments
from superopt import Tensor
from superopt import exp
from superopt import index
from superopt import inf
from superopt import maximum
from superopt import rsqrt
from superopt import size
from superopt import softmax
from superopt import spec
from superopt import tanh
from superopt import where

WINDOW = 1024  # keys that a query of a sliding window sees
CAP = 50  # no score passes it

PREFILL = [
    Case("prefill", b=4, h=32, m=4096, n=4096, d=128, e=128),
    Case("long", b=1, h=32, m=16384, n=16384, d=128, e=128),
    Case("fp32", b=1, h=16, m=1024, n=1024, d=64, e=64, dtype="fp32"),
]
WINDOWED = [
    Case("long", b=1, h=32, m=16384, n=16384, d=128, e=128),
    Case("prefill", b=4, h=32, m=4096, n=4096, d=128, e=128),
    Case("fp32", b=1, h=16, m=2048, n=2048, d=64, e=64, dtype="fp32"),
]
PACKED = [
    Case("prefill", b=4, h=32, m=4096, n=4096, d=128, e=128, first=Segments(4)),
    Case("long", b=1, h=32, m=16384, n=16384, d=128, e=128, first=Segments(8)),
    Case("fp32", b=1, h=16, m=1024, n=1024, d=64, e=64, dtype="fp32", first=Segments(3)),
]


def scores_of(q, k):
    """Scaled scores, query positions and key positions."""
    scores = torch.einsum("bhmd,bhnd->bhmn", q, k) / q.shape[-1] ** 0.5
    m, n = scores.shape[-2:]
    return scores, torch.arange(m)[:, None], torch.arange(n)[None, :]


def attend(scores, hidden, v):
    """Weights are 0 where a whole row is hidden."""
    weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1)
    return torch.nan_to_num(weights, nan=0.0) @ v


def sliding_window_reference(q, k, v):
    scores, i, j = scores_of(q, k)
    return attend(scores, (j > i) | (j <= i - WINDOW), v)


def alibi_reference(q, k, v, slope):
    scores, i, j = scores_of(q, k)
    return attend(scores - slope[None, :, None, None] * (i - j), j > i, v)


def softcap_reference(q, k, v):
    scores, i, j = scores_of(q, k)
    return attend(CAP * torch.tanh(scores / CAP), j > i, v)


def document_reference(q, k, v, first):
    scores, i, j = scores_of(q, k)
    return attend(scores, (j > i) | (j < first[:, None, :, None]), v)


def sink_reference(q, k, v, sink):
    scores, i, j = scores_of(q, k)
    scores = scores.masked_fill(j > i, -torch.inf)
    further = sink[None, :, None, None].expand(*scores.shape[:3], 1)
    return torch.softmax(torch.cat([scores, further], dim=-1), dim=-1)[..., :-1] @ v


@spec(cases=WINDOWED, dtype="bf16", reference=sliding_window_reference)
def sliding_window(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h m e"]:
    """A query sees the last ``WINDOW`` positions, its own included."""
    m, n = index("m"), index("n")
    scores = (q * k).sum("d") * rsqrt(size("d"))
    seen = (n <= m) & (n > m - WINDOW)
    return (softmax(where(seen, scores, -inf), "n") * v).sum("n")


@spec(cases=PREFILL, dtype="bf16", reference=alibi_reference)
def alibi(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    slope: Annotated[Tensor, "h", "fp32"],
) -> Annotated[Tensor, "b h m e"]:
    """Scores fall with the distance, each head by its slope."""
    m, n = index("m"), index("n")
    scores = (q * k).sum("d") * rsqrt(size("d")) + slope * (n - m)
    return (softmax(where(n <= m, scores, -inf), "n") * v).sum("n")


@spec(cases=PREFILL, dtype="bf16", reference=softcap_reference)
def softcap(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h m e"]:
    """Scores go through a hyperbolic tangent, so that none passes ``CAP``."""
    scores = CAP * tanh((q * k).sum("d") * rsqrt(size("d")) / CAP)
    return (softmax(where(index("n") <= index("m"), scores, -inf), "n") * v).sum("n")


@spec(cases=PACKED, dtype="bf16", reference=document_reference)
def document(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    first: Annotated[Tensor, "b m", "int32"],
) -> Annotated[Tensor, "b h m e"]:
    """Documents packed into one sequence; ``first``: the first key of each query's document."""
    n = index("n")
    scores = (q * k).sum("d") * rsqrt(size("d"))
    seen = (n <= index("m")) & (n >= first)
    return (softmax(where(seen, scores, -inf), "n") * v).sum("n")


@spec(cases=PREFILL, dtype="bf16", reference=sink_reference)
def sink(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    sink: Annotated[Tensor, "h", "fp32"],
) -> Annotated[Tensor, "b h m e"]:
    """A learned logit of each head takes its share of the weights, and has no value."""
    scores = (q * k).sum("d") * rsqrt(size("d"))
    seen = where(index("n") <= index("m"), scores, -inf)
    largest = maximum(seen.max("n"), sink)
    weights = exp(seen - largest)
    return (weights * v).sum("n") / (weights.sum("n") + exp(sink - largest))
