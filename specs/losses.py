"""Losses of rows of logits, and what they are made of.

Axes: m rows (tokens), n classes (a vocabulary), k features of a last linear layer. Labels are
positions on the class axis, so that ``index("n") == label`` is one at the label and else zero.
"""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import argmax
from superopt import exp
from superopt import gather
from superopt import index
from superopt import inf
from superopt import log
from superopt import log_softmax
from superopt import logsumexp
from superopt import softmax
from superopt import spec
from superopt import where

Z_WEIGHT = 1e-4  # of the squared normaliser
SMOOTHING = 0.1  # of the label's weight goes to all classes alike
CASES = [
    Case("vocabulary", m=8192, n=131072),
    Case("classes", m=16384, n=4096),
    Case("fp32", m=4096, n=8192, dtype="fp32"),
]
LINEAR = [
    Case("vocabulary", m=4096, n=131072, k=4096),
    Case("fp32", m=1024, n=8192, k=1024, dtype="fp32"),
]
LOGITS = [
    Case("large", m=4096, n=131072, k=4096),
    Case("small", m=512, n=16384, k=1024),
    Case("fp32", m=512, n=4096, k=512, dtype="fp32"),
]
GRADIENT = [
    Case("vocabulary", m=4096, n=131072, k=128),
    Case("fp32", m=1024, n=8192, k=64, dtype="fp32"),
]


def cross_entropy_reference(x, label):
    return torch.nn.functional.cross_entropy(x, label.long(), reduction="none")


def z_loss_reference(x, label):
    z = torch.logsumexp(x, dim=-1)
    return cross_entropy_reference(x, label) + Z_WEIGHT * z.square()


def smoothed_reference(x, label):
    return torch.nn.functional.cross_entropy(
        x, label.long(), reduction="none", label_smoothing=SMOOTHING
    )


def entropy_reference(x):
    return torch.special.entr(torch.softmax(x, dim=-1)).sum(-1)


def entropy_and_normaliser_reference(x):
    return entropy_reference(x), torch.logsumexp(x, dim=-1)


def kl_divergence_reference(x, y):
    kl_div = torch.nn.functional.kl_div
    p, log_q = torch.softmax(x, dim=-1), torch.log_softmax(y, dim=-1)
    return kl_div(log_q, p, reduction="none").sum(-1)


def taught_reference(x, teacher):
    return cross_entropy_reference(x, teacher.argmax(-1))


def linear_logsumexp_reference(x, w):
    return torch.logsumexp(x @ w, dim=-1)


def linear_cross_entropy_reference(x, w, label):
    return cross_entropy_reference(x @ w, label)


def linear_cross_entropy_gradient_reference(x, w, label):
    p = torch.softmax(x @ w, dim=-1)
    return (p - torch.nn.functional.one_hot(label.long(), p.shape[-1])) @ w.T


def one_hot(label):
    return where(index("n") == label, 1, 0)


def at_label(x, label):
    """The logit of the label, as a sum that has one term."""
    return where(index("n") == label, x, 0).sum("n")


@spec(cases=CASES, dtype="bf16", reference=cross_entropy_reference)
def cross_entropy(
    x: Annotated[Tensor, "m n"], label: Annotated[Tensor, "m", "int32"]
) -> Annotated[Tensor, "m", "fp32"]:
    return logsumexp(x, "n") - at_label(x, label)


@spec(cases=CASES, dtype="bf16", reference=z_loss_reference)
def z_loss(
    x: Annotated[Tensor, "m n"], label: Annotated[Tensor, "m", "int32"]
) -> Annotated[Tensor, "m", "fp32"]:
    """Cross entropy, and a penalty on the size of the normaliser."""
    z = logsumexp(x, "n")
    return z - at_label(x, label) + Z_WEIGHT * z**2


@spec(cases=CASES, dtype="bf16", reference=smoothed_reference)
def label_smoothing(
    x: Annotated[Tensor, "m n"], label: Annotated[Tensor, "m", "int32"]
) -> Annotated[Tensor, "m", "fp32"]:
    picked = (1 - SMOOTHING) * at_label(x, label)
    return logsumexp(x, "n") - picked - SMOOTHING * x.mean("n")


@spec(cases=CASES, dtype="bf16", reference=entropy_reference)
def entropy(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m", "fp32"]:
    """Of the distribution that a softmax makes; a masked class (-inf) has no part in it."""
    shifted = x - x.max("n")
    weights = exp(shifted)
    total = weights.sum("n")
    return log(total) - where(x == -inf, 0, weights * shifted).sum("n") / total


@spec(cases=CASES, dtype="bf16", reference=entropy_and_normaliser_reference)
def entropy_and_normaliser(
    x: Annotated[Tensor, "m n"],
) -> tuple[Annotated[Tensor, "m", "fp32"], Annotated[Tensor, "m", "fp32"]]:
    """By log-probabilities, in which the normaliser moves as well as the maximum."""
    log_p = log_softmax(x, "n")
    return -where(x == -inf, 0, exp(log_p) * log_p).sum("n"), logsumexp(x, "n")


@spec(cases=CASES, dtype="bf16", reference=kl_divergence_reference)
def kl_divergence(
    x: Annotated[Tensor, "m n"], y: Annotated[Tensor, "m n"]
) -> Annotated[Tensor, "m", "fp32"]:
    """From the distribution of ``x`` to that of ``y``; masked classes of ``x`` have no part."""
    terms = softmax(x, "n") * (log_softmax(x, "n") - log_softmax(y, "n"))
    return where(x == -inf, 0, terms).sum("n")


@spec(cases=CASES, dtype="bf16", reference=taught_reference)
def taught(
    x: Annotated[Tensor, "m n"], teacher: Annotated[Tensor, "m n"]
) -> Annotated[Tensor, "m", "fp32"]:
    """Cross entropy, where a teacher's likeliest class is the label."""
    return -gather(log_softmax(x, "n"), argmax(teacher, "n"), "n")


@spec(cases=LOGITS, dtype="bf16", reference=linear_logsumexp_reference)
def linear_logsumexp(
    x: Annotated[Tensor, "m k"], w: Annotated[Tensor, "k n"]
) -> Annotated[Tensor, "m", "fp32"]:
    """The normaliser of every row of logits, which need not be written."""
    return logsumexp((x * w).sum("k"), "n")


@spec(cases=LINEAR, dtype="bf16", reference=linear_cross_entropy_reference)
def linear_cross_entropy(
    x: Annotated[Tensor, "m k"],
    w: Annotated[Tensor, "k n"],
    label: Annotated[Tensor, "m", "int32"],
) -> Annotated[Tensor, "m", "fp32"]:
    logits = (x * w).sum("k")
    return logsumexp(logits, "n") - at_label(logits, label)


@spec(cases=GRADIENT, dtype="bf16", reference=linear_cross_entropy_gradient_reference)
def linear_cross_entropy_gradient(
    x: Annotated[Tensor, "m k"],
    w: Annotated[Tensor, "k n"],
    label: Annotated[Tensor, "m", "int32"],
) -> Annotated[Tensor, "m k"]:
    """The gradient by ``x`` of the sum of all rows' losses."""
    p = softmax((x * w).sum("k"), "n")
    return ((p - one_hot(label)) * w).sum("n")
