"""Tiles broadcast along their dimensions; the modules of a reading build on each other."""

from __future__ import annotations

from superopt.verify.source.load import read_text
from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.division import Divisions
from superopt.verify.source.symbolic.expression import Expressions
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.solve import Prover
from superopt.verify.source.symbolic.value import Mask
from superopt.verify.source.symbolic.value import Step
from superopt.verify.source.symbolic.value import Whole


def reader():
    return Expressions(read_text(""), Atoms(Prover()), ZERO, {})


def lanes(reader, name, extent):
    lane = reader.atoms.free(name, upper=(number(extent),))
    return lane, Whole(lane, 32, (lane.atom,))


def test_two_ranges_of_one_length_along_one_dimension_are_one():
    r = reader()
    (i, one), (j, other) = lanes(r, "i", 8), lanes(r, "j", 8)
    _, moved, dims = r.along(one, other)
    assert dims == ("i",)
    assert moved.poly == i != j
    _, mask, _ = r.along(one, Mask(below(j, number(3)), ("j",)))
    assert mask.formula == below(i, number(3))


def test_dimensions_of_one_position_take_those_of_the_other():
    r = reader()
    _, one = lanes(r, "i", 8)
    _, other = lanes(r, "j", 4)
    row, column = Whole(one.poly, 32, ("i", None)), Whole(other.poly, 32, (None, "j"))
    assert r.along(row, column)[2] == ("i", "j")
    assert r.along(row, Whole(number(1)))[2] == ("i", None)


def test_every_result_of_limited_width_is_remembered():
    r = reader()
    i, one = lanes(r, "i", 8)
    assert r.whole(i + i, 32, one.dims, ()).steps == (Step(i + i, 32, 0),)
    assert r.whole(i + i, 64, one.dims, ()).steps == ()
    assert r.whole(i + i, 0, one.dims, ()).steps == ()


def test_atoms_are_a_table_with_divisions():
    assert issubclass(Atoms, Divisions)
    assert Divisions(None).divided(number(-7), number(2)) == (number(-3), number(-1))
