from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.errors import NoRepair
from superopt.repair.apply import repair
from superopt.repair.record import Repair
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.verify.obligations import judge_repair
from superopt.verify.verdict import Proved
from tests.repair.cases import CENTRED
from tests.repair.cases import MEAN
from tests.repair.cases import NORMED
from tests.repair.cases import RMS
from tests.repair.cases import U
from tests.repair.cases import X
from tests.repair.cases import Y
from tests.repair.cases import absolute
from tests.repair.cases import fused
from tests.repair.cases import mapped
from tests.repair.cases import square
from tests.samples import add
from tests.samples import div
from tests.samples import largest
from tests.samples import mul
from tests.samples import num
from tests.samples import sub


def last(value: Node) -> tuple[BlockGraph, Repair]:
    block, found = repair(fused(("m",), value))
    return block, found[-1]


def kept(found: Repair) -> list[Node]:
    return [c.term for c in found.components]


def inner(found: Repair) -> Map:
    """The value at the end, where there was a position at all."""
    match found.finalise:
        case Map(fn=Fn.WHERE, args=(_, _, Map() as value)):
            return value
    raise AssertionError(found.finalise)


def mean_of(found: Repair) -> Node:
    return div(found.producers[0].state, Size("n"))


def wanting(found: Repair, block: BlockGraph) -> set[str]:
    return {c for c, v in judge_repair(found, block) if not isinstance(v, Proved)}


def least(value: Node) -> Node:
    return Reduce(Fn.MIN, "n", value)


def test_an_absolute_distance_takes_the_largest_and_the_smallest():
    _, found = last(largest("n", absolute(CENTRED)))
    assert found.deferred
    assert kept(found) == [X, mul(num(-1), X)]
    assert {c.fold for c in found.components} == {Fn.MAX}
    top, low = (c.state for c in found.components)
    assert inner(found) is mapped(Fn.MAX, sub(top, mean_of(found)), add(mean_of(found), low))


@pytest.mark.parametrize(
    ("value", "rank"),
    [
        (largest("n", absolute(CENTRED)), 2),
        (largest("n", absolute(NORMED)), 2),
        (largest("n", mapped(Fn.TANH, CENTRED)), 1),
        (largest("n", mapped(Fn.MAX, CENTRED, mul(Y, RMS))), 2),
        (largest("n", mul(sub(MEAN, X), RMS)), 1),
        (least(mul(sub(MEAN, X), RMS)), 1),
        (least(mapped(Fn.SIGMOID, sub(X, MEAN))), 1),
        (least(mapped(Fn.MIN, CENTRED, sub(MEAN, X))), 2),
        (largest("n", div(CENTRED, add(square(MEAN), num(1)))), 1),
    ],
)
def test_monotone_terms_are_derived_and_every_obligation_is_proved(value: Node, rank: int):
    block, found = last(value)
    assert found.rank == rank
    assert wanting(found, block) == set()


@pytest.mark.parametrize(
    "value",
    [
        largest("n", absolute(mul(CENTRED, U))),  # which is largest depends on the mean
        least(absolute(CENTRED)),  # attained in between
        largest("n", mul(CENTRED, MEAN)),  # the mean has no sign
        largest("n", mapped(Fn.MIN, CENTRED, sub(MEAN, X))),
        largest("n", div(CENTRED, MEAN)),  # may be zero
    ],
)
def test_what_is_not_monotone_is_refused(value: Node):
    with pytest.raises(NoRepair, match="no finite rank found"):
        repair(fused(("m",), value))


def test_a_wrong_end_is_noticed():
    """The obligations look at the value at the end, not only at what is kept."""
    block, found = last(largest("n", absolute(CENTRED)))
    one = replace(found, finalise=inner(found).args[0])
    assert "separation" in wanting(one, block)
    lowest = replace(found, finalise=Map(Fn.MIN, inner(found).args))
    assert {"separation", "endomorphism"} <= wanting(lowest, block)
