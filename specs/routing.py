"""Which few of many: routing to experts, candidates of a vocabulary, greedy sampling."""

from __future__ import annotations

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import argmax
from superopt import gather
from superopt import logsumexp
from superopt import softmax
from superopt import spec
from superopt import top_k
from superopt import where

Indices = Annotated[Tensor, "m t", "int32"]


def best(x, count):
    """The largest of the last dimension and where they are; of equal ones the first."""
    missing = max(0, count - x.shape[-1])
    padded = torch.nn.functional.pad(x, (0, missing), value=float("-inf"))
    values, places = padded.sort(dim=-1, descending=True, stable=True)
    return values[..., :count], places[..., :count].clamp(max=x.shape[-1]).to(torch.int32)


def shares(x):
    """The softmax of the last dimension; 0 where nothing is left."""
    lost = (x == float("-inf")).all(-1, keepdim=True)
    return torch.softmax(x, -1).masked_fill(lost, 0)


def gating_reference(logits):
    weights, places = best(shares(logits), 8)
    total = weights.sum(-1, keepdim=True)
    return weights / torch.where(total == 0, 1, total), places


def top_k_softmax_reference(logits):
    values, places = best(logits, 8)
    return shares(values), places


def candidates_reference(logits):
    values, places = best(logits, 64)
    return values - torch.logsumexp(logits, -1, keepdim=True), places


def greedy_reference(logits):
    value, place = logits.max(-1)
    return place.to(torch.int32), value


def chosen_reference(scores, values):
    return values.gather(-1, scores.argmax(-1, keepdim=True)).squeeze(-1)


EXPERTS = [
    Case("experts64", m=4096, e=64),
    Case("experts256", m=4096, e=256),
    Case("fp32", m=4096, e=256, dtype="fp32"),
]
VOCABULARY = [
    Case("batch", m=128, n=131072),
    Case("single", m=1, n=131072),
    Case("fp32", m=64, n=32000, dtype="fp32"),
]


@spec(cases=EXPERTS, reference=gating_reference)
def gating(
    logits: Annotated[Tensor, "m e"],
) -> tuple[Annotated[Tensor, "m t"], Indices]:
    """The weights of the 8 best experts among each other, and which these are."""
    weights, experts = top_k(softmax(logits, "e"), axis="e", k=8, into="t")
    total = weights.sum("t")
    return weights / where(total == 0, 1, total), experts


@spec(cases=EXPERTS, reference=top_k_softmax_reference)
def top_k_softmax(
    logits: Annotated[Tensor, "m e"],
) -> tuple[Annotated[Tensor, "m t"], Indices]:
    """The same by the softmax of the 8 largest scores alone."""
    scores, experts = top_k(logits, axis="e", k=8, into="t")
    return softmax(scores, "t"), experts


@spec(cases=VOCABULARY, reference=candidates_reference)
def candidates(
    logits: Annotated[Tensor, "m n"],
) -> tuple[Annotated[Tensor, "m t"], Indices]:
    """The logarithms of the probabilities of the 64 likeliest tokens, and which these are."""
    scores, tokens = top_k(logits, axis="n", k=64, into="t")
    return scores - logsumexp(logits, "n"), tokens


@spec(cases=VOCABULARY, reference=greedy_reference)
def greedy(
    logits: Annotated[Tensor, "m n"],
) -> tuple[Annotated[Tensor, "m", "int32"], Annotated[Tensor, "m"]]:
    """The likeliest token, the first of several, and its score."""
    return argmax(logits, "n"), logits.max("n")


@spec(cases=VOCABULARY, reference=chosen_reference)
def chosen(
    scores: Annotated[Tensor, "m n"], values: Annotated[Tensor, "m n"]
) -> Annotated[Tensor, "m"]:
    """The value that belongs to the largest score."""
    return gather(values, argmax(scores, "n"), "n")
