"""Questions in SMT-LIB: linear, and satisfiable wherever the polynomials are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.verify.source.symbolic import solve
from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.evaluate import truth_of
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.formula import equal
from superopt.verify.source.symbolic.formula import negated
from superopt.verify.source.symbolic.linear import LEVELS
from superopt.verify.source.symbolic.linear import products
from superopt.verify.source.symbolic.linear import question
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.solve import Prover
from superopt.verify.source.symbolic.solve import answer

numbers = st.integers(-4, 4)


def table():
    atoms = Atoms(None)
    size = atoms.free("s")
    return atoms, size, atoms.free("x", upper=(size,)), atoms.free("y", upper=(size * size,))


@settings(max_examples=200, deadline=None)
@given(numbers, numbers, numbers, st.sampled_from(range(1, LEVELS)))
def test_what_is_said_of_products_is_true_of_all_integers(s, x, y, level):
    atoms, size, a, b = table()
    facts = [equal(a * size + b, b * size * a), below(a * b, size)]
    goal = negated(at_least(a * size, b))
    for theorem in products([*facts, goal], goal, atoms, level):
        assert truth_of(theorem, {"s": s, "x": x, "y": y}, atoms)


def test_a_product_of_bounded_numbers_is_bounded():
    atoms, size, a, _ = table()
    assert Prover().proves((at_least(size, ZERO),), at_least(size * size, a * size), atoms)


def test_what_does_not_follow_is_not_proved():
    atoms, size, a, _ = table()
    assert not Prover().proves((), at_least(a * size, size), atoms)


def test_levels_only_add():
    atoms, size, a, b = table()
    goal = at_least(a * size, b)
    texts = [question((), goal, atoms, level) for level in range(LEVELS)]
    lines = [set(t.splitlines()) for t in texts]
    assert lines[0] < lines[1] <= lines[2]
    assert "* |s| |x|" not in "".join(texts)  # no product of unknowns: linear
    assert answer(texts[0]) == answer(texts[0])


def test_a_goal_that_is_known_is_asked_with_what_it_is_known_by_alone():
    atoms, size, a, b = table()
    goal = at_least(size + number(2), a)
    text = question((at_least(b, a), at_least(size, a)), goal, atoms, 0)
    assert answer(text) == "unsat"
    assert "|y|" not in text
    assert text.count("assert") == 2


def test_earlier_questions_change_no_answer(monkeypatch):
    """A question that is asked briefly and in vain is asked again by itself."""
    atoms, size, a, b = table()
    texts = [
        question((at_least(size, number(n)),), at_least(a * size + number(n), b), atoms, level)
        for n in range(3)
        for level in range(LEVELS)
    ]
    first = [answer(t) for t in texts]
    forget()
    assert [answer(t) for t in reversed(texts)][::-1] == first
    forget()
    for limit in ("BRIEF", "SHORT", "RLIMIT"):
        monkeypatch.setattr(solve, limit, 1)
    assert answer(texts[0]) == "unknown"
    forget()


def forget():
    solve.answer.cache_clear()
    solve._briefly.cache_clear()
