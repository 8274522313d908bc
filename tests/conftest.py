"""Fixtures that several test files share: the command line in this process, and one real search."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SOFTMAX = ROOT / "specs" / "softmax.py"
SEARCHED = ("search", f"{SOFTMAX}:softmax", "--case", "vocabulary", "--budget", "60")


@dataclass(frozen=True)
class Said:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


def superopt(*arguments: object, seed: int = 1, cwd: Path | None = None) -> Said:
    """Runs the command line in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", "from superopt.cli import main; main()", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)},
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def cli(monkeypatch, capsys) -> Callable[..., Said]:
    """The command line in this process."""
    from superopt.cli import main

    def run(*arguments: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["superopt", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        return Said(end.value.code, printed.out, printed.err)

    return run


@dataclass(frozen=True)
class Searched:
    """A finished search: its directory, what it said, and its run.json."""

    directory: Path
    said: Said
    record: dict[str, Any]

    @property
    def kernel(self) -> Path:
        return self.directory / self.record["kernel"]


@pytest.fixture(scope="session")
def searched(tmp_path_factory) -> Searched:
    """One real search, from spec to kernel file; tests only read it."""
    directory = tmp_path_factory.mktemp("searched") / "run"
    said = superopt(*SEARCHED, "--out", directory)
    assert said.code == 0, said.err
    return Searched(directory, said, json.loads((directory / "run.json").read_text()))
