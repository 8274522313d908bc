from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from superopt.rewrite.rule import RULES
from superopt.rewrite.rule import Fact
from superopt.rewrite.rule import HasAxis
from superopt.rewrite.rule import Known
from superopt.rewrite.rule import Need
from superopt.rewrite.rule import Num
from superopt.rewrite.rule import Pattern
from superopt.rewrite.rule import Rule
from superopt.rewrite.rule import Var
from superopt.rewrite.rule import apply
from superopt.rewrite.rule import total
from superopt.ugraph.scalar import Fn
from superopt.verify.reals.laws import prove_all
from superopt.verify.reals.laws import prove_law
from superopt.verify.reals.laws import sample
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown

# HasAxis keeps folds well formed; values do not depend on it.
NEEDS = [(r, n) for r in RULES.values() for n in r.needs if not isinstance(n, HasAxis)]


@pytest.mark.parametrize("law", RULES.values(), ids=lambda r: r.name)
def test_every_law_is_proved(law: Rule) -> None:
    assert isinstance(prove_law(law), Proved)


@pytest.mark.parametrize(("law", "need"), NEEDS, ids=lambda x: str(getattr(x, "name", x)))
def test_without_a_need_there_is_a_counterexample(law: Rule, need: Need) -> None:
    rest = tuple(n for n in law.needs if n is not need)
    verdict = prove_law(replace(law, needs=rest))
    assert isinstance(verdict, Refuted)
    assert verdict.at


def law(left: Pattern, right: Pattern, holes: tuple[str, ...], axes: tuple[str, ...] = ()) -> Rule:
    return Rule("wrong", left, right, (), "It is wrong.", holes, axes)


A, B = Var("a"), Var("b")


@pytest.mark.parametrize(
    "wrong",
    [
        law(A - B, B - A, ("a", "b")),
        law(total("n", A * B), total("n", A) * total("n", B), ("a", "b"), ("n",)),
        law(total("n", A * A), total("n", A), ("a",), ("n",)),
        law(total("n", A), total("n", A) + 1, ("a",), ("n",)),
    ],
    ids=["difference", "product of sums", "squares", "unit"],
)
def test_wrong_laws_are_refuted(wrong: Rule) -> None:
    assert isinstance(prove_law(wrong), Refuted)


def test_a_law_without_needs_holds_for_undefined_values(monkeypatch) -> None:
    """A hole that one side lacks may be undefined, unless the law needs that it is not."""
    lost = law(apply(Fn.MUL, 0, apply(Fn.TANH, A)), Num(Fraction(0)), ("a",))
    defined = replace(lost, needs=(Known("a", (Fact.DEFINED,), "defined"),))
    where = law(apply(Fn.WHERE, Var("p"), A, A), A, ("p", "a"))
    assert isinstance(prove_law(lost), Refuted)
    assert isinstance(prove_law(where), Refuted)
    assert isinstance(prove_law(defined), Proved)
    monkeypatch.setattr("superopt.verify.reals.laws.sample", lambda one: None)
    for wrong in (lost, where, law(total("n", A * 0), total("n", B * 0), ("a", "b"), ("n",))):
        assert not isinstance(prove_law(wrong), Proved)


def test_without_samples_a_wrong_law_is_not_proved_either() -> None:
    """The induction is no rubber stamp."""
    wrong = law(total("n", A * B), total("n", A) * total("n", B), ("a", "b"), ("n",))
    tried = replace(wrong, name="w")
    assert sample(tried) is not None
    from superopt.verify.reals.laws import _Claim

    assert not isinstance(_Claim(wrong, "step").verdict(), Proved)
    assert not isinstance(_Claim(law(A - B, B - A, ("a", "b")), "points").verdict(), Proved)


def test_all_laws_are_listed_with_their_time() -> None:
    found = prove_all()
    assert [name for name, _, _ in found] == list(RULES)
    assert not [name for name, verdict, _ in found if isinstance(verdict, Unknown)]
    assert all(seconds < 10 for _, _, seconds in found)
