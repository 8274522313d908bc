"""What a part has to be for its results to be joined."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pytest

from superopt import Case
from superopt import Tensor
from superopt import exp
from superopt import index
from superopt import inf
from superopt import log
from superopt import logsumexp
from superopt import spec
from superopt import where
from superopt.merge.alone import conditions
from superopt.merge.find import merge
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from tests.merge import specs

CASES = [Case("fp32", m=64, n=64, dtype="fp32")]
TABLE = Annotated[Tensor, "m n"]
ROWS = Annotated[Tensor, "m", "fp32"]
KEEP = Annotated[Tensor, "n", "bool"]


@spec(cases=CASES)
def placed(x: TABLE) -> ROWS:
    return (x * index("n")).sum("n")


@spec(cases=CASES)
def unguarded(x: TABLE, keep: KEEP) -> ROWS:
    """-inf - (-inf) where all of a row is hidden."""
    s = where(keep, x, -inf)
    m = s.max("n")
    return m + log(exp(s - m).sum("n"))


@spec(cases=CASES)
def guarded(x: TABLE, keep: KEEP) -> ROWS:
    return logsumexp(where(keep, x, -inf), "n")


@pytest.mark.parametrize(
    ("operator", "words"),
    [
        (placed, ["begin anew"]),
        (unguarded, ["hidden entirely"]),
        (guarded, []),
        (specs.normalised, []),
        (specs.masked, ["begin anew"]),
        (specs.spread, []),
    ],
)
def test_what_is_asked_of_parts(operator, words):
    found = conditions(operator.program, "n")
    assert len(found) == len(words)
    assert all(word in sentence for word, sentence in zip(words, found, strict=True))


def evaluated(program, arrays, **sizes):
    with np.errstate(all="ignore"):
        return evaluate_program(program, FloatDomain(), arrays, sizes)["out"]


def joined(operator, **arrays):
    """The spec of the whole, and its results for two halves by themselves, joined."""
    merging, _ = merge(operator.program, "n")
    (part,) = merging.program.params
    cut = [{k: np.split(a, 2, -1)[i] for k, a in arrays.items()} for i in range(2)]
    halves = [evaluated(operator.program, half, m=3, n=4) for half in cut]
    given = {part.name: np.stack(halves, part.order.index(merging.along))}
    whole = evaluated(operator.program, arrays, m=3, n=8)
    return whole, evaluated(merging.program, given, m=3, **{merging.along: 2})


def test_without_what_is_asked_the_joining_is_another_number():
    """Both were written as if the spec might be run on a part by itself."""
    x = np.random.default_rng(0).standard_normal((3, 8))
    whole, found = joined(placed, x=x)
    assert not np.allclose(whole, found)
    whole, found = joined(unguarded, x=x, keep=np.arange(8) >= 4)
    assert np.isfinite(whole).all()
    assert np.isnan(found).all()
    whole, found = joined(guarded, x=x, keep=np.arange(8) >= 4)
    np.testing.assert_allclose(whole, found)
