"""Workers forked from a process that has imported torch already."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from superopt.verify.run.process import Worker
from superopt.verify.run.process import WorkerError
from superopt.verify.run.process import inherited
from superopt.verify.run.process import stem as new_stem
from superopt.verify.run.stem import StemError
from superopt.verify.run.stem import Wait

MODULE = """
import os, sys
from superopt.verify.run.worker import serve
def answer(request):
    if request == "modules":
        return [m for m in ("torch", "triton") if m in sys.modules]
    if request == "say":
        return os.environ.get("SAID"), os.getsid(0) == os.getpid()
    if request == "crash":
        print("out of luck", file=sys.stderr, flush=True)
        os.kill(os.getpid(), 11)
    if request == "hang":
        while True:
            pass
    if request == "raise":
        raise ValueError("no more")
    return request
def main():
    serve(answer)
if __name__ == "__main__":
    main()
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module that workers run; the stem finds it as they do."""
    (tmp_path / "odd_worker.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "odd_worker"


def test_workers_have_torch_but_not_triton_and_an_environment_of_their_own(module):
    with new_stem() as stem:
        first = Worker({"SAID": "one"}, module, stem)
        second = Worker({"SAID": "two"}, module, stem)
        with first, second:
            first.start()
            assert first._process is None  # nothing waits for the import of torch
            assert first.request("modules", 60) == ["torch"]
            assert first.request("say", 60) == ("one", True)
            assert second.request("say", 60) == ("two", True)


def test_a_crash_is_told_and_costs_no_other_request(module):
    with new_stem() as stem, Worker({}, module, stem) as worker:
        with pytest.raises(WorkerError, match="signal SIGSEGV: out of luck"):
            worker.request("crash", 60)
        with pytest.raises(WorkerError, match="exit code 1: ValueError: no more"):
            worker.request("raise", 60)
        assert worker.request("hello", 60) == "hello"
        assert worker._stem is stem


def test_without_its_stem_a_worker_is_a_process_of_its_own():
    stem = new_stem()
    stem.close()
    stem.close()
    with pytest.raises(StemError, match="ended"):
        stem.ask(Wait(1))
    with Worker({"TRITON_INTERPRET": "1"}, stem=stem) as worker:
        worker.start()
        assert worker.request("hello", 60) == "hello"
        assert worker._stem is None


def test_workers_end_with_their_stem(module):
    with new_stem() as stem, Worker({}, module, stem) as worker:
        assert worker.request("hello", 60) == "hello"
        before = worker._process.pid
        stem._open[0].kill()
        stem._open[0].wait()
        time.sleep(1.5)  # it looks for its parent once a second
        with pytest.raises(WorkerError, match="SIGKILL"):
            worker.request("hello", 60)
        assert worker.request("modules", 60) == []  # of its own, which has imported nothing
        assert worker._process.pid != before


def test_an_unknown_process_ends_the_stem_and_is_no_answer():
    with new_stem() as stem, pytest.raises(StemError, match="ended"):
        stem.ask(Wait(os.getpid()))


def said(module, stem, number):
    with Worker({"SAID": str(number)}, module, stem) as worker:
        return int(worker.request("say", 60)[0])


def test_many_workers_at_once_leave_no_file_descriptor_open(module):
    with new_stem() as stem:
        with Worker({}, module, stem) as worker:
            worker.request("hello", 60)
        before = len(os.listdir("/proc/self/fd"))
        with ThreadPoolExecutor(4) as threads:
            assert [*threads.map(lambda n: said(module, stem, n), range(12))] == [*range(12)]
        assert len(os.listdir("/proc/self/fd")) == before


PARENT = """
import os, sys
os.close(0)
from superopt.verify.run.process import Worker, stem
with stem() as root, Worker({}, "odd_worker", root) as worker:
    assert worker.request("hello", 60) == "hello"
    assert worker._stem is root
    print(root._open[0].pid, worker._process.pid, flush=True)
    worker.request("hang", 60)
"""


def test_a_parent_that_is_killed_leaves_no_process_behind(module):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, env=inherited({}), text=True
    )
    with parent:
        left = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(left) == 2
        assert all(map(runs, left))
        parent.kill()
    until = time.monotonic() + 20  # it looks for its parent once a second
    while any(map(runs, left)) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(map(runs, left))


def runs(pid):
    """Whether a process is there, and not just its exit code."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
