"""Polynomials and conditions at numbers: every lane at once, or one lane exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.formula import AllOf
from superopt.verify.source.symbolic.formula import AnyOf
from superopt.verify.source.symbolic.formula import Compare
from superopt.verify.source.symbolic.formula import Formula
from superopt.verify.source.symbolic.formula import Not
from superopt.verify.source.symbolic.formula import Truth
from superopt.verify.source.symbolic.poly import Poly
from superopt.verify.source.symbolic.table import Op

Numbers = Any  # a Python integer, or an array of int64


class NotConcrete(Exception):  # noqa: N818
    """A number or a condition depends on what was given no value."""


def number_of(poly: Poly, at: Mapping[str, Numbers], atoms: Atoms) -> Numbers:
    """The value of a polynomial; ``at``: values of atoms that are not computed."""
    total: Numbers = 0
    for monomial, coefficient in poly.terms:
        product: Numbers = coefficient
        for name in monomial:
            product = product * _atom(name, at, atoms)
        total = total + product
    return total


def _atom(name: str, at: Mapping[str, Numbers], atoms: Atoms) -> Numbers:
    if name in at:
        return at[name]
    one = atoms.definitions[name]
    if one.op in (Op.FREE, Op.DATA, Op.POWER):
        raise NotConcrete(name)
    values = [number_of(p, at, atoms) for p in one.args]
    match one.op:
        case Op.QUOTIENT:
            return _quotient(*values)
        case Op.REMAINDER:
            return values[0] - _quotient(*values) * values[1]
        case Op.LEAST:
            return _where(values[0] <= values[1], *values)
        case Op.GREATEST:
            return _where(values[0] >= values[1], *values)
        case _:
            return _where(truth_of(one.condition, at, atoms), *values)


def truth_of(formula: Formula, at: Mapping[str, Numbers], atoms: Atoms) -> Any:
    """The truth value of a condition."""
    match formula:
        case Compare(poly=poly, equal=same):
            value = number_of(poly, at, atoms)
            return value == 0 if same else value >= 0
        case Truth(name=name):
            raise NotConcrete(name)
        case Not(part=part):
            return np.logical_not(truth_of(part, at, atoms))
        case AllOf(parts=parts):
            found: Any = True
            for part in parts:
                found = np.logical_and(found, truth_of(part, at, atoms))
            return found
        case AnyOf(parts=parts):
            found = False
            for part in parts:
                found = np.logical_or(found, truth_of(part, at, atoms))
            return found


def _quotient(p: Numbers, y: Numbers) -> Numbers:
    """Division that truncates."""
    if isinstance(p, int) and isinstance(y, int):
        if y == 0:
            raise NotConcrete("a division by 0")
        count = abs(p) // abs(y)
        return count if (p >= 0) == (y > 0) else -count
    if np.any(np.equal(y, 0)):
        raise NotConcrete("a division by 0")
    return np.sign(p) * np.sign(y) * (np.abs(p) // np.abs(y))


def _where(condition: Any, a: Numbers, b: Numbers) -> Numbers:
    if isinstance(a, int) and isinstance(b, int):
        return a if condition else b
    return np.where(condition, a, b)
