from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from superopt.errors import BAD_INPUT
from superopt.errors import INTERRUPTED
from superopt.errors import OUR_FAULT
from superopt.errors import VERIFIED
from tests.conftest import ROOT
from tests.conftest import SOFTMAX
from tests.conftest import superopt

HEAD = "from typing import Annotated\nfrom superopt import *\n"
SPEC = """
@spec(cases=[Case("c", m=4, n=8)])
def {name}(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n"]:
    return {body}
"""
WRONG = """
import torch

@spec(cases=[Case("c", m=4, n=8)], reference=lambda x: x.sum(-1, keepdim=True) - x)
def wrong(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n"]:
    return x.sum("n") + x
"""


def test_help_needs_nothing_heavy():
    code = (
        "import sys\nsys.argv = ['superopt', 'search', '--help']\n"
        "import superopt.cli\n"
        "try:\n    superopt.cli.main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'torch', 'z3', 'sympy', 'triton', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "--budget" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "nowhere.py"),
        ("search", "good.py", "--case", "nothing"),
        ("search", "good.py", "--target", "h900"),
        ("search", "good.py", "--budget", "soon"),
        ("search", "good.py", "--out", "good.py"),
        *((command, "nowhere") for command in ("time", "verify", "bench", "report", "explain")),
        ("print", "nowhere", "--dialect", "flagtree"),
    ],
    ids=" ".join,
)
def test_errors_come_before_anything_heavy_is_imported(tmp_path, arguments):
    (tmp_path / "good.py").write_text(HEAD + SPEC.format(name="good", body="x + 1"))
    code = (
        f"import sys\nsys.argv = ['superopt', *{arguments!r}]\n"
        "import superopt.cli\n"
        "try:\n    superopt.cli.main()\nexcept SystemExit as end:\n    assert end.code == 2\n"
        "heavy = {'torch', 'z3', 'sympy', 'triton'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("error: ")


def refused(said, *words):
    assert said.code == BAD_INPUT, (said.out, said.err)
    lines = said.err.strip().splitlines()
    assert len(lines) == 1, said.err
    for word in words:
        assert word in lines[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere.py",), ("no file 'nowhere.py'",)),
        (("good.py:nothing",), ("good.py has no 'nothing'", "it has good")),
        (("good.py:helper",), ("good.py:7: 'helper' is no spec",)),
        (("good.py", "--case", "d"), ("no case named 'd'", "it has c")),
        (("good.py", "--case", "c", "--case", "d"), ("no case named 'd'",)),
        (("good.py", "--target", "h900"), ("unknown target 'h900'", "known targets: auto")),
        (("good.py", "--budget", "soon"), ("--budget 'soon'", "30s, 5m, 1h")),
        (("good.py", "--budget", "0"), ("--budget '0'",)),
        (("good.py", "--budget", "-5"), ("--budget '-5'",)),
        (("good.py", "--out", "file"), ("--out file", "is a file")),
        (("good.py", "--out", "file/below"), ("--out file/below", "is a file")),
        (("good.py", "--out", "full"), ("--out full", "not empty", "'notes.txt'")),
        (("two.py", "--out", "full"), ("--out full", "'notes.txt'")),
        (("twice.py",), ("twice.py:9", "two specs are named 'good'")),
        (("axis.py",), ("axis.py:5", "'k'")),
        (("dtype.py",), ("dtype.py:3", "unsupported dtype 'fp8'", "fp16, bf16, fp32")),
        (("case.py",), ("case.py:3", "does not bind size 'n'")),
        (("syntax.py",), ("syntax.py:3", "syntax error")),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(tmp_path, monkeypatch, cli, arguments, words):
    good = SPEC.format(name="good", body="x + 1")
    files = {
        "good.py": f"{good}\ndef helper(x):\n    return x\n",
        "two.py": good + SPEC.format(name="other", body="x + 2"),
        "twice.py": good + "first = good\n" + SPEC.format(name="good", body="x + 2"),
        "axis.py": SPEC.format(name="bad", body='x.sum("k")'),
        "dtype.py": SPEC.format(name="bad", body="x").replace("n=8", 'n=8, dtype="fp8"'),
        "case.py": SPEC.format(name="bad", body="x").replace(", n=8", ""),
        "syntax.py": "def (\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(HEAD + text.lstrip("\n"))
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    refused(cli("search", *arguments), *words)
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "file").read_text() == "mine"


def test_a_directory_that_cannot_be_written(tmp_path, monkeypatch, cli):
    (tmp_path / "good.py").write_text(HEAD + SPEC.format(name="good", body="x"))
    (tmp_path / "locked").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: "locked" not in str(path))
    refused(cli("search", tmp_path / "good.py", "--out", tmp_path / "locked"), "is not writable")
    assert not any((tmp_path / "locked").iterdir())


def test_a_reference_that_disagrees_ends_only_its_own_function(tmp_path, monkeypatch, cli):
    (tmp_path / "w.py").write_text(HEAD + WRONG + SPEC.format(name="good", body="x + 1"))
    monkeypatch.chdir(tmp_path)
    said = cli("search", "w.py", "--quiet", "--budget", "4")
    refused(said, "error: w.py:7: out of wrong disagrees with its reference at [m=", "off by")
    assert (tmp_path / "runs" / "good" / "good.py").is_file()
    assert not (tmp_path / "runs" / "wrong").exists()
    assert "good: verified kernel" in said.out


def test_usage_errors(cli):
    assert cli("search").code == BAD_INPUT
    assert cli("search", SOFTMAX, "--seed", "x").code == BAD_INPUT
    assert cli("search", SOFTMAX, "--seed", "-1").code == BAD_INPUT
    assert cli("search", SOFTMAX, "--jobs", "0").code == BAD_INPUT


def test_a_package_that_is_missing_is_no_fault_of_ours():
    code = (
        "import sys\nsys.modules['z3'] = None\nsys.argv = ['superopt', 'prove']\n"
        "from superopt.cli import main\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == BAD_INPUT
    assert done.stderr == "error: this command needs z3-solver: pip install z3-solver\n"


def test_the_package_is_a_command_too():
    done = subprocess.run(
        [sys.executable, "-m", "superopt", "--help"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == VERIFIED
    assert "doctor" in done.stdout


def test_bad_input_through_a_real_process():
    refused(superopt("search", "nowhere.py"), "error: no file 'nowhere.py'")


def test_our_own_fault_is_reported_with_a_file(tmp_path, monkeypatch, cli):
    def fail(*arguments):
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr("superopt.commands.search.search_function", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    said = cli("search", f"{SOFTMAX}:softmax", "--out", tmp_path / "out", "--quiet")
    assert said.code == OUR_FAULT
    assert "Traceback" not in said.err
    assert "superopt failed by its own fault: RuntimeError: a bug of ours" in said.err
    (file,) = tmp_path.glob("superopt-bug-*.json")
    assert str(file) in said.err
    assert "a bug of ours" in file.read_text()
    assert "def softmax" in file.read_text()
    assert not (tmp_path / "out").exists()


# Interrupts ------------------------------------------------------------------------------


def descendants(process):
    """The processes that ``process`` has started, and those that these have."""
    found = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True)
    pairs = [tuple(map(int, line.split())) for line in found.stdout.splitlines()]
    family = [process.pid]
    for pid in family:
        family += [child for child, parent in pairs if parent == pid]
    return family[1:]


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def started(directory):
    program = "from superopt.cli import main; main()"
    arguments = ["search", f"{SOFTMAX}:softmax", "--out", str(directory), "--budget", "20"]
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        # A shell's background job, and so its children, would not hear of an interrupt.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_before_any_kernel(tmp_path, number):
    process = started(tmp_path / "out")
    # The one that imports torch, and two that fork from it: nothing was executed yet.
    while len(workers := descendants(process)) < 3 and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED, err
    assert "interrupted before any kernel was verified" in out
    assert "Traceback" not in err
    assert len(workers) >= 3
    assert not any(alive(pid) for pid in workers)
    left = {p.name for p in (tmp_path / "out").iterdir()}
    assert left - {"candidates"} == {"report.md", "run.json"}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_an_interrupt_keeps_what_is_verified(tmp_path):
    process = started(tmp_path / "out")
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("softmax / square:")
    workers = descendants(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == VERIFIED, err
    assert "interrupted: the best until then" in out
    assert "without a kernel of their own: vocabulary, short, fp32" in out
    assert workers
    assert not any(alive(pid) for pid in workers)
    assert (tmp_path / "out" / "softmax.py").is_file()
    assert (tmp_path / "out" / "run.json").is_file()
