"""Roundings in the field reading: monotone, zero at many points, and nothing else is known."""

from __future__ import annotations

import pytest

from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import Fn
from superopt.verify.field.graphs import verify_graph
from superopt.verify.verdict import Verdict
from superopt.verify.verdict import accepted
from tests.samples import NEG_INF
from tests.samples import add
from tests.samples import div
from tests.samples import eq
from tests.samples import largest
from tests.samples import mul
from tests.samples import num
from tests.samples import total
from tests.samples import where
from tests.verify.field.plain import plain
from tests.verify.field.plain import program

A = Input("a", ("i", "k"))
B = Input("b", ("i",))
KEEP = Input("keep", ("i", "k"), "bool")
NARROW, BYTE = Fn.ROUND_E4M3, Fn.ROUND_INT8


def rounded(x: Node, fn: Fn = NARROW) -> Node:
    return Map(fn, (x,))


def smallest(axis: str, x: Node) -> Node:
    return Reduce(Fn.MIN, axis, x)


def verdict(spec: Node, kernel: Node) -> Verdict:
    return verify_graph(program(spec), plain(program(kernel)), 0)


ACCEPTED = {
    "the same": (total("k", mul(rounded(A), B)), total("k", mul(B, rounded(A)))),
    "past a maximum": (largest("k", rounded(A)), rounded(largest("k", A))),
    "past a minimum": (smallest("k", rounded(A, BYTE)), rounded(smallest("k", A), BYTE)),
    "past two maxima": (
        Map(Fn.MAX, (rounded(B), largest("k", rounded(A)))),
        rounded(Map(Fn.MAX, (B, largest("k", A)))),
    ),
    "past a masked maximum": (
        largest("k", rounded(where(KEEP, A, NEG_INF))),
        rounded(largest("k", where(KEEP, A, NEG_INF))),
    ),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted(case: str) -> None:
    found = verdict(*ACCEPTED[case])
    assert accepted(found), found


LESS, AT_MOST = (Map(fn, (num(0), rounded(B))) for fn in (Fn.LT, Fn.LE))
UNEQUAL = {
    "dropped": (rounded(A), A),
    "another grid": (rounded(A), rounded(A, BYTE)),
    "done twice, on two grids": (rounded(rounded(A, BYTE)), rounded(A)),
    "out of a sum": (total("k", rounded(A)), rounded(total("k", A))),
    "a factor moved": (rounded(mul(A, B)), mul(rounded(A), B)),
    "parts of a sum": (rounded(add(A, B)), add(rounded(A), rounded(B))),
    "past a maximum of negatives": (
        rounded(mul(num(-1), largest("k", A))),
        mul(num(-1), rounded(largest("k", A))),
    ),
    "a guard against zero left out": (
        where(eq(rounded(B), num(0)), num(7), div(A, rounded(B))),
        div(A, rounded(B)),
    ),
    "a sharp bound for a blunt one": (where(LESS, A, B), where(AT_MOST, A, B)),
    "equal after rounding": (
        where(eq(rounded(A), rounded(B)), A, B),
        where(eq(A, B), A, B),
    ),
}


@pytest.mark.parametrize("case", UNEQUAL)
def test_never_accepted(case: str) -> None:
    assert not accepted(verdict(*UNEQUAL[case]))
