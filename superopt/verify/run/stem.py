"""A process that has imported torch, from which workers fork: so that torch is imported once.

Its import takes longer than all else that a worker does before its first request. triton is left
to the workers, because it decides when it is imported whether it interprets; and the process does
nothing but import and fork, so it has one thread and no device.

The fork server of ``multiprocessing`` is none of this: there is one for a whole program, with one
environment and one error output, nothing but the program's end closes it, and every process that
it forks imports the program's main module again.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.connection import Pipe
from multiprocessing.reduction import recv_handle
from multiprocessing.reduction import send_handle

from superopt.closing import Closing
from superopt.errors import SuperoptError

PROGRAM = "from superopt.verify.run.stem import main; main()"
STREAMS = 3  # of a process: input, output, errors


class StemError(SuperoptError):
    """The process that workers fork from has ended."""


@dataclass(frozen=True)
class Fork:
    """Asks for a process that runs ``module`` (its ``main``) in ``environment``; its streams come
    with the message. The reply is its id."""

    module: str
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Wait:
    """Asks for the exit code of a process that has ended or is about to (negative: a signal)."""

    pid: int


class Stem(Closing):
    """The process, seen from its parent. It is started by ``start``, or by what is first asked.

    ``environment``: its own, which decides what torch makes of itself; every worker has another.
    Once it has ended there is no other one.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._lock = threading.Lock()
        self._open: tuple[subprocess.Popen[bytes], Connection] | None = None
        self._ended = False

    def start(self) -> None:
        """Starts the process; it imports in the background."""
        with self._lock:
            self._started()

    def _started(self) -> tuple[subprocess.Popen[bytes], Connection]:
        if self._ended:
            raise StemError("it has ended")
        if self._open is None:
            ours, theirs = Pipe()
            with theirs:
                process = subprocess.Popen(
                    [sys.executable, "-c", PROGRAM, str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,  # workers of their own say what is wrong
                    env=self._environment,
                    start_new_session=True,  # an interrupt by keyboard is the parent's to handle
                )
            self._open = process, ours
        return self._open

    def ask(self, request: Fork | Wait, streams: Sequence[int] = ()) -> int:
        """The reply: of ``Fork`` (with the ``STREAMS`` file descriptors that the new process gets)
        its id, of ``Wait`` its exit code.

        Raises:
            StemError: there is no process any more.
        """
        with self._lock:
            process, connection = self._started()
            try:
                connection.send(request)
                for stream in streams:
                    send_handle(connection, stream, process.pid)
                return int(connection.recv())
            except (EOFError, OSError) as error:
                self._end()
                raise StemError("it has ended") from error
            except BaseException:  # an interrupt: the reply would be taken for the next one's
                self._end()
                raise

    def close(self) -> None:
        """Ends the process; its workers end when it has gone."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        self._ended = True
        if self._open is not None:
            process, connection = self._open
            self._open = None
            process.kill()
            process.wait()
            connection.close()


class Forked:
    """A process that a stem forked, as far as it is used like ``subprocess.Popen``.

    Raises:
        StemError: there is none to fork from.
    """

    def __init__(self, stem: Stem, request: Fork, errors: int) -> None:
        self._stem = stem
        self._code: int | None = None
        theirs, ours = os.pipe(), os.pipe()
        self.stdin, self.stdout = os.fdopen(theirs[1], "wb"), os.fdopen(ours[0], "rb")
        try:
            self.pid = stem.ask(request, (theirs[0], ours[1], errors))
        except BaseException:
            self.stdin.close()
            self.stdout.close()
            raise
        finally:
            os.close(theirs[0])
            os.close(ours[1])

    def kill(self) -> None:
        """Ends it, if it has not ended."""
        if self._code is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
            except ProcessLookupError:  # the stem has gone, and with it this one
                self._code = -signal.SIGKILL

    def wait(self) -> int:
        """Its exit code (negative: a signal) once it has ended."""
        if self._code is None:
            try:
                self._code = self._stem.ask(Wait(self.pid))
            except StemError:  # workers end when their stem has gone
                self._code = -signal.SIGKILL
        return self._code


def serve(connection: Connection) -> None:
    """Forks and waits until the other side is gone."""
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        match request:
            case Fork():
                streams = [recv_handle(connection) for _ in range(STREAMS)]
                if (pid := os.fork()) == 0:
                    connection.close()
                    _become(request, streams)
                for stream in streams:
                    os.close(stream)
                connection.send(pid)
            case Wait(pid=pid):
                connection.send(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            case _:
                raise TypeError(f"no such request: {type(request).__name__}")


def _become(request: Fork, streams: list[int]) -> None:
    """The rest of a forked process."""
    code = 1
    try:
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.environ.clear()
        os.environ.update(request.environment)
        importlib.import_module(request.module).main()
        code = 0
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        sys.stderr.flush()
        os._exit(code)


def main() -> None:
    """Imports torch, then forks what is asked for."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # its parent ends it, and with it what it forked
    import torch

    torch.set_num_threads(1)
    serve(Connection(int(sys.argv[1])))
