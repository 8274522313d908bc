"""Consumers that take tiles in turn: walks follow each other, and faults in that are seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.errors import NotEmittable
from superopt.verify.source.concurrent.machine import CLOCKS
from superopt.verify.source.concurrent.machine import ORDERS
from superopt.verify.source.concurrent.read import planned
from superopt.verify.source.concurrent.trial import PROGRAMS
from superopt.verify.source.concurrent.trial import enough
from superopt.verify.source.concurrent.trial import roles_trial
from superopt.verify.source.load import read_text
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import spoken
from tests.verify.source.concurrent.subjects import attention
from tests.verify.source.concurrent.subjects import normed
from tests.verify.source.concurrent.subjects import persistent
from tests.verify.source.concurrent.subjects import pingpong
from tests.verify.source.concurrent.test_persistent import read


@pytest.mark.parametrize(
    "case",
    [
        pingpong(attention(causal=True)),
        pingpong(attention(causal=True, slots=3), 1, joined=True),
        pingpong(normed(), 1),
        pingpong(attention(causal=True, consumers=3), each=8, group=2),
    ],
    ids=["causal", "joined", "normed", "three, each"],
)
def test_consumers_that_take_tiles_in_turn_are_accepted(case):
    reading = read(case)
    assert isinstance(reading.verdict, Sampled), spoken(reading.verdict)
    assert reading.verdict.log2_bound < -60
    assert not any(e.wrong for e in reading.explored.values())


@pytest.mark.parametrize("consumers", [2, 3])
def test_each_consumer_has_two_tiles_so_that_its_turn_has_both_parities(consumers):
    case = pingpong(attention(consumers=consumers))
    for ragged in (False, True):
        configs, least = (case.config,), enough((case.config,), ragged)
        trial = roles_trial(case.program, case.graph, configs, 3, ragged, several=least)
        rows = -(-trial.size["m"] // trial.configs[0].tile["m"])
        tiles = trial.size["b"] * trial.size["h"] * rows
        assert -(-tiles // PROGRAMS[ragged]) >= 2 * consumers


def test_that_a_plan_asks_for_it_is_read_from_the_file():
    case = pingpong(attention())
    ((configs, kinds),) = planned(read_text(case.text), 0)
    assert [(c.persistent, c.pingpong, c.sharers) for c in configs] == [(2, True, 1)]
    assert kinds == ("persistent2_pingpong",)


MINE = "if wave % CONSUMERS == CONSUMER:"
WAITED = "mbarrier.wait(walks.index(CONSUMER), (wave // CONSUMERS) & 1)"
PASSED = "mbarrier.arrive(walks.index((CONSUMER + 1) % CONSUMERS))"
FILLED = "            n_filled = n_filled + n_count\n"
ONE = "mbarrier.init(k_empty.index(slot), count=1)"
BUFFER = "out_tiles.index(CONSUMER)"
STORED = "                tma.store_wait(pendings=0)\n"


def last(text: str, old: str, new: str) -> str:
    """``text`` with the last ``old``, which is that of the consumer, replaced."""
    before, found, after = text.rpartition(old)
    assert found
    return f"{before}{new}{after}"


@pytest.mark.parametrize(
    ("old", "new", "engine"),
    [
        (FILLED, f"    {FILLED}", ORDERS),  # only of tiles that are one's own
        (ONE, ONE.replace("=1", "=CONSUMERS"), ORDERS),
        (MINE, MINE.replace("CONSUMER:", "0:"), CLOCKS),
        (MINE, MINE.replace("CONSUMER:", "CONSUMER + 1:"), ORDERS),
        (MINE, MINE.replace("%", "//"), ORDERS),
        (MINE, MINE.replace("wave", "tile"), ORDERS),
        (BUFFER, "out_tiles.index(0)", CLOCKS),
        (STORED, "", CLOCKS),
        (WAITED, "pass", ORDERS),
        (WAITED, WAITED.replace("(wave // CONSUMERS)", "wave"), ORDERS),
        (WAITED, WAITED.replace("walks.index(CONSUMER)", "walks.index(0)"), ORDERS),
        (PASSED, "pass", ORDERS),
        (PASSED, PASSED.replace("CONSUMER + 1", "CONSUMER"), ORDERS),
    ],
    ids=[
        "others' fillings",
        "arrivals of all",
        "two have one",
        "nobody has one",
        "halves",
        "of tiles",
        "one buffer",
        "reused",
        "no turn",
        "parity",
        "another's turn",
        "kept",
        "to oneself",
    ],
)
def test_a_fault_in_turns_is_seen(old, new, engine):
    case = pingpong(attention())
    everywhere = old in (PASSED, ONE, FILLED)
    text = case.text.replace(old, new) if everywhere else last(case.text, old, new)
    assert text != case.text
    reading = read(case, lambda _: text, blocks=(), longer=(1, 4))
    assert isinstance(reading.verdict, Refuted), spoken(reading.verdict)
    assert engine in reading.engines


def test_all_consumers_give_back_what_they_split_and_one_what_it_has_alone():
    """The other way round: a slot that two have read is filled when one has done with it."""
    case = persistent(attention())
    count = "mbarrier.init(k_empty.index(slot), count=CONSUMERS)"
    assert count in case.text
    reading = read(case, lambda text: text.replace(count, count.replace("CONSUMERS", "1")))
    assert isinstance(reading.verdict, Refuted), spoken(reading.verdict)
    assert ONE in pingpong(attention()).text


def test_a_walk_that_begins_before_the_one_before_is_through_is_seen():
    """With a product still to issue, the next consumer may take an older filling for its own."""
    case = pingpong(attention())
    text = case.text.replace(PASSED, "pass")
    early = text.replace(WAITED, f"{WAITED}\n                {PASSED}")
    assert early != text
    reading = read(case, lambda _: early, blocks=(), longer=(4,))
    assert isinstance(reading.verdict, Refuted), spoken(reading.verdict)
    assert ORDERS in reading.engines


def test_a_walk_without_tiles_passes_its_turn_on():
    """Rows behind the last key have no masked tiles, so their walk ends before a second loop."""
    case = pingpong(attention(causal=True))
    text = last(case.text, PASSED, "pass")
    assert case.text.count(PASSED) == 2
    reading = read(case, lambda _: text)
    assert isinstance(reading.verdict, Refuted), spoken(reading.verdict)
    assert "deadlock" in reading.engines[ORDERS]


def test_they_need_several_tiles_and_take_no_other_turns():
    for how in ({"persistent": 0}, {"ring": True}, {"consumers": 1}):
        config = replace(pingpong(attention()).config, **how)
        with pytest.raises(NotEmittable, match="take tiles in turn only if"):
            _ = replace(pingpong(attention()), config=config).text
