"""Boxes of kernel graphs, and the picture that is drawn of them."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from superopt.loading import load
from superopt.report.boxes import LONGEST
from superopt.report.boxes import boxes
from superopt.report.evidence import winners
from superopt.report.picture import picture
from superopt.report.repairs import fusions
from superopt.report.restore import run_from
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.order import by_order
from superopt.ugraph.parse import parse_as
from tests import nested
from tests.report.sample import GRAPHS

SPECS = Path(__file__).parents[2] / "specs"
SVG = "{http://www.w3.org/2000/svg}"
TWO = """kernels passed
param a_rather_long_name_of_a_tensor[m n]
output out
kernel 0
  place m Grid
  place n Loop
  order m
  walk n
    carry max0 over m by max of a_rather_long_name_of_a_tensor[m n]
  store best[m]:fp32 = new(max0[m])
kernel 1
  place m Grid
  place n Grid
  order m n
  store out[m n] = sub(a_rather_long_name_of_a_tensor[m n], best[m]:fp32)
"""


def fused(name):
    """A graph of one kernel for every fusion of the spec ``name``."""
    (spec,) = load(f"{SPECS / name}")
    program = by_order(spec.program)
    outputs = tuple(s.name for s in program.outputs)
    return [
        KernelGraph(program.name, program.params, outputs, (f.block,), program.fixed)
        for f in fusions(program)
        if f.block is not None
    ]


GRAPHS_DRAWN = {
    "product, split": GRAPHS[2],
    "nested": nested.graph(nested.normaliser(), nested.ROWS),
    "two kernels": parse_as(KernelGraph, TWO),
    **{
        f"{name} {i}": graph
        for name in ("attention.py:causal", "statistics.py:variance", "losses.py:entropy")
        for i, graph in enumerate(fused(name))
    },
}


@pytest.mark.parametrize("graph", GRAPHS_DRAWN.values(), ids=GRAPHS_DRAWN.keys())
def test_everything_of_the_graph_is_drawn_once(graph):
    check(graph)


def test_winners_of_a_search_are_drawn(searched):
    for winner, _ in winners(run_from(searched.record, searched.directory)):
        check(winner.graph)


def check(graph):
    root = ElementTree.fromstring(picture(graph))
    rects = list(root.iter(f"{SVG}rect"))
    walks = [w for k in graph.kernels for w in k.nest]
    assert [r.get("class") for r in rects].count("kernel") == len(graph.kernels)
    assert [r.get("class") for r in rects].count("walk") == len(walks)
    texts = list(root.iter(f"{SVG}text"))
    full = [t.find(f"{SVG}title").text for t in texts if t.get("class") == "carry"]
    assert sorted(t.split()[1].partition("[")[0] for t in full) == sorted(
        c.name for w in walks for c in w.carries
    )
    arrows = [(g.get("class"), g.find(f"{SVG}text").text) for g in root.iter(f"{SVG}g")]
    stores = [f"{s.name}[{' '.join(s.order)}]" for k in graph.kernels for s in k.all_stores]
    assert sorted(text for kind, text in arrows if kind == "store") == sorted(stores)
    read = {text.partition("[")[0] for kind, text in arrows if kind == "read"}
    assert {p.name for p in graph.params} <= read
    _inside(root, rects)


def _inside(root, rects):
    """Boxes lie within the page, and two of them are apart or one in the other."""
    width, height = float(root.get("width")), float(root.get("height"))
    spans = []
    for r in rects:
        x, y, w, h = (float(r.get(name)) for name in ("x", "y", "width", "height"))
        assert x >= 0
        assert y >= 0
        assert x + w <= width
        assert y + h <= height
        spans.append((x, y, x + w, y + h))
    for i, (a, b, c, d) in enumerate(spans):
        for e, f, g, h in spans[i + 1 :]:
            apart = d <= f or h <= b
            within = (a <= e and g <= c and b <= f and h <= d) or (
                e <= a and c <= g and f <= b and d <= h
            )
            assert apart or within


def test_a_walk_inside_a_walk_is_drawn_inside():
    (box,) = boxes(GRAPHS_DRAWN["nested"])
    (outer,) = box.inner
    (inner,) = outer.inner
    assert [b.head[0].full.split(":")[0] for b in (outer, inner)] == ["walk of n", "walk of k"]


def test_what_only_kernels_see_is_dashed_and_names_fit():
    root = ElementTree.fromstring(picture(GRAPHS_DRAWN["two kernels"]))
    dashed = {
        g.find(f"{SVG}text").text: g.find(f"{SVG}path").get("stroke-dasharray") is not None
        for g in root.iter(f"{SVG}g")
    }
    assert dashed == {
        "a_rather_long_name_of_a_tensor[m n]": False,
        "best[m]": True,
        "out[m n]": False,
    }
    for text in root.iter(f"{SVG}text"):
        if text.get("text-anchor") == "end":
            assert float(text.get("x")) >= 7.2 * len(text.text)


def test_long_lines_are_cut_and_whole_in_the_title():
    (box,) = boxes(GRAPHS_DRAWN["attention.py:causal 0"])
    lines = [*box.head, *box.body, *(x for b in box.inner for x in (*b.head, *b.body))]
    assert all(len(line.text) <= LONGEST for line in lines)
    for line in lines:
        assert line.text == line.full or line.text == f"{line.full[: LONGEST - 3]}..."


def test_the_parts_of_a_split_walk_are_joined():
    (box,) = boxes(GRAPHS[2])
    heads = [line.full for line in box.head]
    assert "cut into parts: k; a second launch combines the states of the parts" in heads
    assert box.inner[0].head[0].full == "one part of a walk of k: from 0 to size(k)"
