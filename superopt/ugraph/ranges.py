"""Limits of walks from affine masks: a causal or windowed walk visits only tiles that matter.

A position at which every carry's term is its fold's unit changes nothing: it can be skipped
(the producers stay where they are, so the moves are identities). Where terms can differ from
the unit is found by abstract evaluation as a *condition* on positions; a limit is an affine
inequality that the condition implies. The implication is exported as a ``BoundClaim``, so
that it can be proved by other means.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace

from superopt.ugraph.lanes import lanes
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Walk
from superopt.ugraph.limits import Limits
from superopt.ugraph.limits import Side
from superopt.ugraph.limits import bounds
from superopt.ugraph.live import Condition
from superopt.ugraph.live import Live
from superopt.ugraph.live import either


@dataclass(frozen=True)
class BoundClaim:
    """Wherever ``condition`` holds, the position on ``axis`` is within ``bound``.

    ``condition`` is true wherever some term of the walk may differ from its unit; True means
    "perhaps everywhere". ``side`` says which limit ``bound`` is: ``start`` is inclusive,
    ``stop`` exclusive.
    """

    axis: str
    side: Side
    bound: Bound
    condition: Condition


def narrow(block: BlockGraph) -> BlockGraph:
    """``block`` with the limits that its masks imply; a walk that stores keeps its range."""
    live = Live(block)
    return replace(block, walks=tuple(_narrowed(block, walk, live) for walk in block.walks))


def claims(block: BlockGraph) -> tuple[BoundClaim, ...]:
    """What must hold for the limits in ``block`` to be right, whoever has put them there, and
    for those of its lanes."""
    live = Live(block)
    found: list[BoundClaim] = []
    for walk in block.walks:
        condition = True if walk.stores else taken_in(walk, live)
        found += [BoundClaim(walk.axis, "start", b, condition) for b in walk.start]
        found += [BoundClaim(walk.axis, "stop", b, condition) for b in walk.stop]
    for whole in lanes(block):
        found += [BoundClaim(whole.axis, "start", b, whole.condition) for b in whole.start]
        found += [BoundClaim(whole.axis, "stop", b, whole.condition) for b in whole.stop]
    return tuple(found)


def taken_in(walk: Walk, live: Live) -> Condition:
    """Where some carry of ``walk`` may take in something else than its unit."""
    found: Condition = False
    for carry in walk.carries:
        if carry.stepwise:
            return True  # a step that adds nothing may still change the state
        if carry.listed is not None:
            return True  # of masked positions the lowest are listed where there are no others
        found = either(found, live.differs(carry.term, carry.fold.unit))
    return found


def _narrowed(block: BlockGraph, walk: Walk, live: Live) -> Walk:
    if walk.stores or not walk.carries:
        return walk
    limits = Limits(block, walk.axis).implied(taken_in(walk, live))
    if limits is None:  # nothing is ever taken in: no limit says so better than the whole range
        return walk
    found = bounds(limits, walk.axis)
    return replace(walk, start=found["start"], stop=found["stop"])
