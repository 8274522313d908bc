from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.errors import ParseError
from superopt.ugraph.carry import Carry
from superopt.ugraph.check import check
from superopt.ugraph.evaluate import evaluate_launch
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Clear
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.masks import clear_claims
from superopt.ugraph.masks import cleared
from superopt.ugraph.masks import masked
from superopt.ugraph.masks import unmasked
from superopt.ugraph.names import rename
from superopt.ugraph.node import Map
from superopt.ugraph.node import Size
from superopt.ugraph.parse import parse
from superopt.ugraph.ranges import narrow
from superopt.ugraph.scalar import Fn
from superopt.ugraph.text import show
from superopt.verify.ranges_proof import prove_clears
from superopt.verify.ranges_proof import prove_limits
from superopt.verify.verdict import Proved
from tests.samples import NEG_INF
from tests.samples import add
from tests.samples import exp
from tests.samples import mul
from tests.samples import num
from tests.samples import online_attention
from tests.samples import sub
from tests.samples import where
from tests.ugraph.test_ranges import CONDITION
from tests.ugraph.test_ranges import DIAGONAL
from tests.ugraph.test_ranges import LENGTHS
from tests.ugraph.test_ranges import M
from tests.ugraph.test_ranges import N
from tests.ugraph.test_ranges import W
from tests.ugraph.test_ranges import X
from tests.ugraph.test_ranges import both
from tests.ugraph.test_ranges import le
from tests.ugraph.test_ranges import lt
from tests.ugraph.test_ranges import masked_sum

CAUSAL, LATE = le(N, M), lt(sub(M, N), W)
LATER = Bound((("m", 1),), sub(num(1), W))
DATA = lt(X, num(0))


@pytest.mark.parametrize(
    ("condition", "conditions", "start", "stop"),
    [
        (CAUSAL, (CAUSAL,), (), (DIAGONAL,)),
        (both(CAUSAL, LATE), (CAUSAL, LATE), (LATER,), (DIAGONAL,)),
        (both(CAUSAL, DATA), (CAUSAL,), (), (DIAGONAL,)),
        (Map(Fn.NOT, (lt(M, N),)), (Map(Fn.NOT, (lt(M, N),)),), (), (DIAGONAL,)),
        (lt(N, LENGTHS), (lt(N, LENGTHS),), (), (Bound((), LENGTHS),)),
        (
            lt(Map(Fn.ABS, (sub(M, N),)), W),
            (lt(Map(Fn.ABS, (sub(M, N),)), W),),
            (LATER,),
            (Bound((("m", 1),), W),),
        ),
        (
            le(N, Map(Fn.MIN, (M, W))),
            (le(N, Map(Fn.MIN, (M, W))),),
            (),
            (DIAGONAL, Bound((), add(W, num(1)))),
        ),
    ],
)
def test_conditions_that_hold_within_limits_are_dropped(condition, conditions, start, stop):
    block = cleared(narrow(masked_sum(condition)))
    (walk,) = block.walks
    assert walk.clear == Clear(conditions, start, stop)
    assert check(block) == []
    assert parse(show(block)) == block
    assert [claim.condition for claim in clear_claims(block)] == list(conditions)
    assert all(isinstance(verdict, Proved) for _, verdict in prove_clears(block))


@pytest.mark.parametrize(
    "condition",
    [
        DATA,
        Map(Fn.OR, (CAUSAL, LATE)),
        Map(Fn.NOT, (both(CAUSAL, LATE),)),
        Map(Fn.EQ, (N, M)),
        le(mul(num(2), N), M),  # not a unit coefficient
        lt(M, W),  # the same for all positions walked
        lt(Map(Fn.ABS, (sub(M, N),)), num(5)),  # shorter than any tile
        lt(W, Map(Fn.ABS, (sub(M, N),))),  # two ranges
    ],
)
def test_other_masks_stay_in_every_tile(condition):
    block = masked_sum(both(condition, le(X, num(9))) if condition.axes == ("m",) else condition)
    assert cleared(block).walks[0].clear is None


def test_axes_that_are_whole_count_at_their_other_extreme_position():
    whole = cleared(masked_sum(CAUSAL, m_place=Whole()))
    assert whole.walks[0].clear == Clear((CAUSAL,), (), (Bound((), num(1)),))
    late = cleared(masked_sum(le(M, N), m_place=Whole()))
    assert late.walks[0].clear == Clear((le(M, N),), (Bound((), sub(Size("m"), num(1))),), ())


def test_a_ragged_end_is_masked_alone():
    block = masked_sum(DATA)
    (walk,) = cleared(block, ragged=("m", "n")).walks
    assert walk.clear == Clear()
    assert unmasked(walk) == replace(walk, clear=None)
    assert cleared(block, ragged=("m",)) == block
    found = cleared(block, ragged=("n",))
    assert check(found) == []
    assert parse(show(found)) == found


def test_what_is_left_to_do_on_clear_tiles():
    (walk,) = cleared(online_attention(causal=True).kernels[0]).walks
    (plain,) = online_attention().kernels[0].walks
    assert unmasked(walk) == replace(plain, stop=walk.stop)
    assert masked(walk) == {CAUSAL, M, N, walk.carries[0].term}


def test_a_condition_that_decides_a_kind_or_an_axis_stays():
    half = num(Fraction(1, 2))
    kinds = mul(where(CAUSAL, num(1), half), X)
    count = where(CAUSAL, num(1), num(0))
    for term in (kinds, count):
        walk = Walk(
            "n", (Carry("c", ("m",), Fn.ADD, term),), clear=Clear((CAUSAL,), (), (DIAGONAL,))
        )
        assert unmasked(walk).carries == walk.carries
        assert masked(walk) == frozenset()
        block = masked_sum(CAUSAL)
        stores = (Store("out", ("m",), None, walk.carries[0].state),)
        block = replace(block, walks=(replace(walk, clear=None),), stores=stores)
        assert cleared(block) == block  # nothing would be gained


def test_parts_of_conditions_go_alone():
    term = where(both(CAUSAL, DATA), X, num(0))
    other = where(Map(Fn.OR, (CAUSAL, DATA)), X, num(0))
    denied = where(Map(Fn.NOT, (CAUSAL,)), num(0), exp(X))
    carries = tuple(Carry(f"c{i}", ("m",), Fn.ADD, t) for i, t in enumerate((term, other, denied)))
    walk = Walk("n", carries, clear=Clear((CAUSAL,), (), (DIAGONAL,)))
    assert [c.term for c in unmasked(walk).carries] == [where(DATA, X, num(0)), X, exp(X)]
    lost = masked(walk)
    assert {CAUSAL, M, N, both(CAUSAL, DATA), other, denied} <= lost
    assert not {X, DATA, term, exp(X)} & lost


def test_stores_of_a_walk_are_unmasked_too():
    store = Store("y", ("m", "n"), None, where(CAUSAL, X, NEG_INF))
    block = cleared(
        narrow(replace(masked_sum(CAUSAL), walks=(Walk("n", (), (store,)),), stores=()))
    )
    (walk,) = block.walks
    assert walk.stop == ()
    assert walk.clear == Clear((CAUSAL,), (), (DIAGONAL,))
    assert unmasked(walk).stores[0].value == X


def test_names_and_text_cover_what_is_clear():
    block = cleared(narrow(masked_sum(both(CAUSAL, both(LATE, le(LENGTHS, N))))))
    renamed = rename(block, {"m": "a0", "n": "a1"}, {"w": "t0", "lengths": "t1", "x": "t2"})
    assert "    clear from a0 + %0, t1[a0]:int32 to a0 + 1 of %1, %2, %3\n" in show(renamed)
    back = rename(renamed, {"a0": "m", "a1": "n"}, {"t0": "w", "t1": "lengths", "t2": "x"})
    assert back == block
    assert parse(show(renamed)) == renamed
    with pytest.raises(ParseError, match="line 6: nothing may follow here, found 'off'"):
        parse(show(cleared(masked_sum(DATA), ragged=("n",))).replace("clear", "clear off"))


@settings(max_examples=120, deadline=None)
@given(
    CONDITION,
    CONDITION,
    st.integers(0, 7),
    st.integers(0, 9),
    st.integers(-3, 6),
    st.sampled_from([1, 2]),
    st.lists(st.integers(-4, 12), min_size=7, max_size=7),
    st.booleans(),
)
def test_clearing_never_changes_the_value_and_is_proved(
    first, second, m, n, w, tile, lengths, reverse
):
    condition = both(first, second)
    assume({"m", "n"} <= set(where(condition, X, num(0)).axes))
    block = masked_sum(condition, CAUSAL)
    marked = cleared(narrow(block))
    marked = replace(marked, walks=tuple(replace(walk, reverse=reverse) for walk in marked.walks))
    assert check(marked) == []
    assert parse(show(marked)) == marked
    arrays = {"x": np.arange(1.0, m * n + 1).reshape(m, n), "w": np.asarray(w)}
    arrays["lengths"] = np.asarray(lengths[:m], np.int64)
    config = Config((("m", tile), ("n", 2)))
    sizes = {"m": m, "n": n}
    before = evaluate_launch(block, FloatDomain(), arrays, sizes, config)
    after = evaluate_launch(marked, FloatDomain(), arrays, sizes, config)
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value)
    assert all(isinstance(v, Proved) for _, v in prove_limits(marked))
    assert all(isinstance(v, Proved) for _, v in prove_clears(marked))


def test_clear_tiles_are_walked_without_their_conditions():
    """The meaning itself: a false claim changes the value exactly on the tiles it covers."""
    block = masked_sum(CAUSAL)
    (walk,) = block.walks
    wrong = replace(block, walks=(replace(walk, clear=Clear((CAUSAL,), (), (Bound((), num(5)),))),))
    arrays = {"x": np.ones((1, 8))}
    config = Config((("m", 1), ("n", 2)))
    sizes = {"m": 1, "n": 8}
    assert evaluate_launch(block, FloatDomain(), arrays, sizes, config)["out0"] == [1]
    assert evaluate_launch(wrong, FloatDomain(), arrays, sizes, config)["out0"] == [4]
