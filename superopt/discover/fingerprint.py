"""Values of terms at the same random points: equal terms have equal fingerprints.

Unequal terms may share one (float64, few points), which costs a proof that fails; nothing is
believed on the strength of a fingerprint. Infinities and undefined values are compared too.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from superopt.discover.vocabulary import Vocabulary
from superopt.rewrite.rule import Fact
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number
from superopt.verify.reals.numeric import MEANING
from superopt.verify.reals.numeric import Array

COUNT = 48  # points
LENGTHS = (2, 0)  # of the axis: some elements, and none
FINE = 1e6  # steps of the scale on which values are compared
SHIFT = 0.3127  # so that no value that is often met lies on an edge between steps
UNDEFINED = np.int64(2**62)
_FOLD: dict[Fn, Callable[..., Array]] = {
    Fn.ADD: np.add.reduce,
    Fn.MUL: np.multiply.reduce,
    Fn.MAX: np.maximum.reduce,
    Fn.MIN: np.minimum.reduce,
}

Values = tuple[Array, ...]  # for each length of the axis: (points, length or 1)


@dataclass(frozen=True)
class Domain:
    """What is known of every hole (of truth values only that they are defined).

    A law that holds for more values holds here, too, and loses the needs that it has not when it
    is proved (``prove.weakened``); so wider domains need not be searched.
    """

    name: str
    facts: tuple[Fact, ...]


_FINITE = (Fact.DEFINED, Fact.LOWER, Fact.UPPER)
FINITE = Domain("finite", _FINITE)
POSITIVE = Domain("positive and finite", (*_FINITE, Fact.NONNEGATIVE, Fact.NONZERO))
DOMAINS = (POSITIVE, FINITE)  # general laws first: instances of them are not new


def drawn(vocabulary: Vocabulary, domain: Domain, seed: int) -> dict[str, Values]:
    """The values of the holes."""
    rng = np.random.default_rng(seed)
    found: dict[str, Values] = {}
    for hole in vocabulary.holes:
        width = max(LENGTHS) if hole in vocabulary.elements else 1
        value = rng.normal(size=(COUNT, width))
        if hole in vocabulary.truths:
            value = (value < 0).astype(np.float64)
        else:
            value = _within(domain, value, rng)
        found[hole] = _at_lengths(value, hole in vocabulary.elements)
    return found


def _within(domain: Domain, value: Array, rng: np.random.Generator) -> Array:
    value = np.where(rng.random(value.shape) < 0.3, rng.integers(-2, 3, value.shape), value)
    if Fact.NONNEGATIVE in domain.facts:
        return np.asarray(np.abs(value) + np.where(value == 0, 0.5, 0))
    return np.asarray(value)


def _at_lengths(value: Array, varies: bool) -> Values:
    return tuple(value[:, :length] if varies else value for length in LENGTHS)


def of_number(value: Number) -> Values:
    """A number at every point."""
    return _at_lengths(np.full((COUNT, 1), float(value)), varies=False)


def of_map(fn: Fn, args: Sequence[Values]) -> Values:
    """A function of values."""
    with np.errstate(all="ignore"):
        return tuple(np.asarray(MEANING[fn](*parts)) for parts in zip(*args, strict=True))


def of_fold(fn: Fn, arg: Values) -> Values:
    """A fold over the axis."""
    with np.errstate(all="ignore"):
        unit = float(fn.unit)
        return tuple(_FOLD[fn](part, axis=1, keepdims=True, initial=unit) for part in arg)


def fingerprint(values: Values, varies: bool) -> bytes:
    """Equal for equal values. An element and a value without the axis never are equal."""
    parts = [b"elements" if varies else b"one"]
    for value in values:
        with np.errstate(all="ignore"):
            scaled = np.floor(np.arcsinh(np.clip(value, -1e300, 1e300)) * FINE + SHIFT)
        steps = np.where(np.isnan(value), UNDEFINED, np.nan_to_num(scaled).astype(np.int64))
        parts.append(steps.astype(np.int64).tobytes())
    return b"".join(parts)
