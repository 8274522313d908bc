"""Printed files run in processes of their own, all cases in one: importing torch is slow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def verdicts(module: str, directory: Path) -> dict[str, str]:
    environment = {**os.environ, "TRITON_CACHE_DIR": str(directory / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", module, str(directory)],
        env=environment,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads((directory / "verdicts.json").read_text())
    return found


@pytest.fixture(scope="session")
def interpreted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return verdicts("tests.emit.interpreted", tmp_path_factory.mktemp("interpreted"))


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return verdicts("tests.emit.compiled", tmp_path_factory.mktemp("compiled"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="accept the text as printed now")
