from __future__ import annotations

import pytest

from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.verify.equality import both
from superopt.verify.equality import opened
from superopt.verify.equality import same_value
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from tests.samples import add
from tests.samples import div
from tests.samples import exp
from tests.samples import mul
from tests.samples import num
from tests.samples import rsqrt
from tests.samples import sub
from tests.samples import total

S = State("s", ("m",))
X, W = Input("x", ("m", "n")), Input("w", ("n",))


def test_exponentials_of_sums_are_proved():
    left = exp(sub(mul(X, rsqrt(W)), S))
    right = mul(exp(mul(X, rsqrt(W))), exp(mul(num(-1), S)))
    assert isinstance(same_value(left, right), Proved)


def test_a_fold_with_a_state_is_sampled():
    left = total("n", mul(exp(sub(X, S)), W))
    right = mul(exp(mul(num(-1), S)), total("n", mul(exp(X), W)))
    assert isinstance(same_value(left, right), Sampled)


def test_facts_are_used():
    assert isinstance(same_value(div(S, S), num(1)), Refuted)
    assert isinstance(same_value(div(S, S), num(1), (Map(Fn.LT, (num(0), S)),)), Proved)


def test_a_difference_is_refuted():
    assert isinstance(same_value(exp(add(X, S)), add(exp(X), exp(S))), Refuted)


def test_opened_nodes_have_no_state():
    (node,) = opened([add(S, total("n", X))])
    assert node.axes == ("m",)
    assert all(isinstance(a, Input) for a in node.args)


@pytest.mark.parametrize(
    ("verdicts", "kind"),
    [
        ([Proved("a"), Proved("b")], Proved),
        ([Proved("a"), Sampled(3, -70.0)], Sampled),
        ([Sampled(3, -70.0), Unknown("why")], Unknown),
        ([Unknown("why"), Refuted(())], Refuted),
        ([], Proved),
    ],
)
def test_all_of_several_is_the_weakest(verdicts, kind):
    assert isinstance(both(verdicts), kind)


def test_all_of_several_samples_has_the_worst_bound():
    assert both([Sampled(9, -90.0), Sampled(4, -70.0)]) == Sampled(4, -70.0)
