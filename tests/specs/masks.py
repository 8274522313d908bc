"""Attention with masks and changes of the scores, as a user would write them."""

from typing import Annotated

import torch

from superopt import Case
from superopt import Scalar
from superopt import Tensor
from superopt import index
from superopt import inf
from superopt import l2_normalize
from superopt import rms_norm
from superopt import rsqrt
from superopt import size
from superopt import softmax
from superopt import spec
from superopt import tanh
from superopt import where

SIZES = {"b": 2, "h": 4, "m": 512, "n": 512, "d": 64, "e": 64}
CASES = [Case("small", **SIZES)]
WINDOW = 128


def torch_scores(q, k):
    return torch.einsum("bhmd,bhnd->bhmn", q, k) / q.shape[-1] ** 0.5


def torch_attend(scores, v):
    weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
    return torch.einsum("bhmn,bhne->bhme", weights, v)


def torch_positions(scores):
    m, n = scores.shape[-2:]
    return torch.arange(m)[:, None], torch.arange(n)[None, :]


def window_reference(q, k, v):
    scores = torch_scores(q, k)
    i, j = torch_positions(scores)
    outside = (j > i) | (i - j >= WINDOW)
    return torch_attend(scores.masked_fill(outside, -torch.inf), v)


def band_reference(q, k, v, width):
    scores = torch_scores(q, k)
    i, j = torch_positions(scores)
    return torch_attend(scores.masked_fill((i - j).abs() > width, -torch.inf), v)


def alibi_reference(q, k, v, slopes):
    scores = torch_scores(q, k)
    i, j = torch_positions(scores)
    return torch_attend(scores - slopes[:, None, None] * (i - j).abs(), v)


def softcap_reference(q, k, v, cap):
    scores = cap * torch.tanh(torch_scores(q, k) / cap)
    i, j = torch_positions(scores)
    return torch_attend(scores.masked_fill(j > i, -torch.inf), v)


def documents_reference(q, k, v, q_ids, k_ids):
    other = q_ids[:, None, :, None] != k_ids[:, None, None, :]
    return torch_attend(torch_scores(q, k).masked_fill(other, -torch.inf), v)


def padded_reference(q, k, v, keep):
    return torch_attend(torch_scores(q, k).masked_fill(~keep[:, None, None, :], -torch.inf), v)


def qk_norm_reference(q, k, v, q_weight, k_weight):
    norm = torch.nn.functional.rms_norm
    d = q.shape[-1:]
    return torch_attend(torch_scores(norm(q, d, q_weight, 1e-6), norm(k, d, k_weight, 1e-6)), v)


def cosine_reference(q, k, v, scale):
    unit = torch.nn.functional.normalize
    return torch_attend(
        scale * torch.einsum("bhmd,bhnd->bhmn", unit(q, dim=-1), unit(k, dim=-1)), v
    )


def grouped_reference(q, k, v):
    scores = torch.einsum("bgrmd,bgnd->bgrmn", q, k) / q.shape[-1] ** 0.5
    return torch.einsum("bgrmn,bgne->bgrme", torch.softmax(scores, dim=-1), v)


@spec(cases=CASES, reference=window_reference)
def window(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h m e"]:
    distance = index("m") - index("n")
    scores = (q * k).sum("d") * rsqrt(size("d"))
    seen = where((distance >= 0) & (distance < WINDOW), scores, -inf)
    return (softmax(seen, "n") * v).sum("n")


@spec(cases=[Case("small", **SIZES, width=64)], reference=band_reference)
def band(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    width: Annotated[Scalar, "int32"],
) -> Annotated[Tensor, "b h m e"]:
    distance = index("m") - index("n")
    scores = (q * k).sum("d") / size("d") ** 0.5
    seen = where((distance <= width) & (-distance <= width), scores, -inf)
    return (softmax(seen, "n") * v).sum("n")


@spec(cases=CASES, reference=alibi_reference)
def alibi(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    slopes: Annotated[Tensor, "h", "fp32"],
) -> Annotated[Tensor, "b h m e"]:
    bias = slopes * abs(index("m") - index("n"))
    return (softmax((q * k).sum("d") * rsqrt(size("d")) - bias, "n") * v).sum("n")


@spec(cases=CASES, reference=softcap_reference)
def softcap(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    cap: Scalar,
) -> Annotated[Tensor, "b h m e"]:
    scores = cap * tanh((q * k).sum("d") * rsqrt(size("d")) / cap)
    return (softmax(where(index("n") <= index("m"), scores, -inf), "n") * v).sum("n")


@spec(cases=CASES, reference=documents_reference)
def documents(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    q_ids: Annotated[Tensor, "b m", "int32"],
    k_ids: Annotated[Tensor, "b n", "int32"],
) -> Annotated[Tensor, "b h m e"]:
    scores = (q * k).sum("d") * rsqrt(size("d"))
    return (softmax(where(q_ids == k_ids, scores, -inf), "n") * v).sum("n")


@spec(cases=CASES, reference=padded_reference)
def padded(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    keep: Annotated[Tensor, "b n", "bool"],
) -> Annotated[Tensor, "b h m e"]:
    scores = (q * k).sum("d") * rsqrt(size("d"))
    return (softmax(where(keep, scores, -inf), "n") * v).sum("n")


@spec(cases=CASES, reference=qk_norm_reference)
def qk_norm(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    q_weight: Annotated[Tensor, "d"],
    k_weight: Annotated[Tensor, "d"],
) -> Annotated[Tensor, "b h m e"]:
    normed = rms_norm(q, "d", q_weight) * rms_norm(k, "d", k_weight)
    return (softmax(normed.sum("d") * rsqrt(size("d")), "n") * v).sum("n")


@spec(cases=CASES, reference=cosine_reference)
def cosine(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    scale: Scalar,
) -> Annotated[Tensor, "b h m e"]:
    similarity = (l2_normalize(q, "d") * l2_normalize(k, "d")).sum("d")
    return (softmax(scale * similarity, "n") * v).sum("n")


@spec(cases=[Case("small", b=2, g=2, r=4, m=128, n=512, d=64, e=64)], reference=grouped_reference)
def grouped(
    q: Annotated[Tensor, "b g r m d"],
    k: Annotated[Tensor, "b g n d"],
    v: Annotated[Tensor, "b g n e"],
) -> Annotated[Tensor, "b g r m e"]:
    scores = (q * k).sum("d") * rsqrt(size("d"))
    return (softmax(scores, "n") * v).sum("n")
