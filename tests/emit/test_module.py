from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from superopt.emit.module import MARKER
from superopt.emit.module import body_digest
from superopt.emit.module import emit
from superopt.emit.module import print_graph
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.errors import NotEmittable
from superopt.signature import FILE_NAMES
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import State
from tests import samples as s
from tests.emit.cases import CASES
from tests.emit.cases import whole

CHECKS = {
    "attention": (
        "views",
        "errors",
        "memory",
        "operator",
        "dispatch",
        "nan_spreads",
        "self_tests",
        "descriptors",
        "ragged",
        "dependent",
        "launched",
        "able",
    ),
    "softmax": ("infinite", "nan_spreads", "operator", "collision"),
    "rms": ("nan_spreads", "groups", "descriptors"),
    "packed": ("views_of_heads", "joint", "descriptors"),
    "window": ("operator", "scalars"),
    "decode": ("nan_spreads",),
    "functions": ("huge", "nan_spreads"),
    "kinds": ("operator",),
    "listing": ("infinite", "nan_spreads", "operator", "self_tests"),
    "names": ("operator", "self_tests"),
    "integers": ("large",),
    "scans": ("nan_spreads",),
    "decay": ("nan_spreads",),
}
ALL = [f"{n}-{c}" for n in CASES for c in ("fp32", "fp16", "reference", *CHECKS.get(n, ()))]


@pytest.mark.parametrize("check", ALL)
def test_interpreted(interpreted: dict[str, str], check: str) -> None:
    assert interpreted[check] == ""


def test_nothing_ran_that_is_not_listed(interpreted: dict[str, str]) -> None:
    assert sorted(interpreted) == sorted(ALL)


@pytest.mark.parametrize("name", CASES)
def test_text_is_plain(name: str) -> None:
    """Parses, imports torch and triton only, no comprehensions in kernels, lines not too long."""
    text = CASES[name]().text()
    tree = ast.parse(text)
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    found = {a.name.split(".")[0] for n in imports if isinstance(n, ast.Import) for a in n.names}
    assert found == {"functools", "math", "os", "sys", "torch", "triton", "warnings"}
    kernels = [n for n in tree.body if isinstance(n, ast.FunctionDef) and "_g0_k" in n.name]
    loops = (ast.ListComp, ast.GeneratorExp, ast.Lambda, ast.DictComp, ast.SetComp)
    assert kernels
    assert not [n for k in kernels for n in ast.walk(k) if isinstance(n, loops)]
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and not n.body]


@pytest.mark.parametrize("name", CASES)
def test_a_function_can_hide_no_name_of_the_file(name: str) -> None:
    """What the file defines or takes from Python is refused as a name of a spec."""
    case = CASES[name]()
    defined: set[str] = set()
    for node in ast.parse(case.text()).body:
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                defined |= {alias.name.partition(".")[0] for alias in names}
                defined |= {alias.asname for alias in names if alias.asname}
            case ast.FunctionDef(name=own) | ast.ClassDef(name=own):
                defined.add(own)
            case ast.Assign(targets=targets):
                defined |= {t.id for t in targets if isinstance(t, ast.Name)}
    mine = {n for n in defined if n == case.program.name or re.search(r"_g\d+(_k\d+)?$", n)}
    assert defined - mine <= FILE_NAMES


def test_digest_covers_all_below_the_marker() -> None:
    text = CASES["softmax"]().text()
    head, _, body = text.partition(MARKER)
    assert body_digest(text) in head
    assert body_digest(text.replace("0.0", "0.5")) not in head
    assert body_digest(f"# another header\n{MARKER}{body}") in head
    with pytest.raises(ValueError, match="no marker"):
        body_digest(body)


def test_header_is_above_the_marker() -> None:
    text = CASES["softmax"]().text()
    assert text.index("# Spec:\n#   the spec\n") < text.index(MARKER)


def test_text_does_not_depend_on_the_hash_seed() -> None:
    script = "from tests.emit.cases import CASES\nfor make in CASES.values(): print(make().text())"
    texts = []
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        )
        texts.append(done.stdout)
    assert texts[0] == texts[1]


def test_names_change_nothing_but_names() -> None:
    """Renamed tensors and axes give the same tree of text up to identifiers."""

    def shape(text: str) -> list[str]:
        return [type(n).__name__ for n in ast.walk(ast.parse(text))]

    long = {"x": "activations_of_layer", "m": "a_rather_long_axis", "n": "b"}

    def graph(names: dict[str, str]) -> KernelGraph:
        x = Input(names["x"], (names["m"], names["n"]))
        value = s.softmax(s.mul(x, s.add(x, s.num(1))), names["n"])
        program = Program("f", (x,), (Store("out", x.order, None, value),))
        return whole(program, (names["m"],))

    short = print_graph(graph({n: n for n in long}))[0].text
    assert shape(short) == shape(print_graph(graph(long))[0].text)


def softmax_rows(tile: int) -> list[Row]:
    return [Row("a", 0, (Config((("m", tile), ("n", 8))),), (("m", 5), ("n", 7)))]


def test_emit_refuses_unusable_rows() -> None:
    program, graph = s.row_softmax(), s.two_pass_softmax()
    with pytest.raises(NotEmittable, match="power of two"):
        emit(program, [graph], softmax_rows(3), Header())
    with pytest.raises(NotEmittable, match="0 configs for 1 launches"):
        emit(program, [graph], [replace(softmax_rows(4)[0], configs=())], Header())
    with pytest.raises(NotEmittable, match="graph 1 of 1"):
        emit(program, [graph], [replace(softmax_rows(4)[0], graph=1)], Header())
    with pytest.raises(NotEmittable, match="at least one"):
        emit(program, [graph], [], Header())


def test_the_group_of_a_launch_is_printed_where_it_is_one() -> None:
    config = Config((("m", 16), ("k", 16), ("n", 16)))
    text = {
        group: emit(
            s.rms_linear(),
            [s.rms_linear_one_walk()],
            [Row("a", 0, (replace(config, group=group),), (("m", 5), ("k", 5), ("n", 7)))],
            Header(),
        )
        for group in (1, 8)
    }
    assert "stages=2, group=8),\n" in text[8]
    assert "stages=2),\n" in text[1]
    assert text[1].count("GROUP") == text[8].count("GROUP") == 3
    rows = [Row("a", 0, (replace(config, group=0),), (("m", 5), ("k", 5), ("n", 7)))]
    with pytest.raises(NotEmittable, match="groups of 0 tiles"):
        emit(s.rms_linear(), [s.rms_linear_one_walk()], rows, Header())


def test_matrix_products_need_wide_tiles() -> None:
    config = Config((("m", 16), ("k", 8), ("n", 16)))
    rows = [Row("a", 0, (config,), (("m", 5), ("k", 5), ("n", 7)))]
    with pytest.raises(NotEmittable, match=r"tile of 'k'.*at least 16, got 8"):
        emit(s.rms_linear(), [s.rms_linear_one_walk()], rows, Header())


X = Input("x", ("m", "n"))


def one(places: dict[str, object], store: Store, order: tuple[Turn, ...]) -> KernelGraph:
    block = BlockGraph(tuple(places.items()), (), (store,), order)  # type: ignore[arg-type]
    return KernelGraph("f", (X,), (store.name,), (block,))


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (
            one(
                {"m": Grid(), "n": Loop()}, Store("o", ("m",), None, s.total("n", X)), (Turn("m"),)
            ),
            "'n' has no tile outside of its own walk",
        ),
        (
            one({"m": Grid(), "n": Grid()}, Store("o", ("m", "n"), None, X), (Turn("m"),)),
            "does not name every grid axis once",
        ),
        (
            one(
                {"m": Grid(), "n": Grid()},
                Store("o", ("m",), None, Index("m")),
                (Turn("m"), Turn("n")),
            ),
            "store 'o' lacks the grid axis 'n'",
        ),
        (
            one({"m": Grid(), "n": Pack("m")}, Store("o", ("m",), None, Index("m")), (Turn("m"),)),
            "store 'o' lacks the grid axis 'n'",
        ),
        (
            one({"m": Grid()}, Store("o", ("m",), None, State("c", ("m",))), (Turn("m"),)),
            "value of carry 'c' is not known",
        ),
    ],
)
def test_what_has_no_text_is_refused(graph: KernelGraph, message: str) -> None:
    with pytest.raises(NotEmittable, match=message):
        print_graph(graph)


def test_an_axis_without_tensor_is_refused() -> None:
    store = Store("o", ("m", "z"), None, s.add(X, Index("z")))
    program = Program("f", (X,), (replace(store, value=s.total("n", store.value)),))
    graph = KernelGraph("f", (X,), ("o",), whole(program).kernels)
    block = replace(
        graph.kernels[0], places=(*graph.kernels[0].places, ("z", Grid())), order=(Turn("z"),)
    )
    rows = [Row("a", 0, (Config((("z", 4),)),), ())]
    with pytest.raises(NotEmittable, match="axis 'z'"):
        emit(program, [replace(graph, kernels=(block,))], rows, Header())
