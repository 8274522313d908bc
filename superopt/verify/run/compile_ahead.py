"""Compiles printed kernels for a GPU that is not there, several at a time, and reads roles."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import cast

from superopt.closing import Closing
from superopt.source import Facts
from superopt.source import LaunchSpec
from superopt.verify.readings import answer
from superopt.verify.run.process import Worker
from superopt.verify.run.process import WorkerError
from superopt.verify.run.stem import Stem
from superopt.verify.run.trial import CompileRequest
from superopt.verify.run.trial import NotCompiled
from superopt.verify.run.trial import ReadRequest
from superopt.verify.tasks import Answer
from superopt.verify.tasks import Task
from superopt.verify.verdict import Verdict
from superopt.verify.verdict import objection

COMPILE_SECONDS = 120.0
READ_SECONDS = 120.0
FILE_SECONDS = 600.0  # a file may have many plans


class Compiler(Closing):
    """At most ``jobs`` processes that compile launches or read them; they are started when needed
    and kept.

    ``seconds`` is the limit for one launch. A crash, a hang or a refusal of the compiler is that
    launch's ``NotCompiled``. ``stem``: what the processes are forked from.
    """

    def __init__(
        self,
        jobs: int | None = None,
        seconds: float = COMPILE_SECONDS,
        stem: Stem | None = None,
    ) -> None:
        self.jobs = jobs or min(4, os.cpu_count() or 1)
        self.seconds = seconds
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        self._workers = [Worker({"TRITON_INTERPRET": "0"}, stem=stem) for _ in range(self.jobs)]
        for worker in self._workers:
            self._idle.put(worker)

    def start(self) -> None:
        """Starts the processes ahead of time, for their imports take seconds."""
        for worker in self._workers:
            worker.start()

    def compile(
        self, kernel_file: Path, specs: Sequence[LaunchSpec], target: str
    ) -> tuple[Facts | NotCompiled, ...]:
        """The facts of each of ``specs``, in order."""
        return self.compile_all([(kernel_file, spec, target) for spec in specs])

    def compile_all(
        self, jobs: Sequence[tuple[Path, LaunchSpec, str]]
    ) -> tuple[Facts | NotCompiled, ...]:
        """The facts of each (file, launch, target), in order."""
        requests = [CompileRequest(str(f.resolve()), spec, target) for f, spec, target in jobs]
        if len(requests) == 1 or self.jobs == 1:
            return tuple(self._one(request) for request in requests)
        with ThreadPoolExecutor(min(self.jobs, max(len(requests), 1))) as threads:
            return tuple(threads.map(self._one, requests))

    def read(self, request: ReadRequest) -> str:
        """Why roles must not run on a device; empty if they may."""
        try:
            return objection(*self.claim(request))
        except WorkerError as died:
            return str(died)

    def claim(self, request: ReadRequest) -> tuple[str, Verdict]:
        """What the reading of roles says.

        Raises:
            WorkerError: it did not end in time, or in order.
        """
        claim, verdict = cast("tuple[str, Verdict]", self._answer(request, READ_SECONDS))
        return claim, verdict

    def readings(self, tasks: Sequence[Task]) -> tuple[Answer, ...]:
        """The readings of a kernel file, side by side. One that does not end in time, or in order,
        is done here: that says nothing of the file."""
        with ThreadPoolExecutor(min(self.jobs, max(len(tasks), 1))) as threads:
            return tuple(threads.map(self._reading, tasks))

    def _reading(self, task: Task) -> Answer:
        try:
            return cast("Answer", self._answer(task, FILE_SECONDS))
        except WorkerError:
            return answer(task)

    def _one(self, request: CompileRequest) -> Facts | NotCompiled:
        try:
            reply = self._answer(request, self.seconds)
        except WorkerError as died:
            return NotCompiled(request.spec.function, request.target, str(died))
        assert isinstance(reply, Facts | NotCompiled)
        return reply

    def _answer(self, request: object, seconds: float) -> object:
        """What the first idle process says to ``request``."""
        worker = self._idle.get()
        try:
            return worker.request(request, seconds)
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        """Ends the processes."""
        for worker in self._workers:
            worker.close()
