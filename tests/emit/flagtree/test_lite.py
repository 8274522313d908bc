"""Plain kernels with the hints of TLE-Lite: the upstream text, but for the hints."""

from __future__ import annotations

import ast
import re

import pytest

from superopt.emit.dialect import Dialect
from superopt.emit.flagtree import lite
from superopt.emit.module import emit
from superopt.emit.module import print_graph
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.ugraph.levels import Config
from superopt.ugraph.node import Input
from superopt.ugraph.split import launches
from superopt.ugraph.walk import topo
from tests import samples
from tests.emit.cases import CASES

GRAPHS = {
    f"{name} {number}": graph
    for name, case in CASES.items()
    for number, graph in enumerate(case().graphs)
}


def plainly(text: str) -> str:
    """Text without hints, and without the way its lines are broken."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "tle.load":
            assert [ast.unparse(k.value) for k in node.keywords if k.arg == "is_async"] == ["True"]
            node.keywords = [k for k in node.keywords if k.arg != "is_async"]
            node.func = ast.parse("tl.load", mode="eval").body
    return ast.unparse(tree)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=list(GRAPHS))
def test_without_its_hints_the_text_is_that_of_upstream(graph):
    ours = print_graph(graph, dialect=Dialect.FLAGTREE)
    theirs = print_graph(graph)
    for one, other in zip(ours, theirs, strict=True):
        assert plainly(one.text) == plainly(other.text)
        assert (one.tensors, one.scalars, one.tiles) == (other.tensors, other.scalars, other.tiles)
        assert "tle" not in other.text


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=list(GRAPHS))
def test_only_tiles_of_a_walk_have_hints(graph):
    printed = print_graph(graph, dialect=Dialect.FLAGTREE)
    for block, kernel in zip(launches(graph), printed, strict=True):
        walked = {w.axis for w in block.nest}
        read = {n for n in topo(block.roots()) if isinstance(n, Input)}
        moving = {n.name for n in read if walked & set(n.order)}
        pointers = re.findall(r"tle\.load\(\s*(\w+?)_(?:tile|ptr)", kernel.text)
        assert set(pointers) <= moving


@pytest.mark.parametrize(
    ("dtype", "walked", "dims", "wanted"),
    [
        (None, "n", ("m", "n"), True),
        ("int32", "n", ("n",), True),
        ("bool", "n", ("m", "n"), False),
        (None, "k", ("m", "n"), False),
        (None, None, ("m", "n"), False),
        (None, "m", ("m",), False),
    ],
)
def test_which_tiles_are_worth_a_hint(dtype, walked, dims, wanted):
    assert lite.ahead(Input("x", ("m", "n"), dtype), walked, dims) is wanted


def test_a_tile_that_comes_once_has_no_hint():
    (kernel,) = print_graph(samples.online_attention(), dialect=Dialect.FLAGTREE)
    assert "q = tl.load(" in kernel.text
    assert "k = tle.load(" in kernel.text
    assert "v = tle.load(" in kernel.text


def file(roles: bool) -> str:
    tiles = (("m", 64), ("n", 128), ("d", 128), ("e", 128))
    config = Config(tiles, stages=2, consumers=2 if roles else 0)
    sizes = tuple({"b": 1, "h": 1, "m": 64, "n": 128, "d": 128, "e": 128}.items())
    graph = samples.online_attention()
    rows = [Row("case", 0, (config,), sizes)]
    return emit(samples.attention(), [graph], rows, Header(), dialect=Dialect.FLAGTREE)


@pytest.mark.parametrize("roles", [False, True])
def test_a_file_says_what_it_needs_where_that_is_missing(roles):
    with pytest.raises(ImportError, match=r"needs FlagTree \(branch triton_v3.6.x") as error:
        exec(compile(file(roles), "kernel.py", "exec"), {"__name__": "f", "__file__": "kernel.py"})
    assert ("tle.gpu.wgmma" in str(error.value)) is roles
    assert "--dialect triton" in str(error.value)
    assert lite.imported(roles) in file(roles)
