"""Mutants of a text: one change each, each once, the same ones for a seed."""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.mutate.kinds import KINDS
from superopt.mutate.source import STATEMENT
from superopt.mutate.source import Site
from superopt.mutate.source import balanced
from superopt.mutate.source import drawn
from superopt.mutate.source import replaced
from superopt.mutate.source import source_mutants
from tests.mutate.subjects import subject


def mutants(name="softmax", graph=0):
    one = subject(name, graph)
    return one.text.text, source_mutants(one.text, one.function, 0)


def test_every_mutant_is_python_and_another_program():
    text, found = mutants()
    shapes = {ast.dump(ast.parse(m.text)) for m in found[::12]}
    assert ast.dump(ast.parse(text)) not in shapes
    assert len({m.text for m in found}) == len(found) > 300


def test_a_diff_shows_what_changed():
    text, found = mutants()
    for mutant in found[::20]:
        lines = mutant.diff(text).splitlines()
        assert any(line.startswith("-") for line in lines)
        assert all(line[0] in "+-@" for line in lines)


def test_every_kind_is_there():
    kinds = {
        m.kind for name, graph in (("softmax", 0), ("rms", 2)) for m in mutants(name, graph)[1]
    }
    assert kinds == {k.name for k in KINDS} | {STATEMENT}


def test_statements_are_left_out_repeated_and_exchanged():
    _, found = mutants("rms")
    made = [m.after for m in found if m.kind == STATEMENT]
    assert "pass" in made
    assert "after the next" in made
    assert any(m.endswith("; again") for m in made)


def test_only_functions_of_the_graph_change():
    text, found = mutants()
    above = text.index("\nPLANS = ")
    assert all(m.site.function in ("softmax_g0_k0", "_run_g0", "_even", "_max") for m in found)
    assert all(m.text[:200] == text[:200] for m in found)
    assert any(m.text[:above] != text[:above] for m in found)


@given(count=st.integers(1, 60), seed=st.integers(0, 5))
@settings(max_examples=10, deadline=None)
def test_a_choice_is_balanced_ordered_and_the_same_for_a_seed(count, seed):
    _, found = mutants()
    chosen = balanced(found, count, seed)
    assert [m.text for m in chosen] == [m.text for m in balanced(found, count, seed)]
    assert len(chosen) == count
    places = [found.index(m) for m in chosen]
    assert places == sorted(places)
    kinds = len({m.kind for m in found})
    assert len({m.kind for m in chosen}) == min(count, kinds)
    assert drawn(tuple(range(9)), count, seed) == drawn(tuple(range(9)), count, seed)


def test_all_are_chosen_if_there_are_no_more():
    _, found = mutants()
    assert balanced(found, None, 0) == balanced(found, 10**6, 0) == found


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_a_site_replaced_by_its_own_text_changes_nothing(data):
    lines = data.draw(st.lists(st.text("aé (\t", max_size=6), min_size=1, max_size=4))
    text = "\n".join(lines) + "\n"
    top = data.draw(st.integers(0, len(lines) - 1))
    left = len(lines[top][: data.draw(st.integers(0, len(lines[top])))].encode())
    site = Site((top + 1, left), (top + 1, len(lines[top].encode())), "f", 1, True, ast.Pass())
    assert replaced(text, site, lines[top].encode()[left:].decode()) == text
