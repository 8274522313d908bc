from __future__ import annotations

import numpy as np
import pytest

from superopt.errors import NoRepair
from superopt.repair.basis import separate
from superopt.repair.collect import MOST
from superopt.repair.record import to_old
from superopt.repair.span import FINITE
from superopt.ugraph.evaluate import evaluate_node
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from tests.repair.cases import U
from tests.repair.cases import X
from tests.samples import add
from tests.samples import exp
from tests.samples import mul
from tests.samples import num
from tests.samples import sub

S, T = State("s", ("m",)), State("t", ("m",))
KNOWN = {S: FINITE, T: FINITE}


def found(term: Node, fold: Fn = Fn.ADD):
    return separate(term, "n", frozenset({S, T}), fold, KNOWN)


def power(a: Node, n: int) -> Node:
    return a if n == 1 else mul(power(a, n - 1), a)


TERMS = {
    "product": (mul(X, S), 1),
    "exponential": (exp(add(sub(X, S), U)), 1),
    "difference": (mul(sub(X, S), U), 2),
    "square": (power(sub(X, S), 2), 3),
    "fourth power": (power(sub(X, S), 4), 5),
    "two producers": (mul(sub(X, S), sub(U, T)), 4),
    "product of exponentials": (mul(sub(X, S), exp(sub(X, S))), 2),
    "sum and exponential": (add(exp(sub(X, S)), mul(X, U)), 2),
}


@pytest.mark.parametrize("name", TERMS)
def test_separation_and_moves_are_identities(name: str):
    term, rank = TERMS[name]
    sep = found(term)
    assert len(sep.basis) == rank
    assert sep.basis[0] is term
    rng = np.random.default_rng(0)
    old = {S: State("s", ("m",), True), T: State("t", ("m",), True)}
    values = {
        n: rng.normal(size=tuple({"m": 3, "n": 4}[a] for a in n.axes))
        for n in (X, U, *old.keys(), *old.values())
    }

    def value(node: Node) -> np.ndarray:
        got = evaluate_node(node, FloatDomain(np.float64), values, {"m": 3, "n": 4})
        return got if "n" in node.axes else got[..., None]  # axes are sorted: m, n

    def column(node: Node) -> np.ndarray:
        got = value(node)
        return got if node.axes != ("n",) else got[None]

    whole = sum(column(a) * column(b) for a, b in sep.parts)
    np.testing.assert_allclose(whole, column(term), 1e-9, 1e-9)
    for i, row in enumerate(sep.moves):
        moved = sum(
            column(to_old(sep.basis[j])) * column(f) for j, f in enumerate(row) if f is not None
        )
        want = column(sep.basis[i])
        np.testing.assert_allclose(moved, np.broadcast_to(want, moved.shape), 1e-9, 1e-9)


def test_the_basis_is_centred():
    sep = found(power(sub(X, S), 2))
    assert sep.basis[1] is sub(X, S)
    assert sep.basis[2] is num(1)


def test_no_change_of_basis_is_made_where_it_may_not_exist():
    sep = found(add(mul(S, X), mul(mul(S, S), U)))
    assert len(sep.parts) == 2
    assert sep.moves == ()


def test_extrema_add():
    sep = found(sub(X, S), Fn.MAX)
    assert sep.action is Fn.ADD
    ((move,),) = sep.moves
    assert move is sub(State("s", ("m",), True), S)


@pytest.mark.parametrize(
    ("term", "fold", "reason"),
    [
        (Map(Fn.ERF, (sub(X, S),)), Fn.ADD, "erf"),
        (exp(mul(X, S)), Fn.ADD, "exp"),
        (Map(Fn.LOG, (add(mul(X, X), mul(S, S)),)), Fn.ADD, "log"),
        (power(sub(X, S), MOST), Fn.ADD, "above"),
        (mul(X, S), Fn.MAX, "positive"),
        (sub(X, S), Fn.MUL, "mul"),
    ],
)
def test_no_is_said_with_the_term(term: Node, fold: Fn, reason: str):
    with pytest.raises(NoRepair, match=reason):
        found(term, fold)
