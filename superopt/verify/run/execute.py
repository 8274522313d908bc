"""Runs printed kernels on the CPU by Triton's interpreter, in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from superopt.closing import Closing
from superopt.verify.run.process import ALONE
from superopt.verify.run.process import Worker
from superopt.verify.run.process import WorkerError
from superopt.verify.run.stem import Stem
from superopt.verify.run.trial import RunRequest
from superopt.verify.run.trial import RunResult
from superopt.verify.run.trial import Trial

TRIAL_SECONDS = 60.0

_INTERPRETER = {"TRITON_INTERPRET": "1", **ALONE}


class Runner(Closing):
    """A process that runs trials of any number of printed files.

    ``seconds`` is the limit for one trial. A crash or a hang is that trial's message and costs no
    other trial. ``stem``: what the process is forked from.
    """

    def __init__(self, seconds: float = TRIAL_SECONDS, stem: Stem | None = None) -> None:
        self._worker = Worker(_INTERPRETER, stem=stem)
        self.seconds = seconds

    def start(self) -> None:
        """Starts the process ahead of time, for its imports take seconds."""
        self._worker.start()

    def run(self, kernel_file: Path, function: str, trial: Trial) -> RunResult:
        """One trial of ``function`` in ``kernel_file``."""
        request = RunRequest(str(kernel_file.resolve()), function, trial)
        try:
            reply = self._worker.request(request, self.seconds)
        except WorkerError as died:
            return RunResult(str(died))
        assert isinstance(reply, RunResult)
        return reply

    def close(self) -> None:
        """Ends the process."""
        self._worker.close()


def execute(
    kernel_file: Path, function: str, trials: Sequence[Trial], runner: Runner | None = None
) -> list[RunResult]:
    """The results of ``trials``, in order (in ``runner``'s process, or in one of its own)."""
    if runner is not None:
        return [runner.run(kernel_file, function, trial) for trial in trials]
    with Runner() as own:
        return [own.run(kernel_file, function, trial) for trial in trials]
