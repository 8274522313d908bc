from __future__ import annotations

import numpy as np
import pytest

from superopt.errors import NoFusion
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.evaluate import evaluate_kernels
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.node import Input
from superopt.ugraph.scalar import Fn
from tests.premature import premature
from tests.samples import attention
from tests.samples import attention_delayed
from tests.samples import lora
from tests.samples import mul
from tests.samples import online_attention
from tests.samples import rms_linear
from tests.samples import row_softmax
from tests.samples import total

ROWS = (("m", Grid()), ("n", Loop()))


def shape(passes):
    return [(axis, [fold.fn for fold in folds]) for axis, folds in passes]


def test_fewest_walks_come_first():
    found = groupings(attention_delayed().outputs, ("n",))
    assert [len(p) for p in found] == sorted(len(p) for p in found)
    assert shape(found[0]) == [("n", [Fn.MAX, Fn.ADD, Fn.ADD])]


def test_all_groupings_of_two_sums_that_read_a_maximum():
    # the maximum comes first; each sum may share its walk, or each other's, or have one alone
    found = groupings(attention_delayed().outputs, ("n",))
    assert len(found) == len(set(found)) == 5


def test_a_chain_of_folds_may_be_one_walk_or_be_cut_anywhere():
    found = [shape(p) for p in groupings(attention().outputs, ("n",))]
    cuts = [[len(folds) for _, folds in p] for p in found]
    assert sorted(cuts) == [[1, 1, 1], [1, 2], [2, 1], [3]]


def test_no_walk_is_left_without_work():
    """Stores of one value in several walks all go into the first, so no other is asked for."""
    (store,) = row_softmax().outputs
    x = Input("x", ("m", "n"))
    both = (store, Store("again", ("n", "m"), None, store.value), Store("x2", x.order, None, x))
    found = groupings(both, ("n",))
    assert found
    for passes in found:
        block = fuse(both, ROWS, (Turn("m"),), passes)
        assert all(w.carries or w.stores for w in block.walks)


def test_a_store_with_the_looped_axis_needs_a_later_walk():
    found = groupings(row_softmax().outputs, ("n",))
    assert shape(found[0]) == [("n", [Fn.MAX, Fn.ADD]), ("n", [])]
    block = fuse(row_softmax().outputs, ROWS, (Turn("m"),), found[0])
    assert [len(w.stores) for w in block.walks] == [0, 1]
    assert not block.stores


def test_a_store_shares_the_walk_of_a_later_fold():
    x = Input("x", ("m", "n"))
    stores = (*row_softmax().outputs, Store("all", ("m",), None, total("n", row_of(x))))
    found = [p for p in groupings(stores, ("n",)) if len(p) == 2]
    block = fuse(stores, ROWS, (Turn("m"),), found[0])
    assert [s.name for s in block.walks[1].stores] == ["out"]


def row_of(x):
    return mul(row_softmax().outputs[0].value, x)


def test_no_looped_axis_is_no_walk():
    assert groupings(row_softmax().outputs, ()) == [()]


def test_limit_bounds_the_number():
    assert len(groupings(attention_delayed().outputs, ("n",), limit=3)) == 3


def test_naive_fusion_leaves_premature_reads():
    sample = online_attention().kernels[0]
    program = attention_delayed()
    one, *others = groupings(program.outputs, ("n",))
    block = fuse(program.outputs, sample.places, sample.order, one)
    assert premature(block) == [("sum0", "max0"), ("sum1", "max0")]
    last = fuse(program.outputs, sample.places, sample.order, others[-1])
    assert premature(last) == []


def test_over_is_in_the_order_of_places():
    sample = online_attention().kernels[0]
    program = attention_delayed()
    block = fuse(program.outputs, sample.places, sample.order, groupings(program.outputs, "n")[0])
    assert {c.over for c in block.walks[0].carries} == {("b", "h", "m"), ("b", "h", "m", "e")}


def test_every_legal_grouping_means_the_program():
    rng = np.random.default_rng(3)
    program = row_softmax()
    arrays = {"x": rng.normal(size=(2, 7))}
    sizes = {"m": 2, "n": 7}
    domain = FloatDomain(np.float64)
    want = evaluate_program(program, domain, arrays, sizes)["out"]
    tried = 0
    for passes in groupings(program.outputs, ("n",)):
        block = fuse(program.outputs, ROWS, (Turn("m"),), passes)
        if premature(block):
            continue
        graph = KernelGraph("softmax", program.params, ("out",), (block,))
        config = Config((("m", 1), ("n", 3)))
        got = evaluate_kernels(graph, domain, arrays, sizes, (config,))["out"]
        np.testing.assert_allclose(got, want, rtol=1e-12)
        tried += 1
    assert tried == 1


def test_a_fold_over_two_walked_axes_is_a_walk_inside_a_walk():
    program = lora()
    places = (("m", Grid()), ("n", Grid()), ("k", Loop()), ("r", Loop()))
    found = groupings(program.outputs, ("k", "r"))
    assert [[axis for axis, _ in passes] for passes in found] == [["k", "r"]]
    block = fuse(program.outputs, places, (Turn("m"), Turn("n")), found[0])
    assert [(w.axis, [i.axis for i in w.inner]) for w in block.walks] == [("k", []), ("r", ["k"])]
    found = groupings(program.outputs, ("k",))
    block = fuse(program.outputs, (*places[:3], ("r", Grid())), (), found[0])
    assert [c.over for c in block.walks[0].carries] == [("m", "n"), ("m", "r")]


def test_two_looped_axes_in_a_store_are_refused():
    with pytest.raises(NoFusion, match="two looped axes"):
        groupings((Store("y", ("m", "n"), None, X),), ("m", "n"))


X = Input("x", ("m", "n"))


def test_a_split_axis_has_one_walk_and_no_store():
    places = (("m", Grid()), ("n", Split()))
    passes = groupings(row_softmax().outputs, ("n",))[0]
    with pytest.raises(NoFusion, match="split"):
        fuse(row_softmax().outputs, places, (Turn("m"),), passes)


def test_passes_in_the_wrong_order_are_refused():
    program = rms_linear()
    passes = next(p for p in groupings(program.outputs, ("k",)) if len(p) == 2)
    places = (("m", Grid()), ("n", Grid()), ("k", Loop()))
    with pytest.raises(NoFusion, match="before a fold that it reads"):
        fuse(program.outputs, places, (), passes[::-1])
    with pytest.raises(NoFusion, match="lack"):
        fuse(program.outputs, places, (), passes[:1])
