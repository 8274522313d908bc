"""Sizes and tiles of a text's readings: every class of emptiness, and remainders everywhere."""

from __future__ import annotations

import pytest

from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.scalar import Fn
from superopt.ugraph.split import launches
from superopt.verify.field.trials import walked_axes
from superopt.verify.source.trials import FEW_MOVES
from superopt.verify.source.trials import FEW_SUMMED
from superopt.verify.source.trials import PARTS
from superopt.verify.source.trials import UNEQUAL
from superopt.verify.source.trials import WIDE
from superopt.verify.source.trials import ranks_of
from superopt.verify.source.trials import text_trials
from tests import samples
from tests.catalogue import Pattern
from tests.catalogue import kernels
from tests.emit.cases import CASES
from tests.emit.printed import whole


def trials(name, graph=0):
    case = CASES[name]()
    return case.graphs[graph], list(text_trials(case.program, case.graphs[graph]))


def parts(size, tile):
    """(first, stop) of every part, as kernels count them."""
    each = -(-size // PARTS)
    length = -(-each // tile) * tile
    return [(i * length, min((i + 1) * length, size)) for i in range(PARTS)]


@pytest.mark.parametrize("name", ["attention", "causal", "decode"])
def test_parts_are_long_short_and_empty(name):
    graph, found = trials(name, len(CASES[name]().graphs) - 1)
    assert any(isinstance(p, Split) for _, p in graph.kernels[0].places)
    seen = set()
    for trial in found:
        tile = trial.configs[0].tile["n"]
        for first, stop in parts(trial.size["n"], tile):
            count = stop - first
            seen.add("empty" if count == 0 else "past" if count < 0 else "short" if count < tile
                     else "one tile" if count == tile else "several")  # fmt: skip
    assert seen == {"empty", "past", "short", "one tile", "several"}


@pytest.mark.parametrize("name", ["attention", "softmax", "rms", "packed", "nested"])
def test_every_cut_axis_has_full_tiles_and_lanes_past_the_end(name):
    graph, found = trials(name)
    for axis in walked_axes(graph):
        sizes = [(t.size[axis], c.tile[axis]) for t in found for c in t.configs if axis in c.tile]
        assert any(n % tile == 0 and n > 0 for n, tile in sizes)
        assert any(n % tile for n, tile in sizes)
        assert any(n > tile for n, tile in sizes)
        assert any(n == 0 for n, tile in sizes) or name == "rms"


def test_tiles_of_walked_axes_differ_from_others():
    _, found = trials("attention")
    pairs = {(c.tile["n"], c.tile["m"]) for t in found for c in t.configs}
    assert {(4, 2), (2, 4)} <= pairs


def test_axes_with_a_program_for_each_position_have_several_and_unequally_many():
    _, found = trials("attention")
    assert any((t.size["b"], t.size["h"]) == (3, 2) for t in found)


def test_an_extremum_of_no_integers_is_not_read():
    _, found = trials("integers")
    assert all(t.size["n"] for t in found)


def test_axes_that_bring_a_root_each_have_few_positions():
    case = CASES["rms"]()
    assert len(launches(case.graphs[0])) == 1
    _, found = trials("layer_norm")
    assert max(t.size["k"] for t in found) == 10


@pytest.mark.parametrize("longer", [False, True])
def test_lists_leave_candidates_out_where_they_are_asked_to(longer):
    case = CASES["listing"]()
    ranks = ranks_of(case.program)
    assert ranks == {"t": 5}
    sizes = {t.label: t.size for t in text_trials(case.program, case.graphs[1], longer)}
    assert sizes["remainder"]["n"] == (9 if longer else 3)  # a remainder of both tiles
    assert sizes["parts"]["n"] == (19 if longer else 3)
    assert all(size["t"] == 5 for size in sizes.values())


def test_walks_that_take_a_root_in_every_tile_have_few_tiles():
    """The states of a cosine similarity move by lengths, which are roots of other states."""
    pattern = Pattern("cosine similarity", "statistics.py:cosine_similarity", "n", (1,))
    for _, graph in kernels(pattern):
        trials = text_trials(pattern.loaded.program, graph)
        sizes = {t.label: t.size["n"] for t in trials if not t.label.startswith("unequal")}
        assert max(sizes.values()) == sizes["parts"] == FEW_MOVES
    case = CASES["attention"]()
    sizes = {t.label: t.size["n"] for t in text_trials(case.program, case.graphs[1])}
    assert sizes["parts"] == 9


@pytest.mark.parametrize("name", ["attention", "softmax", "nested", "layer_norm"])
def test_in_two_trials_all_tiles_differ_and_in_the_other_order(name):
    graph, found = trials(name)
    unequal = [t.configs[0].tile for t in found if t.label.startswith("unequal")]
    first, last = ({a: n for a, n in t.items() if n in UNEQUAL} for t in unequal)
    cut = [a for a in first if a in last and a in {"m", "n", "k"}]
    assert len({first[a] for a in cut}) == len({last[a] for a in cut}) == len(cut)
    assert sorted(cut, key=first.__getitem__) == sorted(cut, key=last.__getitem__, reverse=True)
    assert set(walked_axes(graph)) <= set(cut)


@pytest.mark.parametrize("name", ["attention", "softmax", "nested", "layer_norm", "rms"])
def test_an_axis_is_even_in_the_tile_of_any_other_one_and_not_in_its_own(name):
    """A text that takes the wrong tile for the question reads past the end there."""
    _, found = trials(name)
    seen, cut = set(), set()
    for trial in found:
        tile = {a: n for a, n in trial.configs[0].tile.items() if a in {"m", "n", "k"}}
        cut |= set(tile)
        size = trial.size
        seen |= {(a, b) for a in tile for b in tile if size[a] % tile[a] and not size[a] % tile[b]}
    assert {(a, b) for a in cut for b in cut if a != b} <= seen


def test_an_axis_kept_whole_is_wider_than_everything_else():
    _, found = trials("attention")
    wide = [t.size for t in found if t.label.startswith("unequal")]
    assert [(s["d"] > 16, s["e"] > 16) for s in wide] == [(True, False), (False, True)]


def test_few_positions_are_summed_up_in_an_exponent():
    """The degree doubles with each, unless a logarithm is taken of the sum."""
    x, order = Input("x", ("m", "n")), ("m", "n")
    total = samples.total("n", Map(Fn.EXP, (x,)))
    for inner, most in ((total, FEW_SUMMED), (Map(Fn.LOG, (total,)), WIDE)):
        value = Map(Fn.EXP, (samples.mul(x, inner),))
        program = Program("summed", (x,), (Store("out", order, None, value),))
        sizes = {t.size["n"] for t in text_trials(program, whole(program))}
        assert max(sizes) == most
        assert min(sizes) == 1
