"""NaN in padding: which positions it is planted at, and whether kernels let it through."""

from __future__ import annotations

import re

import numpy as np
import pytest

from superopt.repair.apply import repair
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Scalar
from superopt.ugraph.ranges import narrow
from superopt.ugraph.scalar import Fn
from superopt.verify.run.calls import trial_of
from superopt.verify.run.checks import Call
from superopt.verify.run.checks import judged
from superopt.verify.run.execute import Runner
from superopt.verify.run.inputs import families
from superopt.verify.run.padding import Hidden
from superopt.verify.run.padding import Weighed
from superopt.verify.run.padding import ignored
from superopt.verify.run.sizes import small_configs
from tests import samples
from tests.emit.printed import Printed
from tests.samples import Program
from tests.samples import Store

SIZES = {"b": 2, "m": 19, "n": 20, "d": 10, "e": 12}
N, LAST = Index("n"), Input("last", ("b",), "int32")
BEFORE = Map(Fn.LT, (N, LAST))


def attention() -> Program:
    """Keys of a batch end at ``last``, and a row sees those from its ``first`` on."""
    q, k, v = Input("q", ("b", "m", "d")), Input("k", ("b", "n", "d")), Input("v", ("b", "n", "e"))
    first = Input("first", ("b", "m"), "int32")
    seen = Map(Fn.AND, (BEFORE, Map(Fn.LE, (first, N))))
    scores = samples.where(seen, samples.total("d", samples.mul(q, k)), samples.NEG_INF)
    out = samples.total("n", samples.mul(samples.softmax(scores, "n"), v))
    return Program("f", (q, k, v, first, LAST), (Store("out", ("b", "m", "e"), None, out),))


def rows() -> Program:
    """Rows of different lengths, several of them in the tile of a program."""
    x, y = Input("x", ("b", "n")), Input("y", ("b", "n"))
    s = samples.where(BEFORE, x, samples.NEG_INF)
    out = samples.total("n", samples.mul(samples.softmax(s, "n"), y))
    return Program("f", (x, y, LAST), (Store("out", ("b",), None, out),))


def marked(every: bool) -> Program:
    """Keys that are padding are marked; ``every``: rows are the batch itself, in one tile."""
    keep = Input("keep", ("b", "n"), "bool")
    if every:
        x, y = Input("x", ("b", "n")), Input("y", ("b", "n"))
        weights = samples.softmax(samples.where(keep, x, samples.NEG_INF), "n")
        out = Store("out", ("b",), None, samples.total("n", samples.mul(weights, y)))
        return Program("f", (x, y, keep), (out,))
    q, k, v = Input("q", ("b", "m", "d")), Input("k", ("b", "n", "d")), Input("v", ("b", "n", "e"))
    scores = samples.where(keep, samples.total("d", samples.mul(q, k)), samples.NEG_INF)
    value = samples.total("n", samples.mul(samples.softmax(scores, "n"), v))
    return Program("f", (q, k, v, keep), (Store("out", ("b", "m", "e"), None, value),))


def length() -> Program:
    x, y, count = Input("x", ("m", "n")), Input("y", ("n", "e")), Scalar("count", "int32")
    kept = samples.where(Map(Fn.LE, (count, N)), samples.num(0), x)
    out = samples.total("n", samples.mul(kept, y))
    return Program("f", (x, y, count), (Store("out", ("m", "e"), None, out),))


def walked(program: Program) -> Printed:
    """The repaired walk of the keys of attention, one batch and head a program."""
    stores = program.outputs
    (passes, *_) = groupings(stores, ("n",))
    places = (("b", Grid(False)), ("m", Grid()), ("n", Loop()), ("d", Whole()), ("e", Whole()))
    block, _ = repair(fuse(stores, places, (Turn("b"), Turn("m")), passes))
    graph = KernelGraph("f", program.params, ("out",), (narrow(block),))
    return Printed(program, (graph,), (SIZES,))


def kept_whole(program: Program, tiled: tuple[str, ...], single: tuple[str, ...]) -> Printed:
    axes = dict.fromkeys(a for p in program.params if isinstance(p, Input) for a in p.order)
    places = tuple((a, Grid(a in tiled) if a in (*tiled, *single) else Whole()) for a in axes)
    block = BlockGraph(places, (), program.outputs, tuple(Turn(a) for a in (*single, *tiled)))
    graph = KernelGraph("f", program.params, ("out",), (block,))
    return Printed(program, (graph,), ({a: SIZES[a] for a in axes},))


CASES = {
    "attention": kept_whole(attention(), ("m",), ("b",)),
    "rows": kept_whole(rows(), ("b",), ()),
    "length": kept_whole(length(), ("m",), ()),
    "marked": kept_whole(marked(False), ("m",), ("b",)),
    "marked, walked": walked(marked(False)),
    "marked rows": kept_whole(marked(True), ("b",), ()),
}
SINGLE = {"attention": ("b",), "rows": (), "length": ()} | {
    "marked": ("b",),
    "marked, walked": ("b",),
    "marked rows": (),
}


def padded(name):
    (sizes,), program = CASES[name].sizes, CASES[name].program
    found = families(program, sizes, "fp32", 0, {"count": 13}, single=SINGLE[name])
    return [f for f in found if "masked for every row" in f.name]


def failures(name, text, runner, folder):
    case = CASES[name]
    (file := folder / "kernel.py").write_text(text)
    (sizes,), configs = case.sizes, small_configs(case.graphs[0], case.sizes[0])
    calls = [
        Call(trial_of(case.program, f, sizes, "fp32", 0, configs), f, "fp32") for f in padded(name)
    ]
    assert calls
    figures = [j for c in calls for j in judged(case.program, c, runner.run(file, "f", c.trial))]
    return [str(f) for f in figures if not f.ok]


@pytest.fixture(scope="module")
def runner():
    with Runner(seconds=30) as shared:
        yield shared


def test_a_length_for_each_batch_hides_keys_for_each_batch():
    found = padded("attention")
    last = found[0].arrays["last"]
    assert len(set(last)) == 2
    hidden = np.arange(20) >= last[:, None]
    exact = [
        f
        for f in found
        if all((np.isnan(f.arrays[t]) == hidden[:, :, None]).all() for t in "kv")
        and np.isfinite(f.arrays["q"]).all()
        and np.isfinite(f.claimed["v"]).all()
    ]
    assert len(exact) == 1


def test_of_rows_in_one_tile_the_longest_counts():
    (family,) = padded("rows")
    last = family.arrays["last"].max()
    for name in "xy":
        assert (np.isnan(family.arrays[name]) == (np.arange(20) >= last)).all()


@pytest.mark.parametrize("name", sorted(CASES))
def test_padding_may_hold_anything(name, runner, tmp_path):
    assert failures(name, CASES[name].text(), runner, tmp_path) == []


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_kernel_that_only_weighs_padding_with_zero_is_refused(name, runner, tmp_path):
    loaded = r" & (keep(\[:, None\])?|\(n_lane\[None, :\] < last\[:, None\]\))"
    wrong, masks = re.subn(loaded, "", CASES[name].text())
    if not name.startswith("marked"):
        wrong, limits = re.subn(r"n_in = .*", "n_in = n_lane < n_size", wrong)
        assert limits == 1
    assert masks == (name.startswith("marked") or name == "rows")
    assert failures(name, wrong, runner, tmp_path)


@pytest.mark.parametrize(("fn", "planted"), [(Fn.OR, False), (Fn.AND, True)])
def test_what_only_a_diagonal_hides_too_is_not_hidden_from_every_row(fn, planted):
    """Of a prefix or what is not ahead no key is hidden by itself; of both together some are."""
    x, y = Input("x", ("m", "n")), Input("y", ("n", "e"))
    seen = Map(fn, (Map(Fn.LE, (N, Index("m"))), Map(Fn.LT, (N, Scalar("prefix", "int32")))))
    scores = samples.where(seen, x, samples.NEG_INF)
    out = samples.total("n", samples.mul(samples.softmax(scores, "n"), y))
    params = (x, y, Scalar("prefix", "int32"))
    program = Program("f", params, (Store("out", ("m", "e"), None, out),))
    sizes = {"m": 9, "n": 20, "e": 4}
    made = families(program, sizes, "fp32", 0, {"prefix": 13})
    found = [f.name for f in made if "masked for every row" in f.name]
    assert bool(found) is planted


X, LEN = Input("x", ("n",)), Input("last", (), "int32")
KEPT = Map(Fn.LT, (N, LEN))
SQUARES = samples.total("n", samples.mul(X, X))
SCORES = samples.where(KEPT, X, samples.NEG_INF)


@pytest.mark.parametrize(
    ("value", "free"),
    [
        (samples.total("n", samples.where(KEPT, X, samples.num(0))), True),
        (samples.total("n", samples.mul(samples.softmax(SCORES, "n"), X)), True),
        (
            samples.total("n", samples.mul(samples.where(KEPT, samples.num(1), samples.num(0)), X)),
            True,
        ),
        (SQUARES, False),
        (Map(Fn.ADD, (X, SCORES)), False),  # hides every number, but no NaN
        (samples.total("n", samples.mul(SCORES, SCORES)), True),
        (samples.where(Map(Fn.LE, (SQUARES, samples.num(-1))), SQUARES, samples.num(3)), True),
        (samples.where(Map(Fn.LE, (samples.num(-1), SQUARES)), samples.num(3), SQUARES), False),
    ],
    ids=["select", "weights", "ones", "sum", "added", "infinity", "never", "always"],
)
def test_what_no_row_sees_is_what_nan_cannot_come_through(value, free):
    store = Store("out", tuple(value.axes), None, value)
    program = Program("f", (X, LEN), (store,))
    arrays = {"x": np.linspace(-1.0, 2.0, 6), "last": np.array(4)}
    hidden = Hidden("n", ("n",), np.arange(6) >= 4)
    assert ignored(program, arrays, {"n": 6}, X, hidden) is free


def test_zero_weights_leave_out_nan_in_products_of_matrices_as_well():
    domain = Weighed(np.float64)
    left = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]).reshape(3, 2, 1)
    right = np.array([[np.nan, 1.0], [3.0, 4.0]]).reshape(1, 2, 2)
    found = domain.contract(left, right, 1)
    assert np.array_equal(found, [[np.nan, 1.0], [6.0, 8.0], [0.0, 0.0]], equal_nan=True)
    product = domain.apply(Fn.MUL, [left, right])
    assert np.array_equal(domain.fold(Fn.ADD, product, 1), found, equal_nan=True)
