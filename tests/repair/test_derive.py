from __future__ import annotations

import numpy as np
import pytest

from superopt.errors import NoRepair
from superopt.repair.apply import repair
from superopt.repair.record import Repair
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo
from tests.repair.cases import AMAX
from tests.repair.cases import BY_NAME
from tests.repair.cases import EPS
from tests.repair.cases import MASKED
from tests.repair.cases import MEAN
from tests.repair.cases import RMS
from tests.repair.cases import TOP
from tests.repair.cases import U
from tests.repair.cases import W
from tests.repair.cases import X
from tests.repair.cases import Y
from tests.repair.cases import arrays
from tests.repair.cases import fused
from tests.repair.cases import repaired
from tests.repair.cases import run
from tests.samples import add
from tests.samples import div
from tests.samples import exp
from tests.samples import finite
from tests.samples import largest
from tests.samples import mul
from tests.samples import num
from tests.samples import sub
from tests.samples import total


def only(axes: tuple[str, ...], value: Node) -> Repair:
    _, (found,) = repair(fused(axes, value))
    return found


def guarded(found: Repair, absorb: bool) -> list[str]:
    return [g.why for g in found.guards if g.absorb is absorb]


def test_the_factor_of_a_softmax_takes_one_exponential_of_a_difference():
    found = only(("m",), total("n", exp(sub(X, finite(TOP)))))
    ((factor,),) = found.factors
    old, new = State("max0", ("m",), old=True), State("max0", ("m",))
    assert factor is exp(sub(finite(old), finite(new)))
    assert found.action is Fn.MUL
    assert found.finalise is found.components[0].state
    assert found.facts == (Map(Fn.LE, (old, new)),)


def test_the_term_is_what_the_user_wrote():
    found = only(("m",), total("n", exp(sub(X, finite(TOP)))))
    assert found.components[0].term is found.carry.term


def test_a_term_is_guarded_only_if_the_user_did_not():
    bare = only(("m",), total("n", exp(sub(X, TOP))))
    assert guarded(bare, absorb=True) == ["a tile adds nothing while max0 is -inf"]
    assert guarded(only(("m",), total("n", exp(sub(X, finite(TOP))))), absorb=True) == []


def test_an_absolute_maximum_is_guarded_at_zero_too():
    whys = guarded(repaired(BY_NAME["l2 norm"])[1][0], absorb=False)
    assert whys == [
        "nothing was absorbed while max0 is -inf",
        "nothing was absorbed while max0 is 0",
    ]


def test_no_guard_where_the_factor_is_bounded():
    assert not repaired(BY_NAME["l2 norm, eps"])[1][0].guards
    assert not repaired(BY_NAME["rms"])[1][0].guards


def test_what_does_not_depend_on_the_maximum_survives_an_empty_prefix():
    """Masked rows of x, but y has been summed: the sum must not be guarded away."""
    m = largest("n", MASKED)
    found = only(("m",), total("n", exp(sub(Y, finite(m)))))
    assert guarded(found, absorb=False) == []
    affine = repaired(BY_NAME["features plus eps"])[1][0]
    still, moving = affine.components
    assert (still.moves, {g.component for g in affine.guards}) == ((), {moving.name})


def test_parts_of_one_sign_are_kept_apart_and_nothing_cancels():
    """The only term that is left of all but the last position is the one that never moves."""
    case = BY_NAME["features plus eps"]
    block, (found,) = repaired(case)
    assert found.finalise is add(*(c.state for c in found.components))
    given = arrays(64, "late", 0)
    given["w"] = np.abs(given["w"])
    given["w"][-1] = 0
    want, got = run(case, block, given, 64, np.float32)
    np.testing.assert_allclose(got, want, 1e-6)


def test_parts_of_one_sign_survive_masked_prefixes():
    weights = exp(sub(MASKED, finite(largest("n", MASKED))))
    found = only(("m", "e"), total("n", mul(add(weights, EPS), W)))
    assert found.rank == 2
    assert {g.component for g in found.guards} == {found.components[1].name}


def test_parts_of_both_signs_are_not_kept_apart():
    found = only(("m",), total("n", sub(exp(sub(X, finite(TOP))), EPS)))
    assert found.finalise is found.components[0].state


def test_a_factor_undefined_at_a_reachable_unit_is_refused():
    m = largest("n", MASKED)
    with pytest.raises(NoRepair, match="undefined while max0 is -inf"):
        repair(fused(("m",), total("n", exp(sub(Y, m)))))


def test_a_factor_that_may_vanish_is_deferred():
    found = only(("m",), total("n", mul(MEAN, Y)))
    assert found.deferred
    assert not any(c.moves for c in found.components)
    assert found.components[0].term is Y


def test_what_is_read_after_a_deferral_is_its_value():
    late = total("n", mul(MEAN, Y))
    block, repairs = repair(fused(("m",), total("n", mul(sub(U, late), X))))
    assert [r.deferred for r in repairs] == [True, False]
    names = {c.name for c in block.walks[0].carries}
    read = {n.carry for n in topo(block.roots()) if isinstance(n, State)}
    assert read <= names


def test_rank_is_that_of_the_coefficients():
    """x u + 2 x u u has two monomials, and rank 1."""
    value = total("n", mul(RMS, add(Y, mul(num(2), mul(Y, Y)))))
    assert only(("m",), value).rank == 1
    split = total("n", add(mul(RMS, Y), mul(mul(num(2), RMS), mul(Y, Y))))
    assert only(("m",), split).rank == 1


def test_a_second_term_with_another_factor_raises_the_rank():
    both = total("n", add(mul(X, RMS), mul(Y, mul(RMS, RMS))))
    assert only(("m",), both).rank == 2


def test_a_maximum_takes_sums_first_and_products_if_positive():
    assert only(("m",), largest("n", sub(Y, MEAN))).action is Fn.ADD
    assert only(("m",), largest("n", mul(Y, RMS))).action is Fn.MUL
    with pytest.raises(NoRepair, match="positive factor"):
        repair(fused(("m",), largest("n", mul(Y, MEAN))))


def test_components_have_only_the_axes_they_need():
    _, repairs = repaired(BY_NAME["layer norm, matmul"])
    assert [c.over for c in repairs[1].components] == [("m", "e"), ("m", "e")]
    value = total("n", mul(sub(X, MEAN), W))
    assert [c.over for c in only(("m", "e"), value).components] == [("m", "e"), ("e",)]


def test_a_count_is_shared():
    block, repairs = repaired(BY_NAME["layer norm, matmul"])
    helpers = [c.name for r in repairs for c in r.helpers]
    assert helpers == ["sum1_count"]
    names = [c.name for c in block.walks[0].carries]
    assert len(names) == len(set(names))
    assert names.count("sum1_count") == 1


def test_ratios_stay_ratios():
    """(old / new)^2 is in range where old^2 / new^2 is not."""
    found = only(("m",), total("n", mul(div(X, add(AMAX, EPS)), div(X, add(AMAX, EPS)))))
    ((factor,),) = found.factors
    squares = [n for n in topo([factor]) if isinstance(n, Map) and n.fn is Fn.DIV]
    assert len(squares) == 1
    assert factor is mul(squares[0], squares[0])
