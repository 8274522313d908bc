from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from superopt.errors import NoRepair
from superopt.repair.expression import LARGEST
from superopt.repair.expression import LN2
from superopt.repair.expression import written
from superopt.ugraph.node import Map
from superopt.ugraph.node import Scalar
from superopt.ugraph.scalar import Fn
from tests.samples import add
from tests.samples import div
from tests.samples import exp
from tests.samples import mul
from tests.samples import num
from tests.samples import rsqrt
from tests.samples import sub

y, z, u = sp.Symbol("y000", positive=True), sp.Symbol("z000", positive=True), sp.Symbol("u001")
NEW, OLD, U = Scalar("new"), Scalar("old"), Scalar("u")
NODES = {y: NEW, z: OLD, u: U}


@pytest.mark.parametrize(
    ("e", "node"),
    [
        (sp.exp(z - y), exp(sub(OLD, NEW))),
        (sp.exp(LN2 * (z - y)), Map(Fn.EXP2, (sub(OLD, NEW),))),
        (z / y, div(OLD, NEW)),
        (z**2 / y**2, mul(div(OLD, NEW), div(OLD, NEW))),
        (1 / sp.sqrt(y), rsqrt(NEW)),
        (sp.sqrt(y), Map(Fn.SQRT, (NEW,))),
        (sp.Rational(3, 4), num(Fraction(3, 4))),
        (-(y - z) * u, mul(U, sub(OLD, NEW))),
        (sp.Abs(u), Map(Fn.ABS, (U,))),
        (sp.log(y), Map(Fn.LOG, (NEW,))),
        (LARGEST(u, y), Map(Fn.MAX, (U, NEW))),
        (1 / u**2, div(num(1), mul(U, U))),
        (-u, mul(num(-1), U)),
    ],
)
def test_written(e, node):
    assert written(e, NODES) is node


def test_old_and_new_values_are_subtracted_from_each_other_first():
    """Each is large, and their sums would lose what the differences have."""
    logs = sub(Map(Fn.LOG, (NEW,)), Map(Fn.LOG, (OLD,)))
    found = written(sp.log(y) + z - sp.log(z) - y + u, NODES)
    assert found in (add(add(logs, sub(OLD, NEW)), U), add(add(sub(OLD, NEW), logs), U))


def test_what_no_function_says_is_refused():
    with pytest.raises(NoRepair, match="no node says"):
        written(sp.sin(u), NODES)
    with pytest.raises(NoRepair, match="power"):
        written(y ** sp.Rational(1, 3), NODES)
