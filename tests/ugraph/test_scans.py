"""Scans in walks: the carry that they go on from, the order of tiles, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.errors import IllTyped
from superopt.errors import NoFusion
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.check import check
from superopt.ugraph.evaluate import evaluate_kernels
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Clear
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.masks import cleared
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scan
from superopt.ugraph.ranges import narrow
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scans import acting
from superopt.ugraph.scans import in_order
from superopt.ugraph.scans import running
from superopt.ugraph.text import parse
from superopt.ugraph.text import show
from tests.samples import exp
from tests.samples import largest
from tests.samples import mul
from tests.samples import num
from tests.samples import sub
from tests.samples import total
from tests.samples import where

G, V = Input("g", ("m", "n")), Input("v", ("m", "n"))
SUMS = Scan(Fn.ADD, "n", G)
NUMPY = {Fn.ADD: np.add, Fn.MUL: np.multiply, Fn.MAX: np.maximum, Fn.MIN: np.minimum}
FOLDS = st.sampled_from(sorted(NUMPY, key=lambda f: f.symbol))


def block(*values: Node, place: Place | None = None, grouping: int = 0) -> BlockGraph:
    """The fusion of these values (over m, or over m and n) with the fewest walks."""
    stores = tuple(Store(f"out{i}", v.axes, None, v) for i, v in enumerate(values))
    place = place or Loop()
    passes = groupings(stores, ["n"] if place == Loop() else [])[grouping]
    return fuse(stores, (("m", Grid()), ("n", place)), (Turn("m"),), passes)


def both(made: BlockGraph, values: tuple[Node, ...], n: int, tile: int, seed: int = 0):
    """The outputs of ``values``, and of the kernel that computes them."""
    rng = np.random.default_rng(seed)
    domain, sizes = FloatDomain(np.float64), {"m": 3, "n": n}
    given_ = {"g": rng.normal(size=(3, n)), "v": rng.normal(size=(3, n))}
    outs = tuple(Store(f"out{i}", v.axes, None, v) for i, v in enumerate(values))
    program = Program("p", (G, V), outs)
    graph = KernelGraph("p", (G, V), tuple(s.name for s in outs), (made,))
    config = Config((("m", 2), ("n", tile)))
    want = evaluate_program(program, domain, given_, sizes)
    return given_, want, evaluate_kernels(graph, domain, given_, sizes, [config])


@given(fn=FOLDS, n=st.integers(0, 9), seed=st.integers(0, 9))
@settings(max_examples=30, deadline=None)
def test_a_scan_holds_the_fold_up_to_each_position(fn: Fn, n: int, seed: int):
    value = Scan(fn, "n", G)
    given_, want, _ = both(block(value), (value,), n, 2, seed)
    np.testing.assert_allclose(want["out0"], NUMPY[fn].accumulate(given_["g"], axis=1))


@given(fn=FOLDS, n=st.integers(0, 9), tile=st.sampled_from((1, 2, 4, 16)), seed=st.integers(0, 9))
@settings(max_examples=40, deadline=None)
def test_tiles_of_a_walk_go_on_from_one_another(fn: Fn, n: int, tile: int, seed: int):
    inner = Scan(fn, "n", G)
    values = (inner, Scan(Fn.ADD, "n", mul(inner, V)), total("n", mul(inner, V)))
    made = block(*values)
    assert check(made) == []
    _, want, got = both(made, values, n, tile, seed)
    for name, value in want.items():
        np.testing.assert_allclose(got[name], value, 1e-12, 1e-12)


def test_the_last_prefix_is_the_fold():
    values = (SUMS, total("n", G))
    _, want, _ = both(block(*values), values, 7, 2)
    np.testing.assert_allclose(want["out0"][:, -1], want["out1"])


def test_nan_stays_in_all_later_prefixes():
    domain = FloatDomain(np.float64)
    g = np.array([[1.0, np.nan, 3.0], [1.0, 2.0, 3.0]])
    for fn in NUMPY:
        program = Program("p", (G,), (Store("o", ("m", "n"), None, Scan(fn, "n", G)),))
        out = evaluate_program(program, domain, {"g": g}, {"m": 2, "n": 3})["o"]
        assert np.isnan(out).tolist() == [[False, True, True], [False, False, False]]


def test_a_fold_of_the_same_term_shares_the_carry():
    (walk,) = block(total("n", G), total("n", mul(SUMS, V))).walks
    assert [c.term for c in walk.carries] == [G, mul(SUMS, V)]
    assert running(walk) == {SUMS: walk.carries[0]}


def test_a_scan_without_a_fold_gets_a_carry_of_its_own_before_its_reader():
    (walk,) = block(total("n", mul(SUMS, V))).walks
    assert [c.term for c in walk.carries] == [G, mul(SUMS, V)]
    assert len({c.name for c in walk.carries}) == 2
    second = block(total("n", exp(sub(total("n", G), SUMS))), grouping=1)
    assert [len(w.carries) for w in second.walks] == [1, 2]  # a second walk sums again
    assert check(second) == []


def test_a_scan_needs_its_carry():
    made = block(SUMS)
    (walk,) = made.walks
    bare = replace(made, walks=(replace(walk, carries=()),))
    assert any("has no carry" in p for p in check(bare))
    moved = replace(walk.carries[0], term=V)
    wrong = replace(made, walks=(replace(walk, carries=(moved,)),))
    assert any("has no carry" in p for p in check(wrong))


def test_a_scan_is_not_cut_into_programs_nor_read_outside_of_its_walk():
    assert any("cut into programs" in p for p in check(_placed(Grid())))
    assert not any("scan" in p for p in check(_placed(Whole())))
    made = block(total("n", mul(SUMS, V)))
    late = Store("late", ("m", "n"), None, SUMS)
    assert any("outside of its walk" in p for p in check(replace(made, stores=(late,))))


def _placed(place: Place) -> BlockGraph:
    order = (Turn("m"), Turn("n")) if isinstance(place, Grid) else (Turn("m"),)
    stores = (Store("o", ("m", "n"), None, SUMS),)
    return BlockGraph((("m", Grid()), ("n", place)), (), stores, order)


def test_prefixes_of_what_still_moves_are_refused():
    moving = Scan(Fn.ADD, "n", sub(G, largest("n", G)))
    with pytest.raises(NoFusion, match="moves until the walk ends"):
        block(total("n", mul(moving, V)))
    later = block(total("n", mul(moving, V)), grouping=1)
    assert check(later) == []
    assert len(later.walks) == 2


def test_tiles_in_another_order_are_found():
    made = block(SUMS)
    (walk,) = made.walks
    back = replace(made, walks=(replace(walk, reverse=True),))
    assert any("another order" in p for p in check(back))
    assert in_order(replace(walk, clear=Clear()))


@pytest.mark.parametrize("first", [True, False])
def test_masks_do_not_bring_tiles_out_of_order(first: bool):
    """A mask at the end leaves clear tiles in front; one at the beginning would not."""
    pair = (num(5), Index("n")) if first else (Index("n"), num(5))
    masked = where(Map(Fn.LE, pair), G, num(0))
    value = total("n", mul(exp(Scan(Fn.ADD, "n", masked)), where(Map(Fn.LE, pair), V, num(0))))
    made = cleared(narrow(block(value)), ["n"])
    assert all(in_order(w) for w in made.walks)
    assert check(made) == []
    for tile in (1, 2, 4):
        _, want, got = both(made, (value,), 11, tile)
        np.testing.assert_allclose(got["out0"], want["out0"], 1e-12)


def test_a_total_acts_on_what_reads_its_prefixes():
    (walk,) = block(total("n", exp(sub(total("n", G), SUMS)))).walks
    assert acting(walk) == {"sum0": frozenset(), "sum1": frozenset({"sum0"})}


def test_text_and_parse_agree():
    made = block(SUMS, total("n", Scan(Fn.MAX, "n", mul(SUMS, V))))
    assert parse(show(made)) == made
    assert parse(show(Scan(Fn.MAX, "n", G))) is Scan(Fn.MAX, "n", G)


def test_a_scan_is_along_an_axis_of_numbers():
    with pytest.raises(IllTyped, match="no axis 'k'"):
        Scan(Fn.ADD, "k", G)
    with pytest.raises(IllTyped, match="truth values"):
        Scan(Fn.ADD, "n", Map(Fn.LE, (G, Const(Fraction(0)))))
    with pytest.raises(IllTyped, match="no fold"):
        Scan(Fn.SUB, "n", G)
