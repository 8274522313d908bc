from __future__ import annotations

from superopt.search.cuts import axes_in_order
from superopt.search.mappings import Placement
from superopt.search.mappings import placements
from superopt.search.mappings import why_none
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Input
from superopt.ugraph.node import Reduce
from superopt.ugraph.walk import topo
from tests import samples
from tests.grouped import grouped
from tests.search.forms import H200
from tests.search.forms import PREFILL
from tests.search.forms import decode

SCALAR = Grid(tiled=False)


def found(program: Program, sizes: dict[str, int]):
    return placements(program.outputs, axes_in_order(program), sizes, H200)


def places(program: Program, sizes: dict[str, int]) -> list[dict[str, object]]:
    return [dict(p.places) for p in found(program, sizes)]


def test_every_placement_is_legal():
    for program, sizes in (
        (samples.attention(), PREFILL),
        (samples.row_softmax(), {"m": 100, "n": 3000}),
        (samples.lora(), {"m": 2048, "k": 512, "n": 512, "r": 8}),
        (decode(), {**PREFILL, "b": 1}),
    ):
        folds = [n for n in topo([s.value for s in program.outputs]) if isinstance(n, Reduce)]
        for placement in found(program, sizes):
            place = dict(placement.places)
            grid = [a for a, p in place.items() if isinstance(p, Grid)]
            assert set(place) == set(axes_in_order(program))
            assert not {f.axis for f in folds} & set(grid)
            assert all(set(grid) <= set(s.order) for s in program.outputs)
            assert sorted(t.axis for t in placement.order) == sorted(grid)
            assert sum(isinstance(p, Split) for p in place.values()) <= 1
            for fold in folds:
                assert fold.axis not in placement.looped or not set(fold.axes) & set(
                    placement.looped
                )


def test_placements_are_distinct():
    every = found(samples.attention(), {**PREFILL, "b": 1, "h": 2, "m": 512})
    assert len(set(every)) == len(every)


def test_attention_has_scalar_batches_and_tiled_rows():
    for place in places(samples.attention(), PREFILL):
        assert (place["b"], place["h"], place["m"], place["d"]) == (SCALAR, SCALAR, Grid(), Whole())
    assert {"n": Loop()}.items() <= places(samples.attention(), PREFILL)[0].items()


def test_a_split_is_offered_only_to_programs_that_leave_the_device_idle():
    assert not any(Split() in p.values() for p in places(samples.attention(), PREFILL))
    assert any(Split() in p.values() for p in places(decode(), {**PREFILL, "b": 1}))
    stored = places(samples.row_softmax(), {"m": 4, "n": 9999})
    assert not any(Split() in p.values() for p in stored)


def test_a_small_axis_is_never_walked():
    small = places(samples.row_softmax(), {"m": 100, "n": 60})
    assert {p["n"] for p in small} == {Whole()}
    assert {p["n"] for p in places(samples.row_softmax(), {"m": 100, "n": 1 << 20})} == {Loop()}


def test_tiled_axes_of_a_product_come_in_both_orders():
    orders = {
        tuple(t.axis for t in p.order)
        for p in found(samples.rms_linear(), {"m": 4096, "k": 4096, "n": 4096})
    }
    assert orders == {("m", "n"), ("n", "m")}


def test_an_axis_that_some_store_lacks_is_kept_whole_or_there_is_no_placement():
    total = samples.total("k", samples.X)
    both = (
        Store("rows", ("m",), None, total),
        Store("out", ("m", "n"), None, samples.total("k", samples.mul(samples.X, samples.W))),
    )
    axes = ("m", "k", "n")
    wide = placements(both, axes, {"m": 64, "k": 512, "n": 4096}, H200)
    assert wide == []
    narrow = placements(both, axes, {"m": 64, "k": 512, "n": 128}, H200)
    assert {dict(p.places)["n"] for p in narrow} == {Whole()}
    assert "too long to be kept whole" in why_none(both, axes, {"m": 64, "k": 512, "n": 4096})


def test_no_split_lets_several_programs_write_one_partial_state():
    for place in places(decode(), {**PREFILL, "b": 1, "e": 256}):
        if Split() in place.values():
            assert place["e"] == Whole()


def walked(found: list[Placement]) -> list[tuple[str, ...]]:
    return [tuple(a for a, p in f.places if isinstance(p, Loop | Split)) for f in found]


def test_a_walk_lies_in_a_walk_only_where_neither_axis_can_be_whole():
    value = samples.largest("n", samples.total("k", samples.mul(samples.X, samples.W)))
    out = (Store("out", ("m",), None, value),)
    sizes = {"m": 4096, "k": 4096, "n": 4096}
    found_ = placements(out, ("m", "k", "n"), sizes, H200)
    assert set(walked(found_)) == {("k", "n")}
    assert {dict(f.places)["n"] for f in found_} == {Loop(), Split()}
    for axis in ("k", "n"):
        some = placements(out, ("m", "k", "n"), {**sizes, axis: 256}, H200)
        assert ("k", "n") not in walked(some)
        assert some


def test_a_kernel_with_walks_three_deep_says_so():
    x = samples.mul(samples.mul(samples.X, samples.W), Input("y", ("r", "k")))
    value = samples.total("r", samples.total("n", samples.total("k", x)))
    out = (Store("out", ("m",), None, value),)
    sizes = {"m": 64, "k": 4096, "n": 4096, "r": 4096}
    assert placements(out, ("m", "k", "n", "r"), sizes, H200) == []
    assert "two deep at most" in why_none(out, ("m", "k", "n", "r"), sizes)


def test_a_split_walk_may_have_a_walk_inside_but_none_beside_it():
    rows = samples.total("k", samples.mul(samples.X, samples.X))
    logits = samples.total("k", samples.mul(samples.X, samples.W))
    sizes = {"m": 64, "k": 4096, "n": 4096}
    for beside in (False, True):
        value = samples.mul(logits, rows) if beside else logits
        out = (Store("out", ("m",), None, samples.largest("n", value)),)
        found_ = placements(out, ("m", "k", "n"), sizes, H200)
        assert any(Split() in dict(f.places).values() for f in found_) is not beside


def test_rows_come_before_the_axis_that_is_folded_and_columns_after_it():
    # The signature gives the keys first, so the program's order of axes is b h n d e m.
    program = samples.attention_delayed()
    axes = ("b", "h", "n", "d", "e", "m")
    found_ = placements(program.outputs, axes, PREFILL, H200)
    tiles = {tuple(a for a, p in f.places if p != SCALAR) for f in found_}
    for order in tiles:
        assert order.index("m") < order.index("n") < order.index("e")
    assert {frozenset(dict(f.places)) for f in found_} == {frozenset(axes)}


STEP = {"b": 8, "g": 8, "r": 8, "m": 3, "n": 8192, "d": 128, "e": 128}


def test_rows_of_several_axes_may_share_tiles():
    every = places(grouped(), STEP)
    together = [p for p in every if p["r"] == Pack("m")]
    assert together
    assert all(p["m"] == Grid() for p in together)
    assert all(p["r"] == Pack("m") for p in every if p["m"] == Grid())  # small: cut only for that
    assert {Split(), Loop()} <= {p["n"] for p in together}
    assert any(p["r"] == SCALAR for p in every)


def test_long_rows_are_tiled_alone_as_well():
    every = places(grouped(), {**STEP, "m": 4096})
    tiled = [p["r"] for p in every if p["m"] == Grid()]
    assert Pack("m") in tiled
    assert SCALAR in tiled


def test_one_position_shares_nothing():
    for axis in ("r", "m"):
        every = places(grouped(), {**STEP, axis: 1})
        assert not any(isinstance(p, Pack) for place in every for p in place.values())
