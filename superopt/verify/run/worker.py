"""The process that runs, compiles or reads printed kernels, so that a crash costs one job only.

Started by ``process.Worker``. It reads pickled requests from its standard input and answers each
on its standard output. What a kernel prints goes to standard error. torch and triton are imported
by the first request that needs them; nothing else beyond numpy is.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import IO
from typing import Any

from superopt.verify.run.trial import CompileRequest
from superopt.verify.run.trial import ReadRequest
from superopt.verify.run.trial import RunRequest
from superopt.verify.tasks import Task

LENGTH = struct.Struct("<Q")  # the bytes of a message precede it


def send(channel: IO[bytes], message: object) -> None:
    """Writes one message."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    channel.write(LENGTH.pack(len(data)))
    channel.write(data)
    channel.flush()


def receive(channel: IO[bytes]) -> Any:
    """Reads one message; EOFError when the other side is gone."""
    head = channel.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    data = channel.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)


def answer(request: object) -> object:
    """The reply to one request."""
    match request:
        case RunRequest():
            from superopt.verify.run.run_kernel import run

            return run(request)
        case CompileRequest():
            from superopt.verify.run.compile_kernel import compile_launch

            return compile_launch(request)
        case ReadRequest():
            from superopt.verify.run.read_roles import read

            return read(request)
        case Task():
            from superopt.verify import readings

            return readings.answer(request)
        case str():  # used to load the heavy modules before they are needed
            import torch
            import triton  # noqa: F401

            torch.set_num_threads(1)
            return request
        case _:
            raise TypeError(f"no such request: {type(request).__name__}")


def _end_with(parent: int) -> None:
    """Ends this process when its parent has gone, even if a kernel hangs."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def serve(answer: Callable[[object], object]) -> None:
    """Answers requests until standard input ends."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    # A job's end is told to all of its processes; this one's parent ends it when it is done.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    warnings.simplefilter("ignore")  # overflows in interpreted arithmetic are values
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    while True:
        try:
            request = receive(sys.stdin.buffer)
        except EOFError:
            return
        send(replies, answer(request))


def main() -> None:
    """Runs and compiles what is asked for."""
    serve(answer)


if __name__ == "__main__":
    main()
