from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from superopt.emit.names import Namer
from superopt.emit.writer import Writer
from superopt.emit.writer import split
from superopt.emit.writer import tuple_text
from superopt.emit.writer import wrap

names = st.sampled_from(["a", "bb", "a_long_name_of_something", "x[:, None]", "f(a, b + c)"])
sums = st.lists(names, min_size=1, max_size=12).map(" + ".join)
calls = st.lists(sums, min_size=1, max_size=5).map(lambda p: f"tl.load({', '.join(p)})")
statements = st.one_of(sums, calls).map(lambda v: f"target = {v}")


@given(statements, st.integers(0, 3))
def test_wrapping_keeps_the_statement(text: str, depth: int) -> None:
    assert ast.dump(ast.parse(wrap(text, depth))) == ast.dump(ast.parse(text))


def test_wrapping_breaks_long_statements() -> None:
    text = f"x = tl.load({' + '.join(['pointer'] * 20)}, mask=m)"
    assert max(map(len, wrap(text).split("\n"))) <= 100
    assert wrap("return " + ", ".join(["value"] * 30)).startswith("return (\n")


def test_what_cannot_be_broken_stays() -> None:
    long = "a" * 120
    for text in (f"{long}[(programs,)](", f"if dtype is None and real in ({long}.dtype,):"):
        assert wrap(text) == text


def test_split_ignores_brackets() -> None:
    assert split("a, f(b, c), d[e, g]", ", ") == ["a", "f(b, c)", "d[e, g]"]


def test_tuple_of_one_keeps_its_comma() -> None:
    assert [tuple_text(t) for t in ((), ("a",), ("a", "b"))] == ["()", "(a,)", "(a, b)"]


def test_blocks_are_indented() -> None:
    out = Writer()
    with out.block("if a:"):
        out.line("b\n\nc")
    assert out.text() == "if a:\n    b\n\n    c\n"


@given(st.lists(st.text(max_size=5), max_size=30))
def test_names_are_identifiers_and_never_twice(wishes: list[str]) -> None:
    namer = Namer()
    found = [namer.fresh(w) for w in wishes]
    assert len(set(found)) == len(found)
    assert all(n.isidentifier() and n not in ("tl", "lambda", "max") for n in found)
