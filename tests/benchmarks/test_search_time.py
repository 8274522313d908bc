"""The script that times searches: its arithmetic, and memory of a tree of processes."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script():
    path = ROOT / "benchmarks" / "search_time.py"
    spec = importlib.util.spec_from_file_location("search_time", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(**changed):
    usual = {"first": 5.0, "winner": 30.0, "memory": 900, "load": 0.1, "problem": ""}
    usual |= {"spec": "specs/attention.py:attention", "case": "prefill", "verified": True}
    return {**usual, **changed}


def test_first_is_counted_from_the_start_of_the_process(script):
    timing = {
        "seconds": {"assemble": 4.0, "total": 28.0},
        "cases": {"c": {"total": 20.0, "first verified": 3.0}},
    }
    # 30 s of process = 6 s before the case + 20 s of case + 4 s of assembly.
    assert script.first_verified(30.0, timing, "c") == pytest.approx(9.0)
    assert script.first_verified(30.0, {}, "c") is None


def test_limits_are_those_of_attention(script):
    assert script.over(row()) == []
    assert script.over(row(first=10.1, memory=2001)) == ["first", "memory"]
    assert script.over(row(first=None)) == ["first"]
    assert script.over(row(spec="specs/softmax.py:softmax", winner=1000)) == []


def test_the_table_says_what_failed(script):
    over = row(first=11.0, over=["first"])
    failed = row(first=None, verified=False, problem="no such case", over=[])
    text = script.table([row(over=[]), over, failed]).splitlines()
    assert len(text) == 4
    assert text[2].endswith("over the limit: first")
    assert text[3].endswith("NOT VERIFIED no such case")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_memory_is_that_of_the_whole_tree(script):
    hold = "b = bytearray(60_000_000); print(len(b), flush=True); input()"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {hold!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "60000000\n"
        found = script.tree_mb(process.pid)
        assert len(list(script.tree(process.pid, script.parents()))) == 2
        process.communicate("\n")
    assert 60 < found < 160
    assert script.process_mb(os.getpid()) > 5
    assert script.process_mb(2**22 + 1) == 0.0
