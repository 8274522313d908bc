"""Successive halving: many are measured a little, the better ones again and longer.

Jamieson and Talwalkar, *Non-stochastic Best Arm Identification and Hyperparameter Optimization*
(2016). The last rung is not measured alone but interleaved, which a drifting clock cannot bend.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import TypeVar

from superopt.tune.record import Figures
from superopt.tune.request import Effort

QUICK = Effort(rounds=2, least_us=300.0)  # the first rung: everything that compiles and is right
LONGER = Effort(rounds=7, least_us=1000.0)  # the second one
KEPT = 1 / 3  # of the first rung, for the second
LONGER_MOST = 12
FINALISTS = 5  # that are interleaved
FINAL_ROUNDS = 15
HOPELESS = 1.5  # times the best: not measured again, whatever its place
BEHIND = 1.3  # times the best: a structure gets no more trials

T = TypeVar("T")


def survivors(us: Mapping[T, float], share: float, most: int, least: int = 1) -> list[T]:
    """The keys of the better ``share`` of ``us``, fastest first: at least ``least`` of them and at
    most ``most``, but none above ``HOPELESS`` times the best."""
    order = sorted(us, key=lambda key: us[key])
    if not order:
        return []
    number = min(most, max(least, round(share * len(order))))
    limit = HOPELESS * us[order[0]]
    return [key for key in order[:number] if us[key] <= limit]


def shares(best: Sequence[float], left: Sequence[int], trials: int) -> list[int]:
    """How many of ``trials`` each structure gets in this round.

    ``best``: its fastest time so far (infinity: nothing measured). ``left``: its points that are
    left. Nothing goes to a structure that is ``BEHIND`` the best one; the others share equally,
    the faster ones first where it does not divide.
    """
    leader = min(best, default=float("inf"))
    open_ = [i for i, us in enumerate(best) if left[i] > 0 and not us > BEHIND * leader]
    if not open_:  # nothing is left of those in front
        open_ = [i for i, n in enumerate(left) if n > 0 and leader == float("inf")]
    found = [0] * len(best)
    order = sorted(open_, key=lambda i: best[i])
    remaining = trials
    while remaining > 0 and any(found[i] < left[i] for i in order):
        for i in order:
            if remaining > 0 and found[i] < left[i]:
                found[i] += 1
                remaining -= 1
    return found


def fastest(figures: Mapping[T, Figures], model: Mapping[T, float]) -> T:
    """The winner: the least median; among those whose quartiles overlap it and whose median lies
    within its spread, the model decides.

    Raises:
        ValueError: there are no figures.
    """
    first = min(figures, key=lambda key: figures[key].us)
    tied = [key for key, f in figures.items() if f.us <= figures[first].high]
    return min(tied, key=lambda key: (round(model[key], 6), figures[key].us))
