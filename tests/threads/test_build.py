"""Thread graphs from block graphs: what goes through pipes, who has which rows, what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.errors import NotEmittable
from superopt.threads.build import build
from superopt.threads.build import has_thread_graph
from superopt.threads.build import of_config
from superopt.threads.build import shared_bytes
from superopt.threads.check import check
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import pingpong_of
from superopt.ugraph.parse import parse_as
from tests.threads.cases import ALL
from tests.threads.cases import MATMUL
from tests.threads.cases import PLAIN
from tests.threads.cases import block
from tests.threads.cases import config
from tests.threads.cases import weighted


def made(text, **keywords):
    graph = parse_as(BlockGraph, text)
    return build(graph, config(graph), keywords.pop("dtype", "bf16"), **keywords)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("early", [True, False])
def test_every_case_has_a_legal_graph(name, early):
    graph = build(block(name), config(block(name)), "bf16", early=early)
    assert check(graph) == []
    assert graph.rows == "m"


def pipes(name):
    graph = build(block(name), config(block(name)), "bf16")
    return [(p.name, p.capacity, p.walk) for p in graph.pipes]


def test_what_moves_along_the_walk_has_a_ring_and_the_rest_comes_once():
    assert pipes("plain") == [("q", 1, ""), ("k", 2, "n"), ("v", 2, "n")]


def test_tensors_with_the_same_readers_share_a_pipe():
    assert pipes("matmul") == [("x_y", 2, "k")]
    assert pipes("gated") == [("x", 2, "k"), ("y", 2, "k"), ("z", 2, "k")]


def test_tiles_that_no_product_reads_come_through_pipes_as_well_but_vectors_do_not():
    assert [p for p, _, _ in pipes("biased")] == ["q", "k", "bias", "v"]


def test_a_program_of_several_tiles_has_slots_for_what_comes_once_a_tile():
    chosen = replace(config(block("plain")), stages=3, consumers=2, persistent=2)
    graph = of_config(block("plain"), chosen, "bf16")
    assert graph.persistent
    assert [(p.name, p.capacity) for p in graph.pipes] == [("q", 2), ("k", 3), ("v", 3)]
    once = of_config(block("plain"), replace(chosen, persistent=1), "bf16")
    tile = 64 * 64 * 2
    assert shared_bytes(graph, "bf16") == shared_bytes(once, "bf16") + 2 * tile


def test_consumers_that_take_tiles_in_turn_split_none():
    chosen = replace(config(block("plain")), stages=3, consumers=2, persistent=1, pingpong=True)
    graph = of_config(block("plain"), chosen, "bf16")
    assert (graph.split, graph.rows, chosen.sharers) == ("", "m", 1)
    tile = 64 * 64 * 2
    assert shared_bytes(graph, "bf16") == tile * (1 + 3 + 3 + 2)  # a buffer for each result
    assert chosen.kind == "persistent1_pingpong"
    assert pingpong_of(chosen.kind)
    assert not pingpong_of("persistent1")
    for how in ({"persistent": 0}, {"consumers": 1}, {"ring": True}):
        assert not has_thread_graph(block("plain"), replace(chosen, **how), "bf16")


def test_shared_memory_counts_slots_consumers_and_results():
    graph = made(PLAIN)
    tile = 64 * 64 * 2
    assert shared_bytes(graph, "bf16") == tile * (2 + 2 + 2 + 2)  # q, k, v, out
    assert shared_bytes(made(PLAIN, consumers=3), "bf16") == tile * (3 + 2 + 2 + 3)


def test_folds_over_the_rows_of_a_tile_pass_through_shared_memory():
    """Four warps have other rows of it, and each consumer has its own tile."""
    both = MATMUL.replace("  store", "    carry sum1 over n by add of y[k n]\n  store")
    both = both.replace("= new(sum0[m n])", "= mul(new(sum0[m n]), new(sum1[n]))")
    for consumers in (1, 2):
        plain = shared_bytes(made(MATMUL, consumers=consumers), "bf16")
        columns = config(parse_as(BlockGraph, MATMUL)).tile["n"]
        found = shared_bytes(made(both, consumers=consumers), "bf16")
        assert found - plain == consumers * 4 * columns * 4


def test_registers_of_consumers_leave_room_for_the_producer():
    for consumers, most in ((1, 240), (2, 240), (3, 160)):
        graph = made(PLAIN, consumers=consumers)
        assert graph.registers == (most, 24)
        assert 128 * (consumers * most + 24) <= 65536


TRANSPOSED = """kernel
  place k Loop
  place m Grid
  place n Grid
  order m n
  walk k
    carry sum0 over m n by add of mul(exp2(x[m k]), y[k n])
  store out[m n] = new(sum0[m n])
"""
REFUSED = {
    "no product": (
        MATMUL.replace("by add of mul(x[m k], y[k n])", "by max of mul(x[m k], y[k n])"),
        "no product of matrices",
    ),
    "two walks": (
        MATMUL.replace("  store", "  walk k\n    carry c1 over m by add of x[m k]\n  store"),
        "2 walks",
    ),
    "rows not in the grid": (
        MATMUL.replace("place m Grid", "place m Whole").replace("order m n", "order n"),
        "the rows 'm' of the products are no tiles of the grid",
    ),
    "computed right operand": (
        MATMUL.replace("y[k n])", "exp2(y[k n]))"),
        "the right operand of 'sum0' is computed",
    ),
    "fp32 operands": (
        MATMUL.replace("x[m k]", "x[m k]:fp32").replace("y[k n]", "y[k n]:fp32"),
        "'sum0' multiplies fp32",
    ),
    "one operand is wider": (
        MATMUL.replace("x[m k]", "x[m k]:fp32"),
        "'x' would have to be rounded",
    ),
    "computed and transposed": (TRANSPOSED, "would have to be transposed"),
    "a product behind the walk": (
        MATMUL.replace("place n Grid", "place n Grid\n  place r Whole").replace(
            "= new(sum0[m n])", "= add(new(sum0[m n]), add[r](mul(a[m r], b[r n])))"
        ),
        "a product of matrices behind the walk, in store 'out'",
    ),
    "a scan": (
        MATMUL.replace("mul(x[m k], y[k n])", "mul(scan_add[k](x[m k]), y[k n])"),
        "Scan has no instruction",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_place_is_refused_by_name(name):
    text, why = REFUSED[name]
    with pytest.raises(NotEmittable, match=why):
        made(text)


def test_tiles_must_fit_the_matrix_unit():
    graph = parse_as(BlockGraph, MATMUL)
    for tiles, why in (({"m": 32}, "no multiple of 64"), ({"n": 512}, "at most 256")):
        with pytest.raises(NotEmittable, match=why):
            build(graph, config(graph, **tiles), "bf16")


def test_the_number_of_consumers_is_limited():
    with pytest.raises(NotEmittable, match="4 consumers"):
        made(MATMUL, consumers=4)


def test_too_few_slots_for_the_schedule_are_refused():
    with pytest.raises(NotEmittable, match="waits for tile 1 of 'x_y'"):
        made(MATMUL, capacity=1)
    assert made(MATMUL, capacity=1, early=False).pipes[0].capacity == 1


def test_a_walk_that_ends_within_a_tile_for_all_rows_is_refused():
    text = PLAIN.replace("walk n", "walk n to length[h]:int32", 1)
    with pytest.raises(NotEmittable, match="ends within tiles"):
        made(text)


def test_a_value_that_data_hide_in_part_is_refused():
    text = weighted("where(keep[h n]:bool, %0, -inf)")
    with pytest.raises(NotEmittable, match="data hide a part of 'v'"):
        made(text)


def test_an_instruction_has_no_more_registers_than_all_warps_alike():
    """Three consumers and the producer have 128 each, by the assembler; a result of 256 columns
    takes as many, and its product some more."""
    graph = block("matmul")
    build(graph, config(graph, n=256), "bf16", 2)
    build(graph, config(graph, n=128), "bf16", 3)
    with pytest.raises(NotEmittable, match="'sum0' takes 154 registers at once"):
        build(graph, config(graph, n=256), "bf16", 3)
