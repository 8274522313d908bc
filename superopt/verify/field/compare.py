"""Whether two values of the field reading agree, where, and in how many rounds that was seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from superopt.ugraph.scalar import Kind
from superopt.verify.field.array import FINITE
from superopt.verify.field.array import UNDEFINED
from superopt.verify.field.array import FieldArray
from superopt.verify.field.array import exact_of
from superopt.verify.field.array import promoted
from superopt.verify.field.array import truth_of
from superopt.verify.field.functions import Functions
from superopt.verify.field.residues import Bools

_STATE = ("finite", "-inf", "+inf", "undefined")


@dataclass(frozen=True)
class Difference:
    """The first element that differs: its position, both sides as text, and the doubts."""

    position: tuple[int, ...]
    spec: str
    graph: str
    doubts: frozenset[str]


def compared(
    functions: Functions, spec: FieldArray, graph: FieldArray
) -> tuple[Difference | None, npt.NDArray[np.int64]]:
    """A difference, if there is one, and for every element the number of rounds that decide.

    Where the spec is undefined nothing is claimed; where only the graph is, they differ.
    """
    rounds = functions.tower.rounds
    no_claim = spec.tag == UNDEFINED
    different, known = _values(functions, spec, graph)
    states = spec.tag != graph.tag
    finite = spec.finite & graph.finite
    wrong = ~no_claim & (states | (finite & different)) & known
    shape = (rounds, *spec.shape)
    # An element that is undefined in some rounds only says nothing in these.
    decided = np.where(no_claim, no_claim.all(0, keepdims=True), known)
    counts = np.broadcast_to(decided, shape).sum(0)
    wrong = np.broadcast_to(wrong, shape)
    if not wrong.any():
        return None, counts
    where = tuple(int(i) for i in np.argwhere(wrong)[0])
    return (
        Difference(where[1:], _text(spec, where), _text(graph, where), spec.doubts | graph.doubts),
        counts,
    )


def _values(functions: Functions, a: FieldArray, b: FieldArray) -> tuple[Bools, Bools]:
    """Where finite values differ, and where that is known."""
    if a.kind is Kind.BOOL or b.kind is Kind.BOOL:
        (truth_a, sure_a), (truth_b, sure_b) = truth_of(a), truth_of(b)
        return truth_a != truth_b, sure_a & sure_b
    if a.kind is Kind.INT and b.kind is Kind.INT:
        return exact_of(a) != exact_of(b), np.ones(a.tag.shape, np.bool_)
    a, b = promoted(functions.tower, a), promoted(functions.tower, b)
    by_exponential = a.expo is not None or b.expo is not None
    left = functions.expo(a) if by_exponential else a.levels
    right = functions.expo(b) if by_exponential else b.levels
    different: Bools = np.zeros(a.tag.shape, np.bool_)
    known: Bools = np.zeros(a.tag.shape, np.bool_)
    for level, (x, y) in enumerate(zip(left, right, strict=True)):
        if x is None or y is None:
            continue
        both = x.known & y.known
        different = different | (both & (x.value != y.value))
        if level == 0:
            known = known | both
    return different, known


def _text(a: FieldArray, where: tuple[int, ...]) -> str:
    at = (where[0] if a.tag.shape[0] > 1 else 0, *where[1:])
    state = int(a.tag[at])
    if state != FINITE:
        return _STATE[state]
    if a.kind is Kind.INT:
        return str(int(exact_of(a)[at]))
    if a.kind is Kind.BOOL:
        return str(bool(truth_of(a)[0][at]))
    first = a.levels[0]
    if first is None:
        return "known by its exponential"
    row = where[0] if first.value.shape[0] > 1 else 0
    return f"residue {int(first.value[(row, *where[1:])])}"
