"""Products of matrices in which maximum, or the logarithm of a sum, stands for the sum.

Axes: m rows, b sequences, k states before a step, n states after it.
"""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import logsumexp
from superopt import spec

STEPS = [
    Case("states", b=1024, k=512, n=512),
    Case("fp32", b=256, k=256, n=256, dtype="fp32"),
]


def max_plus_reference(a, c):
    return (a[:, :, None] + c[None]).amax(1)


def viterbi_step_reference(score, transition, emission):
    return (score[:, :, None] + transition).amax(1) + emission


def forward_step_reference(alpha, transition, emission):
    return torch.logsumexp(alpha[:, :, None] + transition, dim=1) + emission


@spec(
    cases=[
        Case("square", m=1024, k=1024, n=1024),
        Case("fp32", m=512, k=512, n=512, dtype="fp32"),
    ],
    dtype="bf16",
    reference=max_plus_reference,
)
def max_plus(a: Annotated[Tensor, "m k"], c: Annotated[Tensor, "k n"]) -> Annotated[Tensor, "m n"]:
    return (a + c).max("k")


@spec(cases=STEPS, dtype="bf16", reference=viterbi_step_reference)
def viterbi_step(
    score: Annotated[Tensor, "b k"],
    transition: Annotated[Tensor, "k n"],
    emission: Annotated[Tensor, "b n"],
) -> Annotated[Tensor, "b n"]:
    """The scores of the best paths that end in each state."""
    return (score + transition).max("k") + emission


@spec(cases=STEPS, dtype="bf16", reference=forward_step_reference)
def forward_step(
    alpha: Annotated[Tensor, "b k"],
    transition: Annotated[Tensor, "k n"],
    emission: Annotated[Tensor, "b n"],
) -> Annotated[Tensor, "b n"]:
    """The logarithms of the probabilities of all paths that end in each state."""
    return logsumexp(alpha + transition, "k") + emission
