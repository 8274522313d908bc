from __future__ import annotations

import pytest

from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.scalar import Fn
from superopt.verify.reals.cases import MINUS
from superopt.verify.reals.cases import UNDEFINED
from superopt.verify.reals.cases import Infeasible
from superopt.verify.reals.cases import Path
from superopt.verify.reals.cases import TooManyPaths
from superopt.verify.reals.cases import explore
from superopt.verify.reals.poly import Ratio
from tests.samples import NEG_INF
from tests.samples import div
from tests.samples import exp
from tests.samples import num
from tests.samples import sub
from tests.samples import where

X, Y = Scalar("x"), Scalar("y")


def values(node: Node, lowest: tuple[Node, ...] = ()) -> list[object]:
    def start(decisions: list[bool]) -> Path:
        return Path(lowest, (), (), lambda _: True, decisions)

    return [p.value(node) for p in explore(start, lambda p: p.value(node) and None)]


def test_a_term_without_decisions_has_one_case() -> None:
    assert len(values(sub(X, Y))) == 1


def test_a_quotient_has_two_cases() -> None:
    found = values(div(X, Y))
    assert len(found) == 2
    assert UNDEFINED in found


def test_only_the_selected_arm_is_looked_at() -> None:
    condition = Map(Fn.LT, (X, Y))
    assert len(values(where(condition, num(1), div(X, Y)))) == 3  # true, zero, a quotient


def test_infinities_are_cases_of_leaves() -> None:
    found = values(sub(X, Y), lowest=(X,))
    assert [f is MINUS for f in found] == [True, False]
    (zero, other) = values(exp(X), lowest=(X,))
    assert isinstance(zero, Ratio)
    assert zero.constant == 0
    assert isinstance(other, Ratio)


def test_equal_infinities_have_no_difference() -> None:
    assert values(sub(NEG_INF, NEG_INF)) == [UNDEFINED]


def test_a_condition_is_decided_once_a_path() -> None:
    test = Map(Fn.LT, (X, Y))
    both = Map(Fn.AND, (test, Map(Fn.OR, (test, test))))
    assert values(both) == [True, False]


def test_the_number_of_cases_is_bounded() -> None:
    wide: Node = num(0)
    for i in range(12):
        wide = sub(wide, Map(Fn.ABS, (Scalar(f"v{i}"),)))

    def start(decisions: list[bool]) -> Path:
        return Path((), (), (), lambda _: True, decisions)

    with pytest.raises(TooManyPaths):
        list(explore(start, lambda p: p.value(wide) and None, most=100))


def test_impossible_paths_are_left_out() -> None:
    def start(decisions: list[bool]) -> Path:
        return Path((), (), (), lambda _: True, decisions)

    def run(path: Path) -> None:
        if path.value(Map(Fn.LT, (X, Y))) is True:
            raise Infeasible

    assert len(list(explore(start, run))) == 1
