from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.repair.apply import repair
from superopt.repair.record import Repair
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Move
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from superopt.verify.obligations import judge_repair
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Verdict
from superopt.verify.verdict import accepted
from tests.repair.cases import BY_NAME
from tests.repair.cases import REPAIRED
from tests.repair.cases import Case
from tests.repair.cases import X
from tests.repair.cases import Y
from tests.repair.cases import fused
from tests.repair.cases import repaired
from tests.samples import NEG_INF
from tests.samples import add
from tests.samples import attention_delayed
from tests.samples import div
from tests.samples import eq
from tests.samples import exp
from tests.samples import finite
from tests.samples import largest
from tests.samples import mul
from tests.samples import num
from tests.samples import online_attention
from tests.samples import sub
from tests.samples import total
from tests.samples import where

CLAIMS = (
    "separation",
    "endomorphism",
    "composition",
    "combination",
    "domain",
    "range",
    "scope",
)


def verdicts(found: Repair, block: BlockGraph) -> dict[str, Verdict]:
    return dict(judge_repair(found, block))


def failed(found: Repair, block: BlockGraph) -> set[str]:
    return {name for name, v in judge_repair(found, block) if not accepted(v)}


@pytest.mark.parametrize("causal", [False, True])
def test_every_obligation_of_online_attention_is_proved(causal):
    sample = online_attention(causal).kernels[0]
    program = attention_delayed(causal)
    passes = groupings(program.outputs, ("n",))[0]
    block, repairs = repair(fuse(program.outputs, sample.places, sample.order, passes))
    assert len(repairs) == 2
    for found in repairs:
        judged = judge_repair(found, block)
        assert tuple(name for name, _ in judged) == CLAIMS
        assert all(isinstance(v, Proved) for _, v in judged), judged


def test_a_walk_may_read_an_extremum_of_an_earlier_one_beside_what_it_repairs():
    sink = Input("sink", ("m",))
    highest = Map(Fn.MAX, (largest("n", X), sink))
    weights = exp(sub(X, highest))
    below = add(total("n", weights), exp(sub(sink, highest)))
    stores = (Store("out", ("m",), None, total("n", div(mul(weights, Y), below))),)
    first, *_ = (p for p in groupings(stores, ("n",)) if [len(f) for _, f in p] == [1, 2])
    places = (("m", Grid()), ("n", Loop()))
    block, (found,) = repair(fuse(stores, places, (Turn("m"),), first))
    assert failed(found, block) == set(), judge_repair(found, block)


@pytest.mark.parametrize("case", REPAIRED, ids=lambda c: c.name)
def test_every_obligation_of_every_case_holds(case: Case):
    block, repairs = repaired(case)
    for found in repairs:
        assert failed(found, block) == set(), judge_repair(found, block)


def test_a_fold_with_x_inside_is_sampled():
    block, (found,) = repaired(BY_NAME["fold inside"])
    assert isinstance(verdicts(found, block)["separation"], Sampled)


def test_an_exponent_that_is_not_below_its_maximum_fails_range():
    m = largest("n", X)
    block, (found,) = repair(fused(("m",), total("n", exp(sub(Y, finite(m))))))
    assert failed(found, block) == {"range"}


def test_differences_of_a_sum_that_is_no_mean_fail_range():
    value = total("n", mul(sub(X, total("n", Y)), X))
    block, (found,) = repair(fused(("m",), value))
    assert found.rank == 2
    assert failed(found, block) == {"range"}


def changed(
    found: Repair, block: BlockGraph, factor: Node | None = None, term: Node | None = None
) -> tuple[Repair, BlockGraph]:
    """The repair with its (only) component's move or term replaced, in the block too."""
    (component,) = found.components
    new = component
    if factor is not None:
        new = replace(new, moves=(Move(component.name, factor),))
    if term is not None:
        new = replace(new, term=term)
    (walk,) = block.walks
    carries = tuple(new if c.name == component.name else c for c in walk.carries)
    other = replace(block, walks=(replace(walk, carries=carries),))
    return replace(found, components=(new,)), other


LSE = BY_NAME["logsumexp"]


def states() -> tuple[Node, Node]:
    _, (found,) = repaired(LSE)
    (producer,) = found.producers
    return producer.old, producer.state


def moved_wrongly() -> dict[str, tuple[Node, Node, str]]:
    """A factor, its form with guards, and the obligation that finds it."""
    old, new = states()
    guard = eq(old, NEG_INF)
    right = exp(sub(old, finite(new)))

    def guarded(factor: Node) -> tuple[Node, Node]:
        return factor, where(guard, num(1), factor)

    loose = exp(sub(finite(old), finite(new)))
    bare = exp(sub(old, new))
    return {
        "no guard": (loose, loose, "range"),
        "no guard, undefined": (bare, bare, "domain"),
        "the other way": (*guarded(exp(sub(finite(new), old))), "separation"),
        "not at all": (num(1), num(1), "separation"),
        "twice": (*guarded(mul(right, right)), "separation"),
        "another base": (*guarded(Map(Fn.EXP2, (sub(old, finite(new)),))), "separation"),
        "not what the record says": (right, where(guard, num(1), mul(right, right)), "composition"),
        "nowhere is not nothing": (*guarded(mul(num(2), right)), "composition"),
    }


@pytest.mark.parametrize("name", moved_wrongly())
def test_a_wrong_move_is_found(name: str):
    block, (found,) = repaired(LSE)
    raw, factor, claim = moved_wrongly()[name]
    wrong, other = changed(found, block, factor)
    guards = () if raw is factor else found.guards
    assert claim in failed(replace(wrong, factors=((raw,),), guards=guards), other)


def test_a_missing_term_guard_is_found():
    block, repairs = repaired(BY_NAME["no guards"])
    found = next(r for r in repairs if any(g.absorb for g in r.guards))
    bare = found.carry.term
    (component,) = found.components
    assert component.term is not bare
    (walk,) = block.walks
    carries = tuple(replace(c, term=bare) if c is component else c for c in walk.carries)
    other = replace(block, walks=(replace(walk, carries=carries),))
    wrong = replace(found, components=(replace(component, term=bare),))
    assert "domain" in failed(wrong, other)


def test_a_wrong_separation_is_found():
    block, (found,) = repaired(LSE)
    ((a, b),) = found.parts
    wrong = replace(found, parts=((a, mul(b, b)),))
    assert failed(wrong, block) == {"separation"}


def test_a_maximum_scaled_by_a_factor_of_unknown_sign_is_found():
    case = BY_NAME["amax of rms"]
    block, (found,) = repaired(case)
    (producer,) = found.producers
    negative = mul(num(-1), div(producer.state, producer.old))
    wrong = replace(found, factors=((negative,),))
    assert "endomorphism" in failed(wrong, block)


def test_a_store_of_a_moving_value_is_found():
    block, (found,) = repaired(LSE)
    (walk,) = block.walks
    store = Store("early", ("m",), None, found.components[0].state)
    other = replace(block, walks=(replace(walk, stores=(store,)),))
    assert failed(found, other) == {"scope"}


def test_a_reader_of_a_moving_value_that_does_not_move_is_found():
    block, (found,) = repaired(LSE)
    (walk,) = block.walks
    late = Carry("late", ("m",), Fn.ADD, mul(X, found.components[0].state))
    other = replace(block, walks=(replace(walk, carries=(*walk.carries, late)),))
    assert failed(found, other) == {"scope"}


def test_a_reference_that_is_no_count_is_found():
    block, (found,) = repaired(BY_NAME["variance"])
    ((_, state),) = found.reference
    (walk,) = block.walks
    twice = {c: replace(c, term=mul(c.term, num(2))) for c in walk.carries}
    carries = tuple(twice[c] if c.state is state else c for c in walk.carries)
    other = replace(block, walks=(replace(walk, carries=carries),))
    assert "separation" in failed(found, other)
