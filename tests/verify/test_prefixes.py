from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.repair.guard import Regions
from superopt.repair.record import Repair
from superopt.ugraph.carry import Move
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.node import Node
from superopt.verify.prefixes import judge_domain
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict
from tests.repair.cases import BY_NAME
from tests.repair.cases import REPAIRED
from tests.repair.cases import Case
from tests.repair.cases import repaired
from tests.samples import eq
from tests.samples import num
from tests.samples import where


def domain(found: Repair, block: BlockGraph) -> Verdict:
    (walk,) = block.walks
    at = [c.name for c in walk.carries].index(found.components[0].name)
    regions = Regions(walk.carries[:at])
    return judge_domain(found, walk, regions, regions.regular)


@pytest.mark.parametrize("case", [c for c in REPAIRED if len(c.ranks) == 1], ids=lambda c: c.name)
def test_what_is_derived_is_defined_at_every_prefix(case: Case):
    block, (found,) = repaired(case)
    assert isinstance(domain(found, block), Proved)


def guarded_at(condition: Node, case: str) -> tuple[Repair, BlockGraph]:
    """The repair with its move guarded elsewhere, as if that were a guard of its own."""
    block, (found,) = repaired(BY_NAME[case])
    (component,) = found.components
    guard = replace(found.guards[0], condition=condition, absorb=False)
    ((factor,),) = found.factors
    wrong = replace(component, moves=(Move(component.name, where(condition, num(1), factor)),))
    return replace(found, components=(wrong,), guards=(guard,)), block


def test_a_guard_at_no_point_of_a_producer_is_found():
    _, (softmax,) = repaired(BY_NAME["logsumexp"])
    (producer,) = softmax.producers
    verdict = domain(*guarded_at(eq(producer.old, num(0)), "logsumexp"))
    assert isinstance(verdict, Unknown)
    assert "at no point" in verdict.why


def test_a_value_at_the_end_must_be_the_unit_of_an_empty_walk():
    block, (found,) = repaired(BY_NAME["deferred mean"])
    bare = found.finalise.args[2]
    verdict = domain(replace(found, finalise=bare), block)
    assert isinstance(verdict, Unknown)
    assert "nothing is walked" in verdict.why
