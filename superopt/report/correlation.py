"""Spearman's rank correlation (1904): whether two orders agree, whatever the figures."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import sqrt


def spearman(left: Sequence[float], right: Sequence[float]) -> float | None:
    """The correlation of the ranks of paired values; equal values share their mean rank.

    None where there is none: fewer than two pairs, or one side is constant.

    >>> spearman([1.0, 2.0, 3.0], [10.0, 20.0, 90.0])
    1.0
    >>> spearman([1.0, 2.0, 3.0], [5.0, 5.0, 5.0])

    Raises:
        ValueError: the sides differ in length.
    """
    if len(left) != len(right):
        raise ValueError(f"{len(left)} values on one side, {len(right)} on the other")
    if len(left) < 2:
        return None
    mean = (len(left) + 1) / 2
    a = [r - mean for r in ranks(left)]
    b = [r - mean for r in ranks(right)]
    spread = sum(x * x for x in a) * sum(y * y for y in b)
    if spread == 0:
        return None
    return sum(x * y for x, y in zip(a, b, strict=True)) / sqrt(spread)


def ranks(values: Sequence[float]) -> list[float]:
    """The rank of every value, from 1; equal ones share the mean of their ranks.

    >>> ranks([3.0, 1.0, 3.0])
    [2.5, 1.0, 2.5]
    """
    found = [0.0] * len(values)
    order = sorted(range(len(values)), key=values.__getitem__)
    before = 0
    for _, group in groupby(order, key=values.__getitem__):
        same = list(group)
        for i in same:
            found[i] = before + (len(same) + 1) / 2
        before += len(same)
    return found
