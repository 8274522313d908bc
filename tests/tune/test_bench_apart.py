"""A case in a process of its own: crashes and hangs cost the contender that caused them."""

from __future__ import annotations

import sys
import textwrap

import pytest

from superopt.tune.bench_apart import Processes
from superopt.tune.bench_job import BenchJob

JOB = BenchJob(
    kernel="kernel.py",
    function="f",
    spec="",
    program="",
    case={},
    against=("good", "bad"),
    peers="",
    modes=("graph",),
    rounds=3,
    target="h200",
    skip={},
)

# It answers with the contenders that took part, unless one of them does what ``how`` says.
PROCESS = """
import json, os, sys, time
asked, answer = json.loads(sys.stdin.readline())
job = json.loads(open(asked).read())
took_part = []
for name in ("superopt", *job["against"]):
    if name in job["skip"]:
        continue
    open(answer + ".now", "w").write(name)
    if name == {who!r}:
        {how}
    took_part.append(name)
open(answer, "w").write(json.dumps({{"rows": took_part, "skip": job["skip"]}}))
"""

CRASH = "os.abort()"
LEAVE = "os._exit(3)"
HANG = "time.sleep(60)"
RAISE = "raise MemoryError('out of memory')"
BREAK = """open(answer, "w").write('{"broken": "an illegal address"}'); sys.exit(1)"""


def answer(tmp_path, who, how, seconds=20.0):
    file = tmp_path / "process.py"
    file.write_text(textwrap.dedent(PROCESS.format(who=who, how=how)))
    with Processes((sys.executable, str(file))) as processes:
        return processes.answer(JOB, seconds)


def test_an_answer(tmp_path):
    found = answer(tmp_path, "nobody", "pass")
    assert found["problem"] == ""
    assert found["rows"] == ["superopt", "good", "bad"]
    assert found["seconds"] >= 0


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (CRASH, "signal SIGABRT"),
        (LEAVE, "exit code 3"),
        (RAISE, "MemoryError: out of memory"),
        (BREAK, "an illegal address"),
    ],
)
def test_a_peer_that_breaks_the_process_is_left_out(tmp_path, how, why):
    found = answer(tmp_path, "bad", how)
    assert found["problem"] == ""
    assert found["rows"] == ["superopt", "good"]
    assert why in found["skip"]["bad"]


def test_a_peer_that_hangs_is_left_out(tmp_path):
    found = answer(tmp_path, "bad", HANG, seconds=6.0)
    assert found["rows"] == ["superopt", "good"]
    assert "no answer within 4 s" in found["skip"]["bad"]
    assert found["seconds"] < 10


def test_a_kernel_that_breaks_the_process_has_no_times(tmp_path):
    found = answer(tmp_path, "superopt", CRASH)
    assert found["problem"] == "the kernel: the process ended with signal SIGABRT"
    assert found["rows"] == []


def test_a_kernel_that_hangs_has_no_times(tmp_path):
    found = answer(tmp_path, "superopt", HANG, seconds=2.0)
    assert "no answer within" in found["problem"]
    assert found["seconds"] < 10


def test_a_process_without_an_answer(tmp_path):
    found = answer(tmp_path, "superopt", "sys.exit(0)")
    assert found["problem"] == "the kernel: the process ended without an answer"


def test_what_a_peer_started_ends_with_it(tmp_path):
    child = tmp_path / "child.txt"
    start = (
        "import subprocess; "
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); "
        f"open({str(child)!r}, 'w').write(str(p.pid)); os.abort()"
    )
    answer(tmp_path, "bad", start)
    state = _state(int(child.read_text()))
    assert state in ("gone", "Z")


def _state(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "gone"


def test_the_next_process_loads_ahead_and_ends_with_the_others(tmp_path):
    file = tmp_path / "process.py"
    text = PROCESS.format(who="nobody", how="pass")
    file.write_text(text.replace("took_part = []", "took_part = [os.getpid()]"))
    with Processes((sys.executable, str(file)), ahead=True) as processes:
        processes.answer(JOB, 20.0)
        spare = processes._spare.process.pid
        assert processes.answer(JOB, 20.0)["rows"][0] == spare
        further = processes._spare.process.pid
        assert further != spare
    assert _state(further) in ("gone", "Z")


def test_a_process_that_ends_before_its_job(tmp_path):
    with Processes((sys.executable, "-c", "raise SystemExit('no torch here')")) as processes:
        found = processes.answer(JOB, 20.0)
    assert found["problem"] == "the process ended with exit code 1: no torch here"
