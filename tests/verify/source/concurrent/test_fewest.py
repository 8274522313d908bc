"""With as few slots as a launcher lets through, roles are read as well."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.verify.source.concurrent.fewest import fewest_slots
from superopt.verify.source.concurrent.fewest import read_planned
from superopt.verify.source.concurrent.fewest import with_fewest
from superopt.verify.source.concurrent.read import planned
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import read_text
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import spoken
from tests.verify.source.concurrent.subjects import attention
from tests.verify.source.concurrent.subjects import normed

# Its product is read a step late, so that a slot is held while the next one is waited for.
LATE = "i5at1.i0at0.i1at0.w5at1.i2at0.i3at0.i4at0.l1at0.l0at0"
CASE = replace(normed(), config=replace(normed().config, schedule=LATE))
KIND = CASE.config.kind
TWO = f'{{(2, "{KIND}"): 2}}'


def read(case, change=lambda text: text):
    text = read_text(change(case.text))
    (plan,) = planned(text, 0)
    return read_planned(text, case.program, case.graph, plan)


def test_the_number_of_the_launcher_is_read():
    text = read_text(CASE.text)
    assert fewest_slots(text, 0) == {0: {(2, KIND): 2}}
    (plan,) = planned(text, 0)
    assert [c.stages for c in plan[0]] == [3]
    assert [c.stages for c in with_fewest(text, 0, plan)] == [2]


def test_both_readings_are_in_the_verdict():
    verdict = read(CASE).verdict
    assert isinstance(verdict, Sampled), spoken(verdict)
    for slots in (3, 2):
        assert any(f.startswith(f"2 consumers, {slots} slots, {KIND}: ") for f in verdict.facts)


def test_too_few_slots_are_found():
    """The file's own plan has enough of them; one of a caller would wait for ever."""
    verdict = read(CASE, lambda text: text.replace(TWO, TWO.replace(": 2", ": 1"))).verdict
    assert isinstance(verdict, Refuted)
    assert verdict.what.startswith(f"with 2 consumers, 1 slots, {KIND}: every order at barriers: ")
    assert "waiting for ever" in verdict.what


def test_with_the_plans_own_number_nothing_is_read_twice():
    case = attention()
    reading = read(case)
    assert isinstance(reading.verdict, Sampled)
    assert sum("slots" in fact for fact in reading.verdict.facts) == 1


@pytest.mark.parametrize(
    ("new", "why"),
    [
        (TWO.replace("}", ', (3, ""): 2}'), "no plan of the file asks for 3 consumers in launch 0"),
        (f"{{**{TWO}}}", "launcher: {**"),
        (TWO.replace(": 2", ": 0"), "launcher: {("),
        (f"dict({TWO})", "launcher: dict("),
    ],
)
def test_what_is_let_through_otherwise_is_not_known(new, why):
    assert CASE.text.count(TWO) == 1
    verdict = read(CASE, lambda text: text.replace(TWO, new)).verdict
    assert isinstance(verdict, Unknown)
    assert why in verdict.why


def test_a_second_look_is_not_known():
    mark = "    if not why and"
    more = "    if k_size: why = _without_roles(launch, 0, 0, 0, 0)\n"
    text = CASE.text.replace(mark, f"{more}{mark}")
    assert text != CASE.text
    with pytest.raises(OutsideVocabularyError, match="called in a way that is not known"):
        fewest_slots(read_text(text), 0)
    with pytest.raises(OutsideVocabularyError, match="graph 1 has no runner"):
        fewest_slots(read_text(CASE.text), 1)
