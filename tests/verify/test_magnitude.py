from __future__ import annotations

import pytest

from superopt.repair.apply import repair
from superopt.repair.guard import Regions
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from superopt.verify.magnitude import judge_range
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict
from tests.repair.cases import MASKED
from tests.repair.cases import MEAN
from tests.repair.cases import TOP
from tests.repair.cases import X
from tests.repair.cases import Y
from tests.repair.cases import fused
from tests.samples import div
from tests.samples import exp
from tests.samples import finite
from tests.samples import largest
from tests.samples import mul
from tests.samples import num
from tests.samples import sub
from tests.samples import total

SINK = Input("sink", ("m",))


def judged(value: Node) -> Verdict:
    block, (found,) = repair(fused(("m",), value))
    carries = block.walks[0].carries
    first = [c.name for c in carries].index(found.components[0].name)
    return judge_range(found, Regions(carries[:first]))


@pytest.mark.parametrize(
    "value",
    [
        total("n", exp(sub(X, finite(TOP)))),
        total("n", exp(sub(MASKED, finite(largest("n", MASKED))))),
        total("n", exp(sub(X, TOP))),
        total("n", exp(sub(X, Map(Fn.MAX, (TOP, SINK))))),  # none may reach 0, in the spec neither
        total("n", mul(X, exp(sub(SINK, Map(Fn.MAX, (TOP, SINK)))))),  # a sink's share only falls
        total("n", mul(X, exp(mul(num(-1), Map(Fn.MAX, (TOP, num(0))))))),
        total("n", mul(sub(X, MEAN), Y)),
        total("n", mul(MEAN, Y)),
    ],
)
def test_in_range(value: Node):
    assert isinstance(judged(value), Proved)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (total("n", exp(sub(Y, finite(TOP)))), Unknown),  # y may be above the maximum of x
        (total("n", exp(mul(num(2), sub(X, mul(num(2), TOP))))), Refuted),  # none reaches 0
        (total("n", exp(sub(X, Map(Fn.ABS, (TOP,))))), Refuted),  # earlier terms may vanish
        (total("n", div(exp(X), exp(TOP))), Unknown),  # the spec itself overflows
        (total("n", mul(X, exp(sub(SINK, TOP)))), Unknown),  # a sink above all scores
        (total("n", mul(sub(X, total("n", Y)), X)), Unknown),  # a sum is no mean
    ],
)
def test_out_of_range(value: Node, kind: type):
    assert isinstance(judged(value), kind)
