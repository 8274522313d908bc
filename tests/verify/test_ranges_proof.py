from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.ugraph.levels import Bound
from superopt.ugraph.masks import ClearClaim
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.ranges import BoundClaim
from superopt.ugraph.ranges import claims
from superopt.ugraph.scalar import Fn
from superopt.verify.ranges_proof import prove_clear
from superopt.verify.ranges_proof import prove_limit
from superopt.verify.ranges_proof import prove_limits
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown
from tests.samples import add
from tests.samples import mul
from tests.samples import num
from tests.samples import online_attention
from tests.samples import sub

M, N = Index("m"), Index("n")
CAUSAL = Map(Fn.LE, (N, M))
W = Scalar("w", "int32")
WINDOW = Map(Fn.AND, (CAUSAL, Map(Fn.LT, (sub(M, N), W))))


@pytest.mark.parametrize(
    ("side", "terms", "offset", "condition", "kind"),
    [
        ("stop", (("m", 1),), num(1), CAUSAL, Proved),
        ("stop", (("m", 1),), num(0), CAUSAL, Refuted),
        ("stop", (), Size("m"), CAUSAL, Proved),
        ("stop", (), sub(Size("m"), num(1)), CAUSAL, Refuted),
        ("start", (("m", 1),), sub(num(1), W), WINDOW, Proved),
        ("start", (("m", 1),), sub(num(2), W), WINDOW, Refuted),
        ("start", (("m", 1),), num(0), CAUSAL, Refuted),
        ("stop", (), num(0), False, Proved),
        ("stop", (("m", 1),), num(1), True, Unknown),
        ("stop", (), mul(W, W), Map(Fn.LT, (N, mul(W, W))), Proved),
        ("stop", (), W, Map(Fn.LT, (N, mul(W, W))), Unknown),
    ],
)
def test_limits_are_proved_or_not(side, terms, offset, condition, kind):
    verdict = prove_limit(BoundClaim("n", side, Bound(terms, offset), condition))
    assert isinstance(verdict, kind), verdict


def test_a_counterexample_names_positions_sizes_and_tiles():
    verdict = prove_limit(BoundClaim("n", "stop", Bound((("m", 1),), num(0)), CAUSAL))
    at = dict(verdict.at)
    assert int(at["n"]) <= int(at["m"]) < int(at["size(m)"])
    assert int(at["n"]) >= int(at["tile of m"].split("..")[1])


def test_the_widest_position_of_a_tile_counts():
    """A bound taken at the first row of a tile would lose positions of the others."""
    reversed_mask = Map(Fn.LE, (N, sub(num(9), M)))
    claim = BoundClaim("n", "stop", Bound((("m", -1),), num(10)), reversed_mask)
    assert isinstance(prove_limit(claim), Proved)


def test_limits_that_somebody_put_there_are_judged():
    block = online_attention(causal=True).kernels[0]
    ((claim, verdict),) = prove_limits(block)
    assert claim.bound == block.walks[0].stop[0]
    assert isinstance(verdict, Proved)
    (walk,) = block.walks
    short = replace(block, walks=(replace(walk, stop=(Bound((("m", 1),), num(0)),)),))
    ((_, verdict),) = prove_limits(short)
    assert isinstance(verdict, Refuted)
    plain = online_attention(causal=False).kernels[0]
    wrong = replace(plain, walks=(replace(plain.walks[0], stop=walk.stop),))
    ((_, verdict),) = prove_limits(wrong)
    assert isinstance(verdict, Unknown)
    assert claims(plain) == ()


def test_what_depends_on_data_is_unknown():
    masked = Map(Fn.AND, (CAUSAL, Map(Fn.LT, (Input("x", ("n",)), num(0)))))
    right = BoundClaim("n", "stop", Bound((("m", 1),), num(1)), masked)
    assert isinstance(prove_limit(right), Proved)
    wrong = BoundClaim("n", "stop", Bound((("m", 1),), num(0)), masked)
    verdict = prove_limit(wrong)
    assert isinstance(verdict, Unknown)
    assert verdict.why.endswith("if data allow it: lt(x[n], 0)")


def test_a_small_budget_is_unknown_not_wrong():
    claim = BoundClaim("n", "start", Bound((("m", 1),), sub(num(1), W)), WINDOW)
    verdict = prove_limit(claim, rlimit=1)
    assert isinstance(verdict, Unknown)
    assert verdict.why.startswith("z3")


FIRST = Input("first", ("m",), "int32")
AFTER = Map(Fn.LE, (FIRST, N))
DIAGONAL = (Bound((("m", 1),), num(1)),)


@pytest.mark.parametrize(
    ("condition", "start", "stop", "kind"),
    [
        (CAUSAL, (), DIAGONAL, Proved),
        (CAUSAL, (), (Bound((("m", 1),), num(2)),), Refuted),
        (CAUSAL, (), (), Refuted),
        (CAUSAL, (), (Bound((), num(1)),), Proved),
        (WINDOW, (Bound((("m", 1),), sub(num(1), W)),), DIAGONAL, Proved),
        (WINDOW, (Bound((("m", 1),), sub(num(0), W)),), DIAGONAL, Refuted),
        (WINDOW, (), DIAGONAL, Refuted),
        (AFTER, (Bound((), FIRST),), (), Proved),
        (AFTER, (Bound((), sub(FIRST, num(1))),), (), Unknown),  # the data are not known
        (Map(Fn.LT, (N, add(M, FIRST))), (), (Bound((("m", 1),), FIRST),), Proved),
        (Map(Fn.LT, (Input("x", ("n",)), num(0))), (), (), Unknown),
    ],
)
def test_what_clear_tiles_drop_holds_or_does_not(condition, start, stop, kind):
    verdict = prove_clear(ClearClaim("n", condition, start, stop))
    assert isinstance(verdict, kind), verdict


def test_the_narrowest_position_of_a_tile_counts():
    """The first row of a tile meets the diagonal first."""
    reversed_mask = Map(Fn.LE, (N, sub(num(9), M)))
    right = ClearClaim("n", reversed_mask, (), (Bound((("m", -1),), num(10)),))
    assert isinstance(prove_clear(right), Proved)
    verdict = prove_clear(ClearClaim("n", CAUSAL, (), (Bound((("m", 1),), num(3)),)))
    at = dict(verdict.at)
    assert int(at["n"]) > int(at["m"])
    assert int(at["n"]) < int(at["tile of m"].split("..")[0]) + 3


def test_limits_from_memory_are_proved_for_all_data():
    right = BoundClaim("n", "start", Bound((), FIRST), AFTER)
    assert isinstance(prove_limit(right), Proved)
    wrong = BoundClaim("n", "start", Bound((), add(FIRST, num(1))), AFTER)
    assert isinstance(prove_limit(wrong), Unknown)
