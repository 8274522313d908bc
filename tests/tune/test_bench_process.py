"""The answer of one case: with a spec, and with the text of a certificate alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from superopt.case import case_record
from superopt.loading import load
from superopt.tune.bench_job import BenchJob
from superopt.tune.bench_process import run
from superopt.ugraph.text import show
from tests.tune.fakes import StepClock

HERE = Path(__file__).parent
(SPEC,) = load(str(HERE / "row_sum.py"))
JOB = BenchJob(
    kernel=str(HERE / "plain_kernel.py"),
    function="row_sum",
    spec=f"{HERE / 'row_sum.py'}:row_sum",
    program="",
    case=case_record(SPEC.case("small")),
    against=("eager", "right", "failing", "copy"),
    peers=str(HERE / "row_peers.py"),
    modes=("graph", "eager"),
    rounds=3,
    target="h200",
    skip={"broken": "signal SIGSEGV"},
)


def test_a_job_survives_json():
    assert BenchJob.of(json.loads(json.dumps(JOB.record()))) == JOB


def test_the_answer_with_a_spec():
    found = run(JOB, "cpu", StepClock())
    json.dumps(found, allow_nan=False)
    assert found["check"]["problem"] == ""
    names = [r["name"] for r in found["rows"] if r["mode"] == "graph"]
    assert names == ["superopt", "eager", "right", "failing", "copy", "broken"]
    rows = {r["name"]: r for r in found["rows"] if r["mode"] == "graph"}
    assert rows["superopt"]["ratio"] == 1.0
    assert rows["copy"]["checked"] is False
    assert rows["broken"]["failed"] == "signal SIGSEGV"
    assert "us" not in rows["failing"]
    for row in (rows["superopt"], rows["right"]):
        assert row["low"] <= row["us"] <= row["high"]
        assert len(row["figures"]) == row["rounds"] == 3
        assert row["unit"] == "GB/s"
        assert row["rate"] == pytest.approx(found["roofline"]["read"] / row["us"] / 1e3, rel=0.1)
    assert found["roofline"]["bound"] == "memory"


def test_the_answer_without_a_spec():
    bare = replace(JOB, spec="", program=show(SPEC.program), against=("right",))
    found = run(bare, "cpu", StepClock())
    assert found["check"]["problem"] == ""
    assert found["roofline"] == run(JOB, "cpu", StepClock())["roofline"]
