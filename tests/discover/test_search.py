"""Laws are found, proved, and not more than the known ones say; the shipped ones stand."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from superopt.discover.compare import REACHED
from superopt.discover.compare import reach
from superopt.discover.compare import standing
from superopt.discover.derive import Deriver
from superopt.discover.derive import directions
from superopt.discover.fingerprint import FINITE
from superopt.discover.fingerprint import POSITIVE
from superopt.discover.prove import law_of
from superopt.discover.prove import weakened
from superopt.discover.report import cheaper
from superopt.discover.report import page
from superopt.discover.report import saved
from superopt.discover.search import canonical
from superopt.discover.search import discover
from superopt.discover.search import loose
from superopt.discover.search import shipped
from superopt.discover.terms import Pair
from superopt.discover.vocabulary import ARITHMETIC
from superopt.discover.vocabulary import CHOICES
from superopt.discover.vocabulary import FOLDS
from superopt.discover.vocabulary import FUNCTIONS
from superopt.discover.vocabulary import size_of
from superopt.rewrite.rule import RULES
from superopt.rewrite.rule import Known
from superopt.rewrite.rule import Rule
from superopt.rewrite.rule import Var
from superopt.rewrite.rule import apply
from superopt.rewrite.rule import largest
from superopt.rewrite.rule import lift
from superopt.rewrite.rule import smallest
from superopt.rewrite.rule import total
from superopt.rewrite.show import pattern_text
from superopt.ugraph.scalar import Fn
from superopt.verify.reals.laws import prove_law
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import accepted

X, Y, Z = Var("x"), Var("y"), Var("z")
A, B, C, P = Var("a"), Var("b"), Var("c"), Var("p")


@pytest.fixture(scope="module")
def found():
    *_, last = discover(3)
    return last


def text(law):
    return f"{pattern_text(law.left)} = {pattern_text(law.right)}"


def needs(law):
    return sorted(str(n) for n in law.needs if isinstance(n, Known))


def test_laws_that_everybody_knows_are_found(found):
    laws = {text(law): needs(law) for law in found.laws}
    assert laws["x / x = 1"] == ["x != 0", "x finite"]
    assert laws["x - x = 0"] == ["x finite"]
    assert laws["exp(min_n(a)) = min_n(exp(a))"] == []
    assert laws["min(-inf, x) = -inf"] == ["x defined"]
    assert found.complete


def test_every_law_is_proved_and_every_need_is_needed(found):
    for law in found.laws:
        assert isinstance(prove_law(law), Proved), text(law)
        for need in law.needs:
            if isinstance(need, Known):
                weaker = replace(law, needs=tuple(n for n in law.needs if n is not need))
                assert not isinstance(prove_law(weaker), Proved), (text(law), str(need))


def test_no_law_follows_from_the_others_before_it(found):
    vocabularies = {"a": FOLDS, "p": CHOICES}
    for number, law in enumerate(found.laws):
        letter = next((h for h in law.holes if h in vocabularies), "")
        deriver = Deriver(vocabularies.get(letter, CHOICES), FINITE)
        if not law.holes or (letter == "" and not CHOICES.can_say(law.left)):
            deriver = Deriver(ARITHMETIC, FINITE)
        deriver.learn([*shipped(), *found.laws[:number]])
        assert not deriver.same(law.left, law.right), text(law)


def test_counts_add_up(found):
    judged = len(found.laws) + found.refuted + len(found.open)
    assert found.pairs == found.derived + found.loose + judged
    assert found.terms > found.pairs > 0


def test_a_search_that_knows_nothing_finds_the_shipped_laws_of_its_size():
    *_, last = discover(3, known=())
    deriver = Deriver(FUNCTIONS, POSITIVE)
    deriver.learn(last.laws)
    inside = [r for r in shipped() if reach(r, 3, 0) == REACHED]
    assert len(inside) >= 4
    for law in inside:
        assert deriver.same(law.left, law.right), law.name


@pytest.mark.parametrize(
    ("left", "right", "vocabulary", "domain", "same"),
    [
        (X * Y, Y * X, ARITHMETIC, FINITE, True),
        ((X + Y) + Z, X + (Y + Z), ARITHMETIC, FINITE, True),
        (X * Y + X * Z, X * (Y + Z), ARITHMETIC, FINITE, True),
        ((X * Y) / Y, X, ARITHMETIC, POSITIVE, True),
        ((X * Y) / Y, X, ARITHMETIC, FINITE, False),
        (X * Y, X + Y, ARITHMETIC, FINITE, False),
        (total("n", A * C), total("n", A) * C, FOLDS, FINITE, True),
        (largest("n", A * C), largest("n", A) * C, FOLDS, FINITE, False),
    ],
)
def test_what_shipped_laws_derive_depends_on_what_is_known(left, right, vocabulary, domain, same):
    deriver = Deriver(vocabulary, domain)
    deriver.learn(shipped())
    assert deriver.same(left, right) is same


def test_a_law_is_matched_only_where_it_binds_every_hole():
    names = {r.name: [one.name for one in directions(r)] for r in RULES.values()}
    assert names["log_of_exponential"] == ["log_of_exponential", "log_of_exponential reversed"]
    lost = Rule("lost", apply(Fn.MUL, lift(0), X), lift(0), (), "?", ("x",), ())
    assert [one.name for one in directions(lost)] == ["lost"]


def test_needs_are_weakened_hole_by_hole():
    pair = Pair((X * Y) / Y, X, 5)
    law, verdict = weakened(law_of(pair, ARITHMETIC, POSITIVE), ARITHMETIC, POSITIVE)
    assert isinstance(verdict, Proved)
    assert needs(law) == ["y != 0", "y finite"]


def test_what_is_wrong_is_not_kept():
    pair = Pair(largest("n", A * C), largest("n", A) * C, 4)
    _, verdict = weakened(law_of(pair, FOLDS, FINITE), FOLDS, FINITE)
    assert isinstance(verdict, Refuted)


def test_holes_are_named_in_order_so_that_a_pair_comes_once():
    assert canonical(Pair(Z - Y, Y, 3), ARITHMETIC) == Pair(X - Y, Y, 3)
    assert canonical(Pair(apply(Fn.WHERE, P, Y, X), Y, 4), CHOICES) == Pair(
        apply(Fn.WHERE, P, X, Y), X, 4
    )
    assert loose(Pair(X - X, Y - Y, 3))
    assert not loose(Pair(X - X, lift(0), 3))


def test_shipped_laws_are_reached_or_it_is_said_why():
    assert standing(RULES["divide_sum"], 4, 0).reach == REACHED
    assert accepted(standing(RULES["divide_sum"], 4, 0).verdict)
    assert reach(RULES["common_factor"], 4, 0) == "has 7 parts"
    assert "has a function" in reach(RULES["round_fp16_out_of_maximum"], 4, 0)
    every = {r.name: reach(r, 9, 0) for r in shipped()}
    assert list(every.values()).count(REACHED) > 20
    assert not [name for name, why in every.items() if "differ" in why]


def test_a_law_that_does_not_hold_is_seen():
    wrong = replace(RULES["divide_sum"], needs=RULES["divide_sum"].needs[:1])
    found = standing(wrong, 4, 0)
    assert isinstance(found.verdict, Refuted)
    assert "divide_sum: REFUTED" in page(next(discover(1)), [found])


def test_the_page_turns_laws_towards_the_cheaper_side(found):
    law = Rule("negated", smallest("n", A), smallest("n", A * 1), (), "?", ("a",), ("n",))
    assert saved(cheaper(law)) == 1
    shown = page(found, [standing(r, 3, 0) for r in shipped()[:4]])
    assert "`x / x = 1` if x != 0, x finite" in shown
    assert shown.count("\n* ") >= len(found.laws)
    for line in re.findall(r"saves (-?\d+)", shown):
        assert int(line) > 0


def test_an_interrupted_search_says_so():
    search = discover(3)
    for _ in range(20):
        now = next(search)
    assert "Interrupted in: " in page(now, [])
    assert max(size_of(law.left) for law in now.laws) <= 3
