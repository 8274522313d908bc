from __future__ import annotations

import json

import pytest

from superopt.errors import UserError
from superopt.report.record import _plain
from superopt.tune.timing import NOT_TIMED
from superopt.tune.timing import Timing
from superopt.tune.timing import timing_from
from superopt.tune.timing import timing_record
from tests.report.sample import MEASURED
from tests.report.sample import PEERS
from tests.report.sample import TIMING
from tests.tune.records import MACHINE


def stored(timing=TIMING):
    """A run.json with ``timing``, as it is written."""
    return json.loads(json.dumps(_plain({"timing": timing_record(timing)}), allow_nan=False))


def test_times_come_back():
    assert timing_from(stored()) == TIMING
    assert timing_from(stored(NOT_TIMED)) == NOT_TIMED
    assert timing_from({"timing": {"seconds": {}}}) == NOT_TIMED  # written by an earlier version


def test_the_last_word_on_a_pair_counts():
    assert [m.order for m in TIMING.last] == [0, 1, 2, 5, 4]
    assert TIMING.best() is MEASURED[5]
    assert TIMING.best(MEASURED[2].digest) is MEASURED[2]
    assert TIMING.best("none") is None
    assert TIMING.of("later") == Timing(MACHINE)
    assert TIMING.of("large") == TIMING


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("measured.0.us", "fast", r"timing.measured\[0\].us: must be a number from 0 on, or null"),
        ("measured.0.us", None, r"measured\[0\].us: must be a time above 0 with quartiles"),
        ("measured.0.us", "nan", r"measured\[0\].us: must be a number"),
        ("measured.0.us", 0, r"measured\[0\].us: must be a time above 0"),
        ("measured.1.us", 3.0, r"measured\[1\].us: must be a time above 0"),
        (
            "measured.1.stage",
            "",
            r"measured\[1\].stage: must be one of compile, read, run, floats, time",
        ),
        ("measured.0.stage", "run", r"measured\[0\].stage: must be one of"),
        ("measured.0.status", "ok", r"measured\[0\].status: must be 'timed' or 'failed'"),
        ("measured.0.rounds", 1.5, r"measured\[0\].rounds: must be a count, not 1.5"),
        ("measured.0.order", True, r"measured\[0\].order: must be a count"),
        ("measured.0.case", 3, r"measured\[0\].case: must be text"),
        ("measured.0.configs", [{}], r"measured\[0\].configs: KeyError"),
        ("measured.0.error", [1], r"measured\[0\].error: must be null or \[relative error, limit"),
        ("measured.0.model_us", None, r"measured\[0\].model_us: must be a number"),
        ("measured.0", 3, r"measured\[0\]: must be an object"),
        ("measured", {"a": 1}, r"timing.measured: must be a list"),
        ("peers.1.yardstick", 1, r"peers\[1\].yardstick: must be true or false"),
        ("peers.1.ratio", None, r"peers\[1\].us: must be given with low, high and the ratios"),
        ("machine", None, "timing.machine is missing"),
        ("machine.gpu", 3, "timing.machine.gpu: must be text"),
    ],
)
def test_a_damaged_entry_is_named(path, value, words):
    record = stored()
    inner = record["timing"]
    *before, last = (int(p) if p.isdigit() else p for p in path.split("."))
    for name in before:
        inner = inner[name]
    inner[last] = value
    with pytest.raises(UserError, match=f"^run.json: .*{words}"):
        timing_from(record)


def test_a_missing_field_is_named():
    record = stored()
    del record["timing"]["peers"][0]["name"]
    with pytest.raises(UserError, match=r"timing.peers\[0\]: has no 'name'"):
        timing_from(record)
    with pytest.raises(UserError, match="timing is missing"):
        timing_from({})


def test_a_failed_peer_has_a_reason():
    assert timing_from(stored()).peers[3].why == PEERS[3].why
