"""What a parent started ends with it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

CHILD = """
import subprocess, sys, time
from superopt.tune.orphan import end_with_parent
end_with_parent()
further = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(further.pid, flush=True)
time.sleep(60)
"""
PARENT = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdout=subprocess.PIPE,
                         start_new_session=True)
print(child.pid, int(child.stdout.readline()), flush=True)
os._exit(0)
"""


def runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_a_child_and_its_own_children_end_with_the_parent():
    done = subprocess.run(
        [sys.executable, "-c", PARENT, CHILD],
        stdout=subprocess.PIPE,
        text=True,
        timeout=30,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    pids = [int(p) for p in done.stdout.split()]
    end = time.monotonic() + 10
    while any(map(runs, pids)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(map(runs, pids))
