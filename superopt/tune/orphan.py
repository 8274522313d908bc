"""A process that must not outlive the one that started it, even while a kernel hangs."""

from __future__ import annotations

import os
import signal
import threading
import time

EVERY = 0.5  # seconds between two looks


def end_with_parent() -> None:
    """Ends this process, with its whole process group, when its parent has gone.

    The process leads a group of its own (``start_new_session``), in which compilers may run.
    """
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(EVERY)
    os.killpg(os.getpgid(0), signal.SIGKILL)
