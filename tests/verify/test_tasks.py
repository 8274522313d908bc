"""The readings of a file are the same whether they are done here or in processes side by side."""

from __future__ import annotations

from superopt.verify.readings import judge_file
from superopt.verify.run.compile_ahead import Compiler
from superopt.verify.run.process import WorkerError
from superopt.verify.tasks import OfGraph
from superopt.verify.tasks import OfMemory
from tests.verify.test_readings import GRAPHS
from tests.verify.test_readings import PROGRAM
from tests.verify.test_readings import TEXT


def test_processes_say_what_is_said_here():
    asked = []
    with Compiler(jobs=2) as compiler:

        def does(tasks):
            asked.extend(task.what for task in tasks)
            return compiler.readings(tasks)

        found = judge_file(TEXT, PROGRAM, GRAPHS, does=does)
    assert asked == [OfMemory(), OfGraph(0), OfGraph(1)]
    assert found == judge_file(TEXT, PROGRAM, GRAPHS)
    assert found.wanting() == []
    assert found.questions


def test_a_process_that_fails_is_no_verdict(monkeypatch):
    def dies(self, request, seconds):
        raise WorkerError("the process ended")

    monkeypatch.setattr(Compiler, "_answer", dies)
    with Compiler(jobs=2) as compiler:
        found = judge_file(TEXT, PROGRAM, GRAPHS, does=compiler.readings)
    assert found == judge_file(TEXT, PROGRAM, GRAPHS)
