"""The table of a case."""

from __future__ import annotations

import io

from rich.console import Console

from superopt.commands.bench_table import show_case

ROW = {
    "mode": "graph",
    "failed": "",
    "wrong": "",
    "checked": True,
    "us": 100.0,
    "low": 99.0,
    "high": 101.0,
    "rate": 512.0,
    "unit": "TFLOP/s",
    "share": 0.8,
    "ratio": 1.0,
    "ratio_low": 1.0,
    "ratio_high": 1.0,
}


def shown(**changes):
    entry = {
        "case": "c",
        "sizes": {"m": 1, "n": 2},
        "dtype": "bf16",
        "problem": "",
        "check": {"problem": "", "error": 1e-4, "limit": 2e-3},
        "roofline": {"us": 80.0, "bound": "matrix"},
        "sets": 1,
        "rows": [
            {**ROW, "name": "superopt"},
            {**ROW, "name": "peer", "us": 125.0, "ratio": 1.25, "ratio_low": 1.2},
            {**ROW, "name": "loose", "wrong": "out: error 1e-1"},
            {**ROW, "name": "copy", "checked": False},
            {"mode": "graph", "name": "gone", "failed": "signal SIGSEGV", "wrong": ""},
        ],
    }
    console = Console(file=io.StringIO(), width=160, markup=False)
    show_case(console, "f", {**entry, **changes})
    return console.file.getvalue()


def line(name):
    return next(text for text in shown().splitlines() if name in text.split()[:2])


def test_every_contender_is_one_line():
    assert "f, case c: m=1 n=2, bf16" in shown()
    assert "least time 80.0 us by matrix; 1 set of inputs; error 1.0e-04, limit 2.0e-03" in shown()
    for word in ("100.0", "99.0 to 101.0", "512", "80%", "1.000"):
        assert word in line("superopt")
    assert "1.250 (1.200 to 1.000)" in line("peer")
    assert "WRONG: out: error 1e-1" in line("loose")
    assert "yardstick" in line("copy")
    assert "failed: signal SIGSEGV" in line("gone")


def test_a_kernel_that_fails_its_check_has_no_table():
    text = shown(check={"problem": "out: nan", "error": None, "limit": 0.0}, rows=[])
    assert "no times: the kernel fails its check on the device: out: nan" in text
    assert "median" not in text


def test_a_case_that_ended_early_says_why():
    assert "no times: flex: no answer" in shown(problem="flex: no answer", rows=[])
