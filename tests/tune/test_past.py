from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.case import Case
from superopt.case import bind
from superopt.tune.past import STARTS
from superopt.tune.past import Past
from superopt.tune.printed import printed
from superopt.tune.record import Figures
from superopt.tune.store import Store
from tests import samples
from tests.tune.records import FAILED
from tests.tune.records import MACHINE
from tests.tune.records import TIMED
from tests.tune.tuning import CASE
from tests.tune.tuning import job
from tests.tune.tuning import points
from tests.tune.tuning import structure

FIRST, SECOND, THIRD = (p.launches for p in points()[:3])


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "times.db") as found:
        yield found


@pytest.fixture
def one(tmp_path):
    def make(case=CASE):
        return printed(samples.row_softmax(), structure(case=case), case, tmp_path)

    return make


def sized(m, n, dtype="fp16"):
    return bind(Case("other", m=m, n=n), ("m", "n"), {}, dtype)


def us(value):
    return replace(TIMED, figures=Figures(value, value, value, 3))


def test_what_was_kept_is_known_and_the_latest_counts(store, one):
    past = Past(store, MACHINE)
    past.keep(job(), one(), FIRST, us(5.0))
    past.keep(job(), one(), SECOND, FAILED)
    past.keep(job(), one(), FIRST, us(4.0))
    known, starts = Past(store, MACHINE).of(job(), one())
    assert known.keys() == {FIRST, SECOND}
    assert known[FIRST] == us(4.0)
    assert known[SECOND].why == FAILED.why
    assert starts == []


def test_a_time_is_not_used_where_anything_differs(store, one):
    past = Past(store, MACHINE)
    past.keep(job(), one(), FIRST, TIMED)
    newer = Past(store, replace(MACHINE, triton="3.7.1"))
    assert newer.of(job(), one()) == ({}, [])
    assert past.of(job(case=sized(40, 48, "bf16")), one(sized(40, 48, "bf16"))) == ({}, [])
    scaled = replace(one(), text="another")
    assert past.of(job(), scaled)[0] == {}


def test_good_configs_of_the_nearest_sizes_are_where_a_study_starts(store, one):
    past = Past(store, MACHINE)
    for n, launches, time in (
        (96, FIRST, 9.0),
        (96, SECOND, 8.0),
        (48 * 64, THIRD, 1.0),
        (49, FIRST, 7.0),
    ):
        past.keep(job(case=sized(40, n)), one(sized(40, n)), launches, us(time))
    past.keep(job(case=sized(40, 50)), one(sized(40, 50)), THIRD, FAILED)
    known, starts = past.of(job(), one())
    assert known == {}
    assert starts == [FIRST, SECOND, THIRD]
    assert len(starts) <= STARTS
