"""Small operators over parts, for the tests of this folder."""

from __future__ import annotations

from typing import Annotated

from superopt import Case
from superopt import Tensor
from superopt import exp
from superopt import index
from superopt import inf
from superopt import last
from superopt import logsumexp
from superopt import recur
from superopt import softmax
from superopt import spec
from superopt import sqrt
from superopt import var
from superopt import where

CASES = [Case("fp32", m=64, n=64, dtype="fp32")]
WIDE = [Case("fp32", m=64, n=64, e=32, dtype="fp32")]
ROWS = Annotated[Tensor, "m", "fp32"]
TABLE = Annotated[Tensor, "m n"]


@spec(cases=WIDE)
def weighted(x: TABLE, v: Annotated[Tensor, "n e"]) -> Annotated[Tensor, "m e"]:
    return (softmax(x, "n") * v).sum("n")


@spec(cases=WIDE)
def normalised(
    x: TABLE, v: Annotated[Tensor, "n e"]
) -> tuple[Annotated[Tensor, "m e"], Annotated[Tensor, "m", "fp32"]]:
    return (softmax(x, "n") * v).sum("n"), logsumexp(x, "n")


@spec(cases=WIDE)
def masked(
    x: TABLE, v: Annotated[Tensor, "n e"]
) -> tuple[Annotated[Tensor, "m e"], Annotated[Tensor, "m", "fp32"]]:
    """A position sees itself and those before it."""
    seen = where(index("n") <= index("m"), x, -inf)
    return (softmax(seen, "n") * v).sum("n"), logsumexp(seen, "n")


@spec(cases=CASES)
def unscaled(x: TABLE, v: TABLE) -> tuple[ROWS, ROWS]:
    """Two sums, of which the quotient is wanted: nothing is missing."""
    return exp(x).sum("n"), (exp(x) * v).sum("n")


@spec(cases=CASES)
def spread(x: TABLE) -> tuple[ROWS, ROWS]:
    return x.mean("n"), var(x, "n")


@spec(cases=CASES)
def deviation(x: TABLE) -> ROWS:
    return sqrt(var(x, "n"))


@spec(cases=CASES)
def extremes(x: TABLE) -> tuple[ROWS, ROWS]:
    return x.max("n"), x.min("n")


@spec(cases=CASES)
def length(x: TABLE) -> ROWS:
    largest = abs(x).max("n")
    scale = where(largest == 0, 1, largest)
    return scale * sqrt(((x / scale) ** 2).sum("n"))


@spec(cases=CASES)
def decayed(g: TABLE, v: TABLE) -> tuple[ROWS, ROWS]:
    """A state that decays, and by how much: what comes later acts on what came before."""
    gate = -abs(g)
    total = gate.sum("n")
    return (exp(total - gate.cumsum("n")) * v).sum("n"), total


@spec(cases=CASES)
def quotient(x: TABLE) -> ROWS:
    """Of each position's share of the length of the whole axis."""
    return (x / (1 + abs(x).sum("n"))).sum("n")


@spec(cases=CASES)
def fading(a: TABLE, x: TABLE) -> ROWS:
    """The end of a recurrence: what a part does is a map, and no value tells it."""
    return last(recur("n", "m", lambda s: a * s + x), "n")
