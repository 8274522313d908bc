"""What a schedule is worth: in turn against the best, of the same tiles, consumers and slots."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace

import pytest

from benchmarks import schedule_gain
from superopt.threads.build import of_config
from superopt.threads.default import in_turn
from superopt.threads.written import written
from superopt.ugraph.levels import Config
from superopt.ugraph.stored import config_record
from superopt.ugraph.text import show
from tests import samples

GRAPH = samples.online_attention()
TILES = (("m", 64), ("d", 128), ("n", 128), ("e", 128))
ROLES = Config(TILES, stages=2, consumers=2)


def turned():
    """``ROLES`` with everything in turn."""
    found = of_config(GRAPH.kernels[0], ROLES, "bf16")
    (body,) = found.bodies
    plain = in_turn(body.axis, body.instrs, found.pipes)
    return replace(ROLES, schedule=written(replace(body, schedule=plain), found.pipes))


def record(*measured):
    each = [
        {"case": "wide", "digest": "abcdef12", "us": us, "configs": [config_record(config)]}
        for config, us in measured
    ]
    return {
        "name": "attention",
        "versions": {"superopt": "1"},
        "cases": [
            {
                "name": "wide",
                "dtype": "bf16",
                "candidates": [{"digest": "abcdef12", "graph": show(GRAPH)}],
            }
        ],
        "timing": {"machine": {"gpu": "a GPU"}, "measured": each},
    }


def test_the_same_tiles_consumers_and_slots_are_compared_and_the_last_word_counts():
    fewer = replace(ROLES, stages=3)
    measured = [
        (turned(), 90.0),
        (turned(), 120.0),
        (ROLES, 110.0),
        (replace(ROLES, ring=True), 100.0),
    ]
    plain = [(Config(TILES), 50.0), (fewer, 80.0), (replace(fewer, ring=True), None)]
    first, second = schedule_gain.rows_of(record(*measured, *plain))
    assert (first.in_turn, first.best, first.of_case, first.schedules) == (120.0, 100.0, 80.0, 2)
    assert first.gain == 1.2
    assert first.gain_of_all == 1.5
    assert (second.in_turn, second.gain, second.gain_of_all) == (None, None, None)
    said = schedule_gain.table([first, second])
    assert "consumers 2 slots 3" in said
    assert "not timed" in said
    assert "1 of 2 choices were measured in turn; geometric means: same choice 1.200" in said


def test_the_mean_is_geometric():
    assert math.isclose(schedule_gain.mean([2.0, 8.0]), 4.0)


@pytest.mark.parametrize(
    ("measured", "code"), [([(turned(), 3.0)], 0), ([(Config(TILES), 3.0)], 1)]
)
def test_a_run_becomes_a_result(tmp_path, monkeypatch, capsys, measured, code):
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text(json.dumps(record(*measured)))
    monkeypatch.setattr(sys, "argv", ["schedule_gain", str(run), "--out", str(tmp_path)])
    assert schedule_gain.main() == code
    said = capsys.readouterr().out
    if code:
        assert "no launch with roles was measured" in said
        return
    found = json.loads((tmp_path / "schedule_gain_undated.json").read_text())
    assert found["machines"] == [{"gpu": "a GPU", "search": {"superopt": "1"}}]
    assert found["means"] == {"same choice": 1.0, "best in turn of a workload": 1.0}
    assert found["rows"][0]["in_turn"] == 3.0
