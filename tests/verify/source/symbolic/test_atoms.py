"""What is said of a computed atom is true of its value, whatever it is computed of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.evaluate import number_of
from superopt.verify.source.symbolic.evaluate import truth_of
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import atom
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.solve import Prover
from superopt.verify.source.symbolic.table import Op


@st.composite
def computed(draw, atoms):
    """A polynomial of x, y (any) and n (positive), computed in up to four steps."""
    known = [atom("x"), atom("y"), atom("n"), number(draw(st.integers(-3, 7)))]
    for _ in range(draw(st.integers(1, 4))):
        a, b = draw(st.sampled_from(known)), draw(st.sampled_from(known))
        match draw(st.integers(0, 5)):
            case 0:
                found = atoms.divided(a, atom("n"))[draw(st.integers(0, 1))]
            case 1:
                found = atoms.divided(a + b, number(draw(st.integers(1, 5))))[
                    draw(st.integers(0, 1))
                ]
            case 2:
                found = atoms.least(a, b)
            case 3:
                found = atoms.greatest(a, b)
            case 4:
                found = atoms.choice(below(a, b), a, b)
            case _:
                found = a + b
        known.append(found)
    return known[-1]


def table():
    atoms = Atoms(Prover())
    for name in ("x", "y", "n"):
        atoms.free(name)
    atoms.assume("n", at_least(atom("n"), ONE))
    return atoms


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 5))
def test_facts_are_true(data, x, y, n):
    atoms = table()
    poly = data.draw(computed(atoms))
    at = {"x": x, "y": y, "n": n}
    for fact in atoms.cone([at_least(poly, ZERO)]):
        assert truth_of(fact, at, atoms), fact


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 5))
def test_another_program_computes_the_same_of_its_own_numbers(data, x, y, n):
    atoms = table()
    poly = data.draw(computed(atoms))
    by = {"x": atom("y"), "y": atom("x"), "n": atom("n")}
    twin = atoms.instance(poly, by, "'")
    here = {"x": x, "y": y, "n": n}
    there = {"x": y, "y": x, "n": n}
    assert number_of(twin, here, atoms) == number_of(poly, there, atoms)


def test_a_program_id_that_is_taken_apart_stays_within_its_sizes():
    atoms = Atoms(Prover())
    b, h, m = (atoms.free(n, shared=True) for n in ("b", "h", "m"))
    for one in (b, h, m):
        atoms.assume(one.atom or "", at_least(one, ZERO))
    pid = atoms.free("pid", upper=(b * h * m,))
    atoms.given = (below(ZERO, b * h * m),)
    over, inside = atoms.divided(pid, m)
    top, middle = atoms.divided(over, h)
    assert [atoms.upper(p)[0] for p in (inside, middle, over, top)] == [m, h, b * h, b]
    assert atoms.unsure == []
    assert atoms.recombined(over * m + inside) == pid


def test_a_divisor_that_may_be_zero_has_no_facts_and_is_named():
    atoms = Atoms(Prover())
    x, y = atoms.free("x"), atoms.free("y")
    quotient, _ = atoms.divided(x, y)
    assert atoms.unsure == [(x, y)]
    assert atoms.facts(quotient.atom or "") == ()


def test_a_dividend_that_may_be_negative_is_read_with_either_rounding():
    atoms = Atoms(Prover())
    x = atoms.free("x")
    quotient, rest = atoms.divided(x, number(4))
    assert atoms.signed == [x]
    facts = atoms.cone([at_least(quotient, rest)])
    for q, r in ((-1, -1), (-2, 3)):  # -5 by 4, truncated and rounded down
        values = {"x": -5, quotient.atom: q, rest.atom: r}
        assert all(truth_of(f, values, atoms) for f in facts)
    assert not all(truth_of(f, {"x": 5, quotient.atom: 2, rest.atom: -3}, atoms) for f in facts)


@pytest.mark.parametrize("first", [True, False])
def test_nested_quotients_have_one_name_whatever_the_order(first):
    atoms = Atoms(Prover())
    x, a, b = (atoms.free(n) for n in ("x", "a", "b"))
    for one in (x, a, b):
        atoms.assume(one.atom or "", at_least(one, ONE))
    one, other = (a, b) if first else (b, a)
    left = atoms.divided(atoms.divided(x, one)[0], other)[0]
    atoms.divided(x, other)
    assert atoms.divided(atoms.divided(x, other)[0], one)[0] == left
    assert atoms.definitions[left.atom or ""].op is Op.QUOTIENT


def test_what_a_copy_learns_the_table_does_not():
    atoms = table()
    other = atoms.copied()
    q, _ = other.divided(atom("x"), number(3))
    other.assume("x", at_least(atom("x"), ONE))
    assert q.atom not in atoms.definitions
    assert atoms.facts("x") == ()
    assert atoms.divided(atom("x"), number(3))[0] == q  # names begin where the table's end
