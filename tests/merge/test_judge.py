from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.merge.derive import splitting
from superopt.merge.judge import differs
from superopt.merge.judge import empty_parts
from superopt.merge.judge import judged
from superopt.merge.judge import judged_pair
from superopt.merge.pair import paired
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import rebuild
from superopt.ugraph.walk import topo
from superopt.ugraph.walk import transform
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import accepted
from tests.merge import specs


def first(spec):
    return next(splitting(spec.program, "n").mergings())


def changed(merging, change):
    """The joining kernel with one node replaced."""
    stores = merging.joining.stores
    new = transform([s.value for s in stores], change)
    stores = tuple(replace(s, value=new[s.value]) for s in stores)
    return replace(merging, joining=replace(merging.joining, stores=stores))


def swapped(fn, other):
    def change(node):
        return rebuild(Map(other, node.args), node.args) if is_a(node, fn) else node

    return change


def is_a(node, fn):
    return isinstance(node, Map) and node.fn is fn


def unguarded(node):
    """Every guard at -inf lets through what it guarded."""
    match node:
        case Map(fn=Fn.WHERE, args=(Map(fn=Fn.EQ, args=(_, Const(value=v))), _, otherwise)) if (
            v == -float("inf")
        ):
            return otherwise
        case _:
            return node


def least(node):
    return replace(node, fn=Fn.MIN) if isinstance(node, Reduce) and node.fn is Fn.MAX else node


@pytest.mark.parametrize("name", ["normalised", "masked", "spread"])
def test_results_of_parts_make_up_the_whole(name):
    spec = getattr(specs, name)
    merging = first(spec)
    assert not differs(spec.program, merging)
    claims = dict(judged(spec.program, merging))
    assert all(accepted(v) for v in claims.values()), claims
    assert ("parts with hidden positions" in claims) == (name != "spread")


@pytest.mark.parametrize(
    "change",
    [swapped(Fn.ADD, Fn.SUB), swapped(Fn.EXP, Fn.LOG), swapped(Fn.DIV, Fn.MUL), unguarded, least],
    ids=["sign", "exp", "quotient", "guards", "minimum"],
)
def test_a_wrong_joining_is_refuted(change):
    merging = first(specs.normalised)
    wrong = changed(merging, change)
    assert wrong != merging
    if change is least:  # any reference will do over the reals: it is a matter of range
        assert not differs(specs.normalised.program, wrong)
        return
    assert differs(specs.normalised.program, wrong)
    claims = judged(specs.normalised.program, wrong)
    assert any(isinstance(v, Refuted) for _, v in claims)


def test_parts_without_positions_are_left_out_where_the_spec_has_no_value():
    assert not empty_parts(specs.length.program, "n")
    assert empty_parts(specs.normalised.program, "n")
    assert empty_parts(specs.spread.program, "n")  # a count says which they are
    assert not differs(specs.length.program, first(specs.length))


def test_a_decay_acts_on_what_came_before():
    merging = first(specs.decayed)
    assert not differs(specs.decayed.program, merging)
    assert "Scan" in {type(n).__name__ for n in topo(s.value for s in merging.program.outputs)}


@pytest.mark.parametrize("name", ["normalised", "spread", "decayed"])
def test_a_pair_is_two_parts(name):
    merging = first(getattr(specs, name))
    pair = paired(merging.program, merging.along)
    assert accepted(judged_pair(merging, pair)[1])
    names = [p.name for p in pair.params]
    turned = replace(
        pair, params=(*pair.params[len(names) // 2 :], *pair.params[: len(names) // 2])
    )
    verdict = judged_pair(merging, turned)[1]
    assert accepted(verdict) == (name != "decayed")  # the order matters where one part acts
