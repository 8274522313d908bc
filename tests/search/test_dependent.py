from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superopt.case import Case
from superopt.device import target
from superopt.search.configs import configs
from superopt.search.configs import ladders
from superopt.search.dependent import dependent_choices
from superopt.search.model import model
from superopt.tuned import space_of
from superopt.ugraph.levels import Config
from tests import samples
from tests.search.forms import H200

DECODE = {"b": 8, "h": 4, "m": 16, "n": 8192, "d": 128, "e": 128}
SPLIT = samples.online_attention(split=True)
SAVED = H200.launch_us - H200.dependent_us


def choices(number: int, launches: int) -> list[tuple[float, tuple[Config, ...]]]:
    return [
        (10.0 + i, tuple(Config((), warps=i + 1) for _ in range(launches))) for i in range(number)
    ]


@given(st.integers(0, 40), st.integers(1, 4), st.integers(1, 40))
def test_the_first_launch_is_never_dependent_and_the_number_is_kept(number, launches, most):
    given_ = choices(number, launches)
    found = dependent_choices(given_, H200, most)
    assert len(found) <= most
    assert len(found) >= min(number, most)
    assert [us for us, _ in found] == sorted(us for us, _ in found)
    known = {c: us for us, c in given_}
    for us, (first, *rest) in found:
        assert not first.dependent
        assert len({c.dependent for c in rest}) <= 1
        plain = (first, *(replace(c, dependent=False) for c in rest))
        asked = sum(c.dependent for c in rest)
        assert us == pytest.approx(known[plain] - SAVED * asked)
    if launches == 1:
        assert found == given_[:most]


def test_both_ways_are_tried_at_the_top():
    found = [c for _, c in dependent_choices(choices(40, 2), H200, 20)]
    asked = [c for c in found if c[1].dependent]
    plain = [c for c in found if not c[1].dependent]
    assert (len(asked), len(plain)) == (15, 5)
    assert [c[0].warps for c in plain] == [1, 2, 3, 4, 5]
    assert {c[0] for c in plain} <= {c[0] for c in asked}


def test_before_sm_90_nothing_is_dependent():
    given_ = choices(8, 2)
    assert dependent_choices(given_, target("a100"), 8) == given_
    assert any(c[1].dependent for _, c in dependent_choices(given_, target("b200"), 8))


def test_tuning_tries_both_and_what_is_not_timed_is_plain():
    found = [p.launches for p in space_of(SPLIT, Case("decode", **DECODE), H200, 24)]
    assert len(found) == len(set(found)) == 24
    assert {c.dependent for _, c in found} == {False, True}
    assert not any(first.dependent for first, _ in found)
    rungs = [c for ladder in ladders(SPLIT, DECODE, "bf16", H200) for rung in ladder for c in rung]
    assert not any(c.dependent for c in rungs)


def test_the_model_takes_part_of_the_gap_away():
    first, second = configs(SPLIT, DECODE, "bf16", H200, 1)[0]
    plain = model(SPLIT, (first, second), DECODE, "bf16", H200)
    asked = model(SPLIT, (first, replace(second, dependent=True)), DECODE, "bf16", H200)
    assert plain.us - asked.us == pytest.approx(SAVED)
