"""How a process that ended is described, and what a new one is given."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

import superopt
from superopt.verify.run.process import epitaph
from superopt.verify.run.process import inherited


@pytest.mark.parametrize(
    ("code", "errors", "said"),
    [
        (3, b"", "the process ended with exit code 3"),
        (1, b"Traceback\n  MemoryError: no more \n\n", "exit code 1: MemoryError: no more"),
        (-11, b"", "the process ended with signal SIGSEGV"),
        (-6, b"free(): \xff\n", "signal SIGABRT: free(): \N{REPLACEMENT CHARACTER}"),
    ],
)
def test_an_end_in_words(code, errors, said):
    file = io.BytesIO(errors)
    file.seek(0, io.SEEK_END)  # as a process leaves it
    assert epitaph(code, file).endswith(said)


def test_a_process_imports_this_superopt(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = inherited({"MORE": "1"})
    assert found["MORE"] == "1"
    assert found["PYTHONPATH"].split(os.pathsep)[1:] == [str(tmp_path)]
    program = "import superopt; print(superopt.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=found, capture_output=True, text=True
    )
    assert done.stdout.strip() == superopt.__file__
