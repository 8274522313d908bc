"""The table of many workloads, from answers that are made up here."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import table
from superopt.commands import bench as command
from superopt.loading import load
from superopt.tune.bench_process import run
from superopt.tune.peers import GENERIC
from superopt.tune.peers import load_peers
from tests.tune.fakes import StepClock

ROOT = Path(__file__).resolve().parents[2]
JOBS = json.loads((ROOT / "benchmarks" / "table_jobs.json").read_text())


def entry(required=None, against=("flex", "copy"), **ratios):
    rows = [{"mode": "graph", "name": "superopt", "us": 100.0, "share": 0.8, "ratio": 1.0}]
    rows += [
        {"mode": "graph", "name": n.replace("_", "-"), "us": 100 * r, "share": 0.5, "ratio": r}
        for n, r in ratios.items()
    ]
    for row in rows:
        row |= {"wrong": "", "checked": row["name"] != "copy"}
    bench = {"cases": [{"problem": "", "check": {"problem": ""}, "rows": rows}]}
    found = {"name": "work", "required": required or {}, "against": list(against)}
    return {**found, "problem": "", "bench": bench}


def test_every_requirement_counts():
    assert table.verdict(entry({"flex": 1.0, "copy": 0.9}, flex=1.2, copy=0.95)) == "pass"
    assert table.verdict(entry({"flex": 1.0, "copy": 0.9}, flex=0.99, copy=0.95)) == "MISS"
    assert table.verdict(entry({"flex": 1.0, "copy": 0.9}, flex=1.2, copy=0.85)) == "MISS"
    assert table.verdict(entry({}, flex=0.5)) == ""


def test_a_peer_without_a_time_is_no_pass():
    assert table.verdict(entry({"flex": 1.0, "copy": 0.9}, copy=0.95)) == "no peer"
    assert table.verdict(entry({"flex": 1.0, "copy": 0.9}, copy=0.5)) == "MISS"
    optional = entry({"liger": 1.0, "copy": 0.9}, ("liger?", "copy"), copy=0.95)
    assert table.verdict(optional) == "pass"


def test_no_time_of_ours_is_a_miss():
    lost = {**entry({"flex": 1.0}, flex=2.0), "bench": None, "problem": "stopped"}
    assert table.verdict(lost) == "MISS"
    assert "stopped" in table.line(lost)


def test_a_line_names_the_best_honest_peer():
    found = entry({"flex": 1.0}, flex=1.2, slow=3.0, copy=0.5)
    (text,) = table.table([found])[1:]
    assert "flex" in text.split("pass")[0]
    assert "1.200" in text
    assert "80%" in text
    assert "copy (0.500)" in text
    for row in table.rows_of(found):
        row["wrong"] = "error" if row["name"] == "flex" else ""
    assert "slow" in table.line(found).split("pass")[0]
    assert "WRONG" in table.line(found)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, as it loads
@pytest.mark.parametrize("job", JOBS, ids=lambda j: j["name"])
def test_the_workloads_name_what_exists(job):
    assert set(job) == {"name", "kernel", "spec", "case", "peers", "against", "mode", "required"}
    (spec,) = load(str(ROOT / job["spec"]))
    assert spec.case(job["case"])
    assert job["kernel"] == f"runs/{spec.name}/{spec.name}.py"
    declared = load_peers(ROOT / job["peers"], spec.name)
    assert all(n in declared or n in GENERIC for n in job["against"] if not n.endswith("?"))
    assert spec.reference is not None
    assert set(table.available(job)) <= {n.removesuffix("?") for n in job["against"]}
    assert set(job["required"]) <= {n.removesuffix("?") for n in job["against"]}


def test_the_script_writes_what_it_has_and_says_what_failed(tmp_path):
    job = {**JOBS[0], "kernel": "nowhere.py"}
    (tmp_path / "jobs.json").write_text(json.dumps([job]))
    command = [sys.executable, str(ROOT / "benchmarks" / "table.py"), str(tmp_path / "jobs.json")]
    done = subprocess.run(
        [*command, "--out", str(tmp_path)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1, done.stderr
    (found,) = json.loads((tmp_path / "table.json").read_text())["workloads"]
    assert "no such kernel file" in found["problem"]
    assert "MISS" in done.stdout


def test_a_workload_from_kernel_to_line(monkeypatch, tmp_path):
    """With the clock that counts instead of a GPU."""
    tune = ROOT / "tests" / "tune"
    job = {
        "name": "sum of rows",
        "kernel": str(tune / "plain_kernel.py"),
        "spec": f"{tune / 'row_sum.py'}:row_sum",
        "case": "small",
        "peers": str(tune / "row_peers.py"),
        "against": ["right", "rounded", "copy", "absent?"],
        "mode": "graph",
        "required": {"right": 0.9, "absent": 2.0},
    }

    class Here:
        def answer(self, asked, seconds):
            return {**run(asked, "cpu", StepClock()), "problem": "", "seconds": 1.0}

    monkeypatch.setattr(command, "_gpu", lambda: {"gpu": "a test"})
    options = argparse.Namespace(minutes=1.0, limit=30.0, rounds=2)
    (entry,) = table.all_of([job], options, tmp_path, Here())
    assert entry["problem"] == ""
    assert table.verdict(entry) == "pass"
    text = table.line(entry)
    assert "right 0.9 (1.000)" in text
    assert "rounded (1.000, WRONG)" in text
    written = json.loads((tmp_path / "table.json").read_text())
    assert written["workloads"] == [entry]
    options.minutes = 0.0
    (late,) = table.all_of([job], options, tmp_path, Here())
    assert late["problem"] == "no time left"
