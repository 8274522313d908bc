from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.ugraph.check import check
from superopt.ugraph.contraction import matrix_products
from superopt.ugraph.contraction import tile_axes
from superopt.ugraph.cost import launch_cost
from superopt.ugraph.evaluate import evaluate_kernels
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.extent import extent
from superopt.ugraph.extent import tiles_of
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.limits import Limits
from superopt.ugraph.names import rename
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Size
from superopt.ugraph.pack import dimensions_of
from superopt.ugraph.pack import guests
from superopt.ugraph.pack import hosts
from superopt.ugraph.pack import joined
from superopt.ugraph.parse import parse
from superopt.ugraph.ranges import claims
from superopt.ugraph.scalar import Fn
from superopt.ugraph.split import launches
from superopt.ugraph.text import show
from tests.grouped import AXES
from tests.grouped import grouped
from tests.grouped import mapped
from tests.grouped import packed
from tests.ugraph.test_evaluate import random_arrays

D = FloatDomain(np.float64)
SIZES = {"b": 2, "g": 2, "r": 3, "m": 5, "n": 7, "d": 2, "e": 2}


def test_which_axes_share_a_dimension():
    places: tuple[tuple[str, Place], ...] = (
        ("a", Pack("m")), ("b", Grid(False)), ("m", Grid()), ("c", Pack("m")), ("n", Whole())
    )  # fmt: skip
    assert hosts(places) == {"a": "m", "c": "m"}
    assert guests("m", places) == ("a", "c")
    assert guests("n", places) == ()
    assert joined("m", places, {"a": 3, "c": 4}) == 12
    assert dimensions_of(("c", "b"), ("m", "n"), hosts(places)) == ("m",)
    assert dimensions_of(("n", "m", "a"), ("m", "n"), hosts(places)) == ("m", "n")


def test_packed_rows_are_rows_of_a_product():
    (block,) = packed(grouped()).kernels
    assert tile_axes(block) == ("m", "d", "n", "e")
    assert {(axis, p.row, p.column) for axis, p in matrix_products(block)} == {
        ("d", "m", "n"),
        ("n", "m", "e"),
    }
    # Two tile dimensions make no rows of a matrix product, one shared does.
    assert not matrix_products(mapped(grouped(), r=Whole()).kernels[0])


def configs(graph: KernelGraph, m: int, n: int, parts: int) -> list[Config]:
    tiles = (("m", m), ("n", n), ("d", 16), ("e", 16), ("n.part", 4))
    return [Config(tiles, parts) for _ in launches(graph)]


@settings(max_examples=30, deadline=None)
@given(
    st.fixed_dictionaries({a: st.integers(0, 5) for a in AXES}),
    st.sampled_from((1, 2, 4, 16)),
    st.sampled_from((1, 2, 4)),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from((0, 2)),
)
def test_packing_changes_no_value(sizes, m, n, split, bias, both, window):
    program = grouped(bias=bias, window=window)
    places = {"r": Pack("m"), "g": Pack("m")} if both else {"r": Pack("m")}
    graph = mapped(program, split, **places)
    assert check(graph) == []
    arrays = random_arrays(program, sizes)
    wanted = evaluate_program(program, D, arrays, sizes)
    for one in (graph, mapped(program, split)):
        found = evaluate_kernels(one, D, arrays, sizes, configs(one, m, n, 3))
        for name, value in wanted.items():
            np.testing.assert_allclose(found[name], value, rtol=1e-12, atol=1e-12)


def limited(graph: KernelGraph, stop: tuple[Bound, ...]) -> KernelGraph:
    (block,) = graph.kernels
    (walk,) = block.walks
    return replace(graph, kernels=(replace(block, walks=(replace(walk, stop=stop),)),))


def test_a_limit_that_is_too_low_for_packed_rows_is_seen():
    program = grouped()
    graph = packed(program)
    (stop,) = graph.kernels[0].walks[0].stop
    late = limited(graph, (replace(stop, offset=stop.offset.args[0]),))  # one position less
    arrays = random_arrays(program, SIZES)
    wanted = evaluate_program(program, D, arrays, SIZES)["out"]
    for one, right in ((graph, True), (late, False)):
        found = evaluate_kernels(one, D, arrays, SIZES, configs(one, 8, 1, 1))["out"]
        assert np.allclose(found, wanted) == right


def test_limits_follow_the_owner_of_the_tiles_and_nothing_that_is_packed():
    (block,) = packed(grouped()).kernels
    (walk,) = block.walks
    assert [b.terms for b in walk.stop] == [(("m", 1),)]
    assert claims(block)
    # Packed the other way round, the positions of m are spread: no limit follows them.
    turned = mapped(grouped(), m=Pack("r"), r=Grid()).kernels[0]
    assert [t for w in turned.walks for b in w.stop for t in b.terms] == []
    early = Limits(turned, "n").implied(Map(Fn.LE, (Index("n"), Index("m"))))
    assert early == {("stop", (), ((Size("m"), 1),)): 0}
    inside = replace(walk, stop=(Bound((("r", 1),), Index("b")),))
    assert any("depends on 'r'" in p for p in check(replace(block, walks=(inside,))))


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ({"m": Grid(False)}, "'r' is packed into 'm', which is no tiled grid axis"),
        ({"r": Pack("g")}, "'r' is packed into 'g', which is no tiled grid axis"),
        ({"r": Pack("n")}, "'r' is packed into 'n', which is no tiled grid axis"),
        ({"g": Pack("r"), "r": Pack("m")}, "'g' is packed into 'r', which is no tiled grid axis"),
    ],
)
def test_an_axis_is_packed_into_tiles_of_the_grid(place, problem):
    (block,) = packed(grouped()).kernels
    places = tuple((a, place.get(a, p)) for a, p in block.places)
    order = tuple(Turn(a) for a, p in places if isinstance(p, Grid))
    assert any(problem in p for p in check(replace(block, places=places, order=order)))


def test_a_packed_axis_has_no_turn_and_no_program_may_miss_it():
    (block,) = packed(grouped()).kernels
    assert any("ordered by" in p for p in check(replace(block, order=(*block.order, Turn("r")))))
    stores = tuple(replace(s, order=tuple(a for a in s.order if a != "r")) for s in block.stores)
    problems = check(replace(block, stores=stores))
    assert any("lacks the grid axis 'r': several programs would write it" in p for p in problems)


def test_text_comes_back_and_names_follow():
    graph = mapped(grouped(bias=True), True, r=Pack("m"), g=Pack("m"))
    assert parse(show(graph)) == graph
    assert "place r Pack m" in show(graph)
    renamed = rename(graph, {"m": "queries", "r": "heads"}, {})
    assert ("heads", Pack("queries")) in renamed.kernels[0].places
    assert rename(renamed, {"queries": "m", "heads": "r"}, {}) == graph


@given(st.integers(1, 9), st.integers(1, 7), st.sampled_from((1, 2, 4, 8)), st.sampled_from((1, 4)))
def test_the_extent_counts_what_programs_walk(m, r, tile, step):
    (block,) = packed(grouped()).kernels
    (walk,) = block.walks
    sizes = {**SIZES, "m": m, "r": r, "n": 11}
    config = Config((("m", tile), ("n", step)))
    walked = []
    for first in range(0, m * r, tile):
        last = (min(first + tile, m * r) - 1) // r
        walked.append(max(0, min(11, last + 11 - m + 1)))
    found = extent(walk, block, config, sizes)
    assert tiles_of("m", block, config, sizes) == len(walked)
    assert found.positions == sum(walked)
    assert found.tiles == sum(-(-w // step) for w in walked)
    assert found.longest == max(-(-w // step) for w in walked)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 4), st.sampled_from((1, 2, 4, 8, 16)))
def test_bytes_of_what_lacks_some_of_the_packed_axes(m, r, g, tile):
    """Against a count of the elements that each program reads."""
    graph = mapped(grouped(causal=False, bias=True), g=Pack("m"), r=Pack("m"))
    (block,) = graph.kernels
    sizes = {**SIZES, "m": m, "r": r, "g": g}
    cost = launch_cost(block, Config((("m", tile), ("n", 4), ("d", 2), ("e", 2))), sizes, "fp32")
    joint = list(product(range(m), range(g), range(r)))
    programs = [joint[i : i + tile] for i in range(0, len(joint), tile)]
    totals = {x.tensor: x.total for x in cost.reads}
    b = sizes["b"]
    assert dict(cost.grid) == {"b": b, "m": len(programs)}
    assert totals["q"] == 4 * b * m * g * r * sizes["d"]
    slopes = sum(len({(x[1], x[2]) for x in tiles}) for tiles in programs)
    shifts = sum(len({x[0] for x in tiles}) for tiles in programs)
    # A tile that begins between two positions of what it has may touch one more.
    for name, exact in (("slope", b * slopes), ("shift", b * shifts)):
        assert abs(totals[name] / 4 - exact) <= b * len(programs)


def test_a_walk_is_kept_as_it_was():
    """Nothing in the walks knows of packing, so that repairs are shared."""
    walks: list[tuple[Walk, ...]] = [
        g.kernels[0].walks for g in (packed(grouped()), mapped(grouped()))
    ]
    assert walks[0] == walks[1]
