"""What is compiled ahead of time is found by a launch: both ask Triton's cache for the same key."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

OLDEST = ROOT / "build" / "triton36"
SCRIPT = Path(__file__).parent / "kernels" / "cached_launch.py"


@pytest.mark.parametrize("versions", ["installed", "oldest"])
@pytest.mark.parametrize("rows", ["even", "odd"])
def test_a_launch_finds_what_was_compiled_ahead(tmp_path, versions, rows):
    """In a process of its own, whose driver says that there is an sm_90."""
    if versions == "oldest" and not OLDEST.is_dir():
        pytest.skip("the oldest supported Triton is not there")
    path = [str(ROOT)] if versions == "installed" else [str(OLDEST), str(ROOT)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "TRITON_CACHE_DIR": str(tmp_path),
        "TRITON_INTERPRET": "0",
    }
    done = subprocess.run(
        [sys.executable, str(SCRIPT), rows],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1", "1"]  # entries after compiling ahead, and after the launch
