from __future__ import annotations

import pytest

from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import State
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.verify.reals.cases import MEANING
from superopt.verify.reals.smt import prove_equal
from superopt.verify.reals.smt import prove_implies
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict
from tests.samples import NEG_INF
from tests.samples import add
from tests.samples import div
from tests.samples import eq
from tests.samples import exp
from tests.samples import finite
from tests.samples import mul
from tests.samples import num
from tests.samples import rsqrt
from tests.samples import sub
from tests.samples import where

A, B, C, X, Y = (Scalar(n) for n in "abcxy")
OLD, NEW, LAST = State("m", (), old=True), State("m", ()), State("later", ())


def le(a: Node, b: Node) -> Node:
    return Map(Fn.LE, (a, b))


def lt(a: Node, b: Node) -> Node:
    return Map(Fn.LT, (a, b))


def fn(which: Fn, *args: Node) -> Node:
    return Map(which, args)


def positive(*nodes: Node) -> list[Node]:
    return [lt(num(0), n) for n in nodes]


def factor(old: Node, new: Node) -> Node:
    return where(eq(old, NEG_INF), num(1), exp(sub(old, finite(new))))


EQUAL = {
    "exponents add": (exp(sub(A, C)), mul(exp(sub(A, B)), exp(sub(B, C)))),
    "base two": (fn(Fn.EXP2, mul(X, Named(Constant.LOG2E))), exp(X)),
    "constants": (mul(Named(Constant.LOG2E), Named(Constant.LN2)), num(1)),
    "log of exp": (fn(Fn.LOG, exp(A)), A),
    "same argument": (fn(Fn.ERF, add(X, Y)), fn(Fn.ERF, add(Y, X))),
    "tanh is a sigmoid": (
        fn(Fn.TANH, X),
        sub(mul(num(2), fn(Fn.SIGMOID, mul(num(2), X))), num(1)),
    ),
    "absolute value": (fn(Fn.ABS, X), fn(Fn.MAX, X, sub(num(0), X))),
}


@pytest.mark.parametrize("name", EQUAL)
def test_equal(name: str) -> None:
    left, right = EQUAL[name]
    assert isinstance(prove_equal(left, right), Proved)


def test_equal_under_facts() -> None:
    log, root = Fn.LOG, Fn.SQRT
    assert isinstance(
        prove_equal(fn(log, mul(A, B)), add(fn(log, A), fn(log, B)), positive(A, B)), Proved
    )
    assert isinstance(
        prove_equal(fn(root, mul(A, B)), mul(fn(root, A), fn(root, B)), positive(A, B)), Proved
    )
    assert isinstance(prove_equal(div(mul(X, Y), Y), X, positive(Y)), Proved)


def test_a_norm_moves_by_the_quotient_of_its_scales() -> None:
    old, new = (div(add(x, mul(C, A)), C) for x in (B, Y))
    moved = mul(mul(X, rsqrt(old)), fn(Fn.SQRT, div(old, new)))
    assert isinstance(prove_equal(moved, mul(X, rsqrt(new)), positive(A, B, C, Y)), Proved)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (div(mul(X, Y), Y), X),  # not at 0
        (add(X, Y), add(Y, Y)),
        (exp(exp(X)), exp(exp(Y))),
        (fn(Fn.ERF, X), X),
        (fn(Fn.MAX, mul(C, A), mul(C, B)), mul(C, fn(Fn.MAX, A, B))),
        (exp(add(A, B)), add(exp(A), exp(B))),
    ],
)
def test_a_counterexample_is_evaluated_again(left: Node, right: Node) -> None:
    verdict = prove_equal(left, right)
    assert isinstance(verdict, Refuted)
    assert verdict.at


def test_a_model_that_is_not_real_is_no_counterexample() -> None:
    """Only bounds of erf are known, so this is beyond the solver, but it is not false."""
    odd = sub(num(0), fn(Fn.ERF, sub(num(0), X)))
    assert isinstance(prove_equal(fn(Fn.ERF, X), odd), Unknown)


def test_at_minus_infinity() -> None:
    """The identity of the reals fails at the unit of the maximum; the guard saves it."""
    plain = exp(sub(X, OLD))
    assert isinstance(prove_equal(mul(plain, exp(sub(OLD, NEW))), exp(sub(X, NEW))), Proved)
    assert isinstance(
        prove_equal(mul(plain, exp(sub(OLD, NEW))), exp(sub(X, NEW)), lowest=[OLD]), Refuted
    )
    guarded = mul(exp(sub(X, finite(OLD))), factor(OLD, NEW))
    facts = [le(OLD, NEW), le(X, OLD)]
    assert isinstance(
        prove_equal(guarded, exp(sub(X, finite(NEW))), facts, lowest=[OLD, NEW, X]), Proved
    )


def test_moves_compose() -> None:
    states = [OLD, NEW, LAST]
    facts = [le(OLD, NEW), le(NEW, LAST), lt(NEG_INF, OLD)]
    twice = mul(factor(OLD, NEW), factor(NEW, LAST))
    assert isinstance(prove_equal(twice, factor(OLD, LAST), facts, lowest=states), Proved)


def test_ranges_follow_from_order() -> None:
    fact, claim = le(OLD, NEW), le(factor(OLD, NEW), num(1))
    assert isinstance(prove_implies([fact], claim, lowest=[OLD, NEW]), Proved)
    assert isinstance(prove_implies([], claim, lowest=[OLD, NEW]), Refuted)


def defined(node: Node, *facts: Node) -> Verdict:
    """A claim is proved where it is true and has a value, so this asks for the value alone."""
    return prove_implies(facts, eq(node, node), lowest=[OLD, NEW])


def test_definedness() -> None:
    assert isinstance(defined(factor(OLD, NEW), le(OLD, NEW)), Proved)
    bare = exp(sub(OLD, NEW))
    assert isinstance(defined(bare, le(OLD, NEW)), Refuted)
    assert isinstance(defined(div(X, Y)), Refuted)


def test_a_select_does_not_look_at_the_other_arm() -> None:
    safe = where(eq(X, num(0)), num(0), div(num(1), X))
    assert isinstance(defined(safe), Proved)


def test_infinite_literals() -> None:
    assert isinstance(prove_equal(exp(NEG_INF), num(0)), Proved)
    assert isinstance(prove_equal(fn(Fn.MAX, X, NEG_INF), X), Proved)
    assert isinstance(prove_equal(fn(Fn.LOG, num(0)), NEG_INF), Proved)
    assert isinstance(prove_equal(div(num(1), Const(INF)), num(0)), Proved)


def test_contradictory_facts_prove_anything() -> None:
    assert isinstance(prove_equal(X, Y, [lt(X, X)]), Proved)


def test_little_rlimit_is_unknown_and_never_an_exception() -> None:
    left = fn(Fn.SQRT, mul(A, B))
    right = mul(fn(Fn.SQRT, A), fn(Fn.SQRT, B))
    assert isinstance(prove_equal(left, right, positive(A, B), rlimit=1), Unknown)


def test_verdicts_are_deterministic() -> None:
    first = prove_equal(div(mul(X, Y), Y), X)
    assert all(prove_equal(div(mul(X, Y), Y), X) == first for _ in range(3))


def test_every_function_has_a_meaning() -> None:
    assert set(MEANING) == set(Fn)
