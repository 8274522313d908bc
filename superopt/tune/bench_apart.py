"""A case in a process of its own: a crash or a hang costs the contender that caused it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path
from typing import IO
from typing import Any

from superopt.closing import Closing
from superopt.tune.bench_job import OURS
from superopt.tune.bench_job import BenchJob
from superopt.verify.run.process import epitaph
from superopt.verify.run.process import inherited

ATTEMPT = 2 / 3  # of the time that is left
COMMAND = (sys.executable, "-m", "superopt.tune.bench_process")


def in_process(job: BenchJob, seconds: float) -> dict[str, Any]:
    """The answer to one ``job`` (``Processes.answer``)."""
    with Processes() as processes:
        return processes.answer(job, seconds)


@dataclass
class _Process:
    """A process that loads its modules, and then waits for a job."""

    process: subprocess.Popen[str]
    log: IO[bytes]


class Processes(Closing):
    """Processes for cases, one after another.

    ``ahead``: while one works, the next one already loads its modules (on the host alone), which
    takes several seconds.
    """

    def __init__(self, command: Sequence[str] = COMMAND, ahead: bool = False) -> None:
        self._command = tuple(command)
        self._ahead = ahead
        self._spare: _Process | None = None

    def close(self) -> None:
        """Ends the process that waits for a job, if one does."""
        spare, self._spare = self._spare, None
        if spare is not None:
            _end(spare)

    def answer(self, job: BenchJob, seconds: float) -> dict[str, Any]:
        """The answer to ``job`` within ``seconds``.

        A peer that breaks the process or hangs gets a row with the reason, and the case begins
        again without it. If the kernel itself does, or no time is left, ``problem`` says so.
        """
        begun = time.monotonic()
        skipped = dict(job.skip)
        while True:
            left = seconds - (time.monotonic() - begun)
            # A peer that hangs must leave time for the others, so no attempt takes all of it.
            limit = left if left < seconds / 4 else ATTEMPT * left
            found, why, hand = self._attempt(replace(job, skip=skipped), limit)
            spent = round(time.monotonic() - begun, 1)
            if found is not None:
                return {**found, "problem": "", "seconds": spent}
            if hand in ("", OURS) or hand in skipped or seconds - spent < 1.0:
                who = "the kernel: " if hand == OURS else f"{hand}: " if hand else ""
                return {"problem": who + why, "seconds": spent, "rows": []}
            skipped[hand] = why

    def _attempt(self, job: BenchJob, seconds: float) -> tuple[dict[str, Any] | None, str, str]:
        """The answer, or None with the reason and the contender that was at work."""
        with tempfile.TemporaryDirectory() as folder:
            asked, answer = Path(folder) / "job.json", Path(folder) / "answer.json"
            asked.write_text(json.dumps(job.record()))
            mine, self._spare = self._spare or self._started(), None
            if self._ahead:
                self._spare = self._started()
            try:
                why = _watched(mine, [str(asked), str(answer)], seconds)
            finally:
                _end(mine)
            now = answer.with_name(answer.name + ".now")
            hand = now.read_text() if now.exists() else ""
            found = json.loads(answer.read_text()) if answer.exists() else {"broken": why}
            if "broken" not in found:
                return found, "", hand
            return None, found["broken"] or "the process ended without an answer", hand

    def _started(self) -> _Process:
        log = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=inherited({"PYTHONWARNINGS": "ignore"}),
            start_new_session=True,  # compilers start processes of their own; all end together
            text=True,
        )
        return _Process(process, log)


def _watched(mine: _Process, files: Sequence[str], seconds: float) -> str:
    """Gives a process its job and waits for its end; why it failed, or ""."""
    process = mine.process
    assert process.stdin is not None
    with suppress(BrokenPipeError):  # it has ended already, and its exit code says more
        process.stdin.write(json.dumps(list(files)) + "\n")
        process.stdin.close()
    try:
        code = process.wait(timeout=max(1.0, seconds))
    except subprocess.TimeoutExpired:
        return f"no answer within {seconds:.0f} s: stopped"
    return epitaph(code, mine.log) if code else ""


def _end(mine: _Process) -> None:
    """Ends a process and those that it started."""
    with suppress(ProcessLookupError):  # all of them have ended by themselves
        os.killpg(mine.process.pid, signal.SIGKILL)
    mine.process.wait()
    if mine.process.stdin is not None:
        with suppress(BrokenPipeError):
            mine.process.stdin.close()
    mine.log.close()
