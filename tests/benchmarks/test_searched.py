"""The comparisons with libraries that search what they time, as far as they go without a GPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import searched
from superopt.loading import load
from superopt.tune.peers import GENERIC
from superopt.tune.peers import load_peers
from tests.benchmarks.test_table import entry

ROOT = Path(__file__).resolve().parents[2]
JOBS = [
    job
    for name in ("attention", "matmul")
    for job in json.loads((ROOT / "benchmarks" / f"{name}_jobs.json").read_text())
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, as it loads
@pytest.mark.parametrize("job", JOBS, ids=lambda j: j["name"])
def test_the_workloads_name_what_exists(job):
    (spec,) = load(str(ROOT / job["spec"]))
    assert spec.case(job["case"])
    declared = load_peers(ROOT / job["peers"], spec.name)
    assert all(n in declared or n in GENERIC for n in job["against"])
    assert set(job["required"]) <= set(job["against"])
    assert spec.reference is not None


def test_names_of_workloads_differ_and_unknown_ones_end_it():
    assert len({j["name"] for j in JOBS}) == len(JOBS)
    assert searched.chosen(JOBS, None) is JOBS
    with pytest.raises(SystemExit, match="no workload is called 'nothing'"):
        searched.chosen(JOBS, ["nothing"])


def test_each_missing_kernel_is_searched_once(tmp_path):
    jobs = [
        job | {"kernel": str(searched.kernel_of(job, tmp_path))}
        for job in JOBS
        if job["spec"].endswith(":attention")
    ]
    assert len(jobs) > len(searched.missing(jobs)) == 1
    (tmp_path / "attention").mkdir()
    (tmp_path / "attention" / "attention.py").touch()
    assert not searched.missing(jobs)


def test_the_summary_has_the_mean_and_the_share_of_the_rate_of_products():
    first = entry(against=("flex", "matmul-8192"), flex=1.21, matmul_8192=0.5)
    for row in first["bench"]["cases"][0]["rows"]:
        row["checked"] = row["name"] != "matmul-8192"
    first["flop"] = 2 * searched.YARDSTICK_FLOP
    lines = searched.summary([first, entry(flex=1.0, copy=0.5)])
    assert lines == [
        "geometric mean over the best peer of 2 workloads: 1.100",
        "work: 100.0% of the rate of matmul-8192 in the same rounds",
    ]


@pytest.mark.parametrize("name", ["attention", "matmul"])
def test_without_kernels_the_programs_say_so(name, tmp_path):
    only = next(j["name"] for j in JOBS if name in j["name"])
    command = [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), "--no-search"]
    command += ["--only", only, "--runs", str(tmp_path), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1, done.stderr
    found = json.loads((tmp_path / f"{name}.json").read_text())
    assert found["tool"] == f"superopt benchmarks/{name}.py"
    assert set(found) >= {"date", "machine", "workloads", "summary"}
    assert "no such kernel file" in found["workloads"][0]["problem"]
    assert "MISS" in done.stdout
