from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.ugraph.carry import Carry
from superopt.ugraph.check import check
from superopt.ugraph.evaluate import evaluate_launch
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.ranges import claims
from superopt.ugraph.ranges import narrow
from superopt.ugraph.scalar import Fn
from superopt.verify.ranges_proof import prove_limits
from superopt.verify.verdict import Proved
from tests.samples import NEG_INF
from tests.samples import add
from tests.samples import exp
from tests.samples import mul
from tests.samples import num
from tests.samples import online_attention
from tests.samples import sub
from tests.samples import two_pass_softmax
from tests.samples import where

M, N = Index("m"), Index("n")
X = Input("x", ("m", "n"))
LENGTHS = Input("lengths", ("m",), "int32")
W, LENGTH = Scalar("w", "int32"), Scalar("length", "int32")


def lt(a, b):
    return Map(Fn.LT, (a, b))


def le(a, b):
    return Map(Fn.LE, (a, b))


def both(*parts):
    return parts[0] if len(parts) == 1 else Map(Fn.AND, (parts[0], both(*parts[1:])))


def masked_sum(*conditions, m_place=None):
    carries = tuple(
        Carry(f"c{i}", ("m",), Fn.ADD, where(c, X, num(0))) for i, c in enumerate(conditions)
    )
    stores = tuple(Store(f"out{i}", ("m",), None, c.state) for i, c in enumerate(carries))
    place = m_place or Grid()
    order = (Turn("m"),) if isinstance(place, Grid) else ()
    return BlockGraph((("m", place), ("n", Loop())), (Walk("n", carries),), stores, order)


def limits(block):
    (walk,) = narrow(block).walks
    return walk.start, walk.stop


DIAGONAL = Bound((("m", 1),), num(1))


@pytest.mark.parametrize(
    ("condition", "start", "stop"),
    [
        (le(N, M), (), (DIAGONAL,)),
        (Map(Fn.NOT, (lt(M, N),)), (), (DIAGONAL,)),
        (lt(N, M), (), (Bound((("m", 1),), num(0)),)),
        (le(M, N), (Bound((("m", 1),), num(0)),), ()),
        # The queries are the last ones: m + size(n) - size(m) >= n.
        (
            le(N, sub(add(M, Size("n")), Size("m"))),
            (),
            (Bound((("m", 1),), add(sub(Size("n"), Size("m")), num(1))),),
        ),
        (lt(N, LENGTH), (), (Bound((), LENGTH),)),
        (
            both(le(N, M), lt(sub(M, N), W)),
            (Bound((("m", 1),), sub(num(1), W)),),
            (DIAGONAL,),
        ),
        (
            lt(Map(Fn.ABS, (sub(M, N),)), num(3)),
            (Bound((("m", 1),), num(-2)),),
            (Bound((("m", 1),), num(3)),),
        ),
        (both(le(N, M), lt(N, LENGTH)), (), (DIAGONAL, Bound((), LENGTH))),
        (both(le(N, M), le(N, add(M, num(2)))), (), (DIAGONAL,)),
        (Map(Fn.OR, (le(N, M), le(N, add(M, num(2))))), (), (Bound((("m", 1),), num(3)),)),
        (Map(Fn.OR, (le(N, M), lt(N, LENGTH))), (), ()),
        (Map(Fn.EQ, (N, M)), (Bound((("m", 1),), num(0)),), (DIAGONAL,)),
        (le(mul(num(2), M), N), (Bound((("m", 2),), num(0)),), ()),
        (lt(N, Size("n")), (), ()),  # says nothing that the range does not
        (le(num(0), N), (), ()),
        (le(mul(num(2), N), M), (), ()),  # not a unit coefficient
        (lt(N, LENGTHS), (), (Bound((), LENGTHS),)),
        (le(N, add(M, LENGTHS)), (), (Bound((("m", 1),), add(LENGTHS, num(1))),)),
        (lt(N, Map(Fn.MIN, (LENGTHS, W))), (), (Bound((), LENGTHS), Bound((), W))),
        (le(Map(Fn.MAX, (LENGTHS, M)), N), (Bound((), LENGTHS), Bound((("m", 1),), num(0))), ()),
        (lt(N, Input("ends", ("n",), "int32")), (), ()),  # another one at every position
        (lt(X, num(0)), (), ()),
    ],
)
def test_limits_are_found(condition, start, stop):
    block = masked_sum(condition)
    assert limits(block) == (start, stop)
    assert check(narrow(block)) == []
    assert all(isinstance(v, Proved) for _, v in prove_limits(narrow(block)))


def test_the_limit_of_causal_attention_is_the_diagonal():
    expected = online_attention(causal=True).kernels[0]
    (walk,) = expected.walks
    bare = replace(expected, walks=(replace(walk, stop=()),))
    assert narrow(bare) == expected
    assert narrow(expected) == expected
    split = online_attention(causal=True, split=True).kernels[0]
    assert narrow(replace(split, walks=(replace(walk, stop=()),))) == split


def test_without_a_mask_nothing_is_narrowed():
    block = online_attention().kernels[0]
    assert narrow(block) == block
    assert claims(block) == ()


def test_a_limit_must_hold_for_every_carry_of_the_walk():
    assert limits(masked_sum(le(N, M), le(N, add(M, num(4))))) == (
        (),
        (Bound((("m", 1),), num(5)),),
    )
    assert limits(masked_sum(le(N, M), lt(X, num(0)))) == ((), ())
    count = Carry("count", ("m",), Fn.ADD, where(lt(X, num(0)), num(1), num(0)))
    block = masked_sum(le(N, M))
    (walk,) = block.walks
    both_carries = replace(block, walks=(replace(walk, carries=(*walk.carries, count)),))
    assert limits(both_carries) == ((), ())


def test_a_walk_that_stores_keeps_its_range():
    block = two_pass_softmax().kernels[0]
    masked = where(le(N, M), X, NEG_INF)
    store = Store("out", ("m", "n"), None, exp(masked))
    walk = Walk("n", (), (store,))
    assert narrow(replace(block, walks=(walk,))).walks == (walk,)


def test_axes_that_are_whole_count_at_their_extreme_position():
    whole = masked_sum(le(N, M), m_place=Whole())
    assert limits(whole) == ((), (Bound((), Size("m")),))
    assert limits(masked_sum(le(M, N), m_place=Whole())) == ((), ())


def test_an_unguarded_term_is_not_taken_for_its_unit():
    """exp(-inf - m) is undefined while m is -inf: such a position does not count as masked."""
    s = where(le(N, M), X, NEG_INF)
    top = State("top", ("m",))
    carries = (
        Carry("top", ("m",), Fn.MAX, s),
        Carry("sum", ("m",), Fn.ADD, exp(sub(s, top))),
    )
    block = masked_sum(le(N, M))
    store = Store("out", ("m",), None, carries[1].state)
    naive = replace(block, walks=(Walk("n", carries),), stores=(store,))
    assert limits(naive) == ((), ())
    guarded = where(Map(Fn.EQ, (top, NEG_INF)), num(0), exp(sub(s, top)))
    repaired = replace(naive, walks=(Walk("n", (carries[0], replace(carries[1], term=guarded))),))
    assert limits(repaired) == ((), (DIAGONAL,))


INTEGER = st.sampled_from(
    [
        *(M, N, add(M, N), sub(N, M), Size("m"), Size("n"), W, LENGTHS, num(2), add(N, num(1))),
        *(sub(num(3), N), sub(M, LENGTHS), add(LENGTHS, num(2)), Map(Fn.MIN, (M, LENGTHS))),
    ]
)
ATOM = st.builds(
    lambda f, a, b: Map(f, (a, b)), st.sampled_from([Fn.LT, Fn.LE, Fn.EQ]), INTEGER, INTEGER
)
CONDITION = st.recursive(
    ATOM,
    lambda c: st.one_of(
        st.builds(lambda f, a, b: Map(f, (a, b)), st.sampled_from([Fn.AND, Fn.OR]), c, c),
        st.builds(lambda a: Map(Fn.NOT, (a,)), c),
    ),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None)
@given(CONDITION, st.integers(0, 7), st.integers(0, 9), st.integers(-3, 6), st.sampled_from([1, 2]))
def test_narrowing_never_changes_the_value_and_is_proved(condition, m, n, w, tile):
    if not {"m", "n"} <= set(where(condition, X, num(0)).axes):
        return
    block = masked_sum(condition)
    narrowed = narrow(block)
    arrays = {"x": np.arange(1.0, m * n + 1).reshape(m, n), "w": np.asarray(w)}
    arrays["lengths"] = (np.arange(m) * (w - 1) + w) % 13 - 3
    config = Config((("m", tile), ("n", 2)))
    sizes = {"m": m, "n": n}
    before = evaluate_launch(block, FloatDomain(), arrays, sizes, config)["out0"]
    after = evaluate_launch(narrowed, FloatDomain(), arrays, sizes, config)["out0"]
    np.testing.assert_array_equal(after, before)
    assert all(isinstance(v, Proved) for _, v in prove_limits(narrowed))
