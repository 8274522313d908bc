"""What is known of a sum that is kept about a maximum, and of what nothing is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from superopt.loading import load
from superopt.repair.guard import Regions
from superopt.report.repairs import fusions
from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.scalar import Fn
from superopt.verify.growth import growths
from superopt.verify.obligations import judge_repair
from superopt.verify.verdict import Proved

SPECS = Path(__file__).parents[2] / "specs"


def walked(name: str) -> BlockGraph:
    (spec,) = load(f"{SPECS / name}")
    (fusion,) = (f for f in fusions(spec.program) if f.block is not None)
    assert fusion.block is not None
    return fusion.block


def carries() -> tuple[Carry, ...]:
    """The maximum and the sum of a softmax."""
    (walk,) = walked("logsumexp.py:logsumexp").walks
    return walk.carries


def grown(*found: Carry) -> list[str]:
    return [g.carry.name for g in growths(found, Regions(found, ()))]


def test_a_softmax_sum_grows():
    largest, total = carries()
    (found,) = growths((largest, total), Regions((largest, total), ()))
    assert (found.carry, found.about) == (total, largest)
    facts = list(found.over_a_tile())
    assert Map(Fn.LE, (Const(Fraction(1)), total.old)) in facts
    assert len(facts) == 3


@pytest.mark.parametrize("factor", [Fraction(1, 2), Fraction(-1)])
def test_terms_that_stay_below_one_at_the_maximum_do_not(factor):
    largest, total = carries()
    term = Map(Fn.MUL, (Const(factor), total.term))
    assert grown(largest, replace(total, term=term)) == []


def test_a_sum_that_is_not_moved_does_not():
    largest, total = carries()
    assert grown(largest, replace(total, moves=())) == []


def test_other_moves_than_exponentials_do_not():
    largest, total = carries()
    (move,) = total.moves
    halved = replace(move, factor=Map(Fn.MUL, (move.factor, Const(Fraction(1, 2)))))
    assert grown(largest, replace(total, moves=(halved,))) == []


def test_logarithms_of_sums_move_in_range():
    """exp(x - max - log(sum)): neither moves nor terms exceed 1, because the sum grows."""
    (spec,) = load(f"{SPECS / 'losses.py'}:entropy_and_normaliser")
    (fusion,) = (f for f in fusions(spec.program) if f.block is not None)
    assert fusion.block is not None
    _, second = fusion.repairs
    claims = dict(judge_repair(second, fusion.block))
    assert isinstance(claims["range"], Proved)
    assert any("<= log(sum0)" in fact for fact in claims["range"].facts)
