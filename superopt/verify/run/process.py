"""A worker process, seen from its parent: requests with a time limit, a fresh one after a crash."""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO
from typing import Any

import superopt
from superopt.closing import Closing
from superopt.errors import SuperoptError
from superopt.verify.run.stem import Fork
from superopt.verify.run.stem import Forked
from superopt.verify.run.stem import Stem
from superopt.verify.run.stem import StemError
from superopt.verify.run.worker import LENGTH
from superopt.verify.run.worker import send

WORKER = "superopt.verify.run.worker"
ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # processes share the cores
START_SECONDS = 180.0  # for the imports of a fresh process on a busy machine


class WorkerError(SuperoptError):
    """The process crashed or ran past its time while it worked on a request."""


class Worker(Closing):
    """One process that answers requests.

    ``environment`` is added to the parent's (``TRITON_INTERPRET`` must be decided before triton
    is imported, so it belongs to the process). The process is started by ``start``, or by the
    first request, or by the first one after a crash. ``module``: what the process runs; it
    answers by ``worker.serve``. ``stem``: what it is forked from, while that lives.
    """

    def __init__(
        self, environment: Mapping[str, str], module: str = WORKER, stem: Stem | None = None
    ) -> None:
        self._environment = dict(environment)
        self._module = module
        self._stem = stem
        self._process: subprocess.Popen[bytes] | Forked | None = None
        self._errors: IO[bytes] | None = None
        self._loading = False

    def start(self) -> None:
        """Starts the process, unless it runs; its slow imports then go on in the background. With a
        stem that is what is started: to fork takes no time."""
        if self._process is None and self._stem is not None:
            try:
                self._stem.start()
            except StemError:
                self._stem = None
        if self._stem is None:
            self._begin()

    def _begin(self) -> None:
        if self._process is not None:
            return
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        self._process = self._launched(self._errors.fileno())
        self._send("load")
        self._loading = True

    def _launched(self, errors: int) -> subprocess.Popen[bytes] | Forked:
        environment = inherited(self._environment)
        if self._stem is not None:
            try:
                return Forked(self._stem, Fork(self._module, environment), errors)
            except StemError:
                self._stem = None
        return subprocess.Popen(
            [sys.executable, "-m", self._module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            start_new_session=True,  # an interrupt from the keyboard is the parent's to handle
        )

    def request(self, message: object, seconds: float) -> Any:
        """The reply to ``message``.

        Raises:
            WorkerError: no reply came in time, or the process ended.
        """
        self._begin()
        try:
            if self._loading:
                self._receive(START_SECONDS)
                self._loading = False
            self._send(message)
            return self._receive(seconds)
        except (BrokenPipeError, EOFError):
            raise WorkerError(self._epitaph()) from None
        except TimeoutError:
            self.close()
            raise WorkerError(f"no answer within {seconds:g} s: stopped") from None
        except BaseException:  # an interrupt: the reply would be taken for the next one's
            self.close()
            raise

    def close(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                assert stream is not None
                try:
                    stream.close()
                except BrokenPipeError:  # what was not yet sent is of no use to a dead process
                    continue
        if self._errors is not None:
            self._errors.close()
            self._errors = None

    def _send(self, message: object) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        send(self._process.stdin, message)

    def _receive(self, seconds: float) -> Any:
        deadline = time.monotonic() + seconds
        (length,) = LENGTH.unpack(self._read(LENGTH.size, deadline))
        return pickle.loads(self._read(length, deadline))

    def _read(self, length: int, deadline: float) -> bytes:
        assert self._process is not None
        assert self._process.stdout is not None
        source = self._process.stdout.fileno()
        data = bytearray()
        while len(data) < length:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([source], [], [], left)[0]:
                raise TimeoutError
            piece = os.read(source, min(length - len(data), 1 << 20))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)

    def _epitaph(self) -> str:
        """How the process ended, with the last line of its error output."""
        assert self._process is not None
        assert self._errors is not None
        said = epitaph(self._process.wait(), self._errors)
        self.close()
        return said


def stem() -> Stem:
    """A process to fork workers from."""
    return Stem(inherited(ALONE))


def inherited(more: Mapping[str, str]) -> dict[str, str]:
    """This process's environment and ``more``, for a process that imports this superopt."""
    root = str(Path(superopt.__file__).parent.parent)
    path = os.pathsep.join(p for p in (root, os.environ.get("PYTHONPATH", "")) if p)
    return {**os.environ, "PYTHONPATH": path, **more}


def epitaph(code: int, errors: IO[bytes]) -> str:
    """How a process ended, by its exit code and the last line of its error output."""
    how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return f"the process ended with {how}" + (f": {lines[-1].strip()}" if lines else "")
