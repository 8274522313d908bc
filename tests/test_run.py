"""Which candidate wins, and what counts must add up to."""

from __future__ import annotations

from dataclasses import replace

from superopt.run import Candidate
from superopt.run import Counts
from superopt.run import Stage
from superopt.run import best
from superopt.source import Facts
from tests import samples

FIRST = Candidate("a", samples.online_attention(), (), 1.0, 0.5, Stage.VERIFIED)
SECOND = replace(FIRST, digest="b", graph=samples.online_attention(split=True), model_us=2.0)
SPILLED = (Facts("f", "sm_90", 0, 255, 4096),)


def test_the_first_verified_one_wins():
    assert best((replace(FIRST, stage=Stage.PROVED), SECOND)) is SECOND
    assert best((FIRST, SECOND)) is FIRST
    assert best((replace(FIRST, stage=Stage.REFUSED),)) is None


def test_a_spilling_one_wins_only_where_all_spill():
    spilling = replace(FIRST, facts=SPILLED)
    assert best((spilling, SECOND)) is SECOND
    assert best((spilling, replace(SECOND, facts=SPILLED))) is spilling


def test_counts_add_up():
    good = Counts(10, 4, 1, (("emit: no", 2),), (("cut", 3),))
    assert good.adds_up
    assert not replace(good, built=5).adds_up
