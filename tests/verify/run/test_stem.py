"""Workers forked from a process that has imported torch already."""

from __future__ import annotations

import os
import time

import pytest

from superopt.verify.run.process import Worker
from superopt.verify.run.process import WorkerError
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


def test_file_descriptors_do_not_stay_open(module):
    with new_stem() as stem:
        with Worker({}, module, stem) as worker:
            worker.request("hello", 60)
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            with Worker({}, module, stem) as worker:
                worker.request("hello", 60)
        assert len(os.listdir("/proc/self/fd")) == before
