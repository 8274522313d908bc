"""What the search finds for shipped specs at the sizes that matter, before anything is executed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from superopt.device import target
from superopt.loading import load
from superopt.rewrite.forms import forms
from superopt.rewrite.lowering import lowered
from superopt.search.outcome import Built
from superopt.search.space import Search
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Split
from superopt.ugraph.names import canonical
from superopt.ugraph.node import Input

SPECS = Path(__file__).parents[2] / "specs"


@cache
def graphs(file: str, case: str, budget: int = 40) -> tuple[KernelGraph, ...]:
    """Candidates in the spec's own names, best by the model first."""
    (spec,) = load(f"{SPECS / file}")
    program, names = canonical(spec.program)
    bound = spec.case(case)
    sizes = {a: bound.sizes[user] for a, user in names.axes.items()}
    made = [lowered(f) for f in forms(program, 12, sizes=sizes)]
    found = Search(made, sizes, bound.storage, target("h200"), budget, bound.tf32)
    built = sorted((o for o in found if isinstance(o, Built)), key=lambda b: b.estimate.us)
    return tuple(names.back(b.graph) for b in built)


def written(graph: KernelGraph) -> list[list[tuple[str, ...]]]:
    """The axes of what each kernel stores."""
    return [sorted(s.order for s in block.all_stores) for block in graph.kernels]


def walks(graph: KernelGraph) -> list[tuple[str, int]]:
    """Axis and number of carries of every walk."""
    return [(w.axis, len(w.carries)) for block in graph.kernels for w in block.walks]


def test_a_window_is_walked_from_end_to_end_and_no_further():
    best = graphs("masked_attention.py:sliding_window", "long")[0]
    (walk,) = best.kernels[0].walks
    assert [b.terms for b in (*walk.start, *walk.stop)] == [(("m", 1),)] * 2


def test_a_sink_joins_the_one_walk_of_causal_attention():
    best = graphs("masked_attention.py:sink", "prefill")[0]
    assert walks(best) == [("n", 3)]
    (walk,) = best.kernels[0].walks
    assert [b.terms for b in walk.stop] == [(("m", 1),)]
    assert sum(bool(c.moves) for c in walk.carries) == 2


def test_documents_are_walked_from_their_first_key_to_the_diagonal():
    best = graphs("masked_attention.py:document", "prefill")[0]
    (walk,) = best.kernels[0].walks
    assert [b.terms for b in walk.stop] == [(("m", 1),)]
    assert [b.offset for b in walk.start] == [Input("first", ("b", "m"), "int32")]


def nests(graph: KernelGraph) -> list[list[str]]:
    """The axes of the walks of each kernel, inner ones before those that they are in."""
    return [[w.axis for w in block.nest] for block in graph.kernels]


def fused(found: tuple[KernelGraph, ...]) -> KernelGraph:
    """The best that walks the features inside the walk of the words. (By the model a product with
    roles and a second kernel come before it; where there is a GPU both are timed.)"""
    return next(g for g in found if nests(g) == [["k", "n"]])


def test_logits_are_folded_as_they_come_and_never_written():
    best = fused(graphs("losses.py:linear_logsumexp", "large"))
    assert written(best) == [[("m",)]]
    (block,) = best.kernels
    assert isinstance(block.place["n"], Split)


def test_the_loss_of_a_linear_layer_writes_no_logits_either():
    assert written(fused(graphs("losses.py:linear_cross_entropy", "vocabulary", 16))) == [[("m",)]]


def test_long_features_of_queries_and_keys_are_walked_inside_the_walk_of_keys():
    best = graphs("attention.py:long_features", "prefill", 16)[0]
    assert nests(best) == [["d", "n"]]
    assert walks(best) == [("n", 3)]


def test_queries_of_a_step_share_a_tile_with_the_heads_of_their_group():
    every = [g.kernels[0].place for g in graphs("grouped_decode.py:grouped_step", "B8", 80)]
    packed = [place["n"] for place in every if place["r"] == Pack("m")]
    assert every[0]["r"] == Pack("m")
    assert Split() in packed


def test_decode_of_groups_is_split_with_a_group_in_one_tile():
    best = graphs("grouped_decode.py:grouped_decode", "B1")[0]
    (block,) = best.kernels
    assert isinstance(block.place["n"], Split)
    assert block.place["r"] not in (block.place["g"], block.place["b"])  # a tile dimension
    every = graphs("grouped_decode.py:grouped_decode", "B8")
    assert any(isinstance(k.place["n"], Split) for g in every for k in g.kernels)


def test_a_norm_before_a_matmul_goes_into_a_kernel_before_or_into_the_same():
    found = graphs("rms_norm_linear.py:rms_norm_linear", "prefill")
    seen = [written(g) for g in found]
    assert [[("m", "n")]] in seen
    assert [[("m",)], [("m", "n")]] in seen  # a statistic, and the product
    assert [[("m", "k")], [("m", "n")]] in seen  # normalised rows, and a plain product


def test_few_rows_are_split_along_the_folded_axis():
    found = graphs("rms_norm_linear.py:rms_norm_linear", "decode")
    split = [g for g in found if isinstance(g.kernels[-1].place["k"], Split)]
    assert any(walks(g) == [("k", 2)] for g in split)  # the statistic in the same walk
    # The statistic in a kernel before it.
    assert any(len(g.kernels) > 1 and walks(g)[-1] == ("k", 1) for g in split)
    for file in ("lora.py:lora", "gated_mlp.py:gated_mlp"):
        every = graphs(file, "decode")
        assert any(isinstance(k.place.get("k"), Split) for g in every for k in g.kernels), file


def test_long_rows_are_walked_twice_by_one_kernel():
    found = graphs("softmax.py:softmax", "vocabulary")
    assert any(len(g.kernels) == 1 and walks(g) == [("n", 2), ("n", 0)] for g in found)
    rows = graphs("logsumexp.py:logsumexp", "vocabulary")
    places = [k.place["n"] for g in rows if walks(g) == [("n", 2)] for k in g.kernels[:1]]
    assert Loop() in places
    assert Split() in places


def test_the_step_of_a_norm_transformer_reads_its_rows_once():
    best = graphs("norm_transformer.py:norm_step", "square", 12)[0]
    assert len(best.kernels) == 1
    assert walks(best) == []


def test_the_values_of_the_best_key_come_along_in_its_walk():
    for case in ("prefill", "decode"):
        best = graphs("weighting.py:hard_attention", case)[0]
        assert walks(best) == [("n", 3)]
        (walk,) = best.kernels[0].walks
        assert [c.goes_with(walk.carries[0]) for c in walk.carries] == [False, False, True]


def test_the_logit_of_a_teachers_label_comes_along_with_the_normaliser():
    best = graphs("losses.py:taught", "vocabulary")[0]
    assert [w for w in walks(best) if w[1]] == [("n", 5)]
