"""The device, seen from the parent: kernels one at a time, in a process that may die of them."""

from __future__ import annotations

from collections.abc import Sequence

from superopt.closing import Closing
from superopt.errors import SuperoptError
from superopt.tune.request import Compare
from superopt.tune.request import Effort
from superopt.tune.request import Entry
from superopt.tune.request import Measure
from superopt.tune.request import Pace
from superopt.tune.request import Prepare
from superopt.tune.request import Reply
from superopt.tune.request import Setting
from superopt.verify.run.process import Worker
from superopt.verify.run.process import WorkerError

MODULE = "superopt.tune.device_worker"
PREPARE_SECONDS = 240.0  # inputs, and a float64 reference of some positions
MEASURE_SECONDS = 60.0  # loading from the compiler's cache, two checked runs, a few timed ones
COMPARE_SECONDS = 180.0


class NotPrepared(SuperoptError):  # noqa: N818
    """The inputs of a case cannot be made on this device, or have no reference there."""


class DeviceBench(Closing):
    """Runs kernels in one process, kept from kernel to kernel because its start takes seconds.

    ``module``: what the process runs. ``environment``: added to this process's. A kernel that
    crashes, hangs (past ``seconds``) or breaks the device context costs itself only: the process is
    replaced, and the inputs are made again before the next one.
    """

    def __init__(
        self,
        module: str = MODULE,
        environment: dict[str, str] | None = None,
        seconds: float = MEASURE_SECONDS,
        on: str = "cuda",
    ) -> None:
        self._worker = Worker({"TRITON_INTERPRET": "0", **(environment or {})}, module)
        self._ready: Setting | None = None
        self._seconds = seconds
        self.on = on  # torch's name of the device
        self.replaced = 0  # processes

    def start(self) -> None:
        """Starts the process ahead of time."""
        self._worker.start()

    def measure(
        self, setting: Setting, entry: Entry, effort: Effort, pace: Pace | None = None
    ) -> Reply:
        """Checks one kernel on the device and times it, alone or in turns with ``pace``.

        Raises:
            NotPrepared: the case cannot be run here at all.
        """
        self._prepare(setting)
        try:
            request = Measure(setting, entry, effort, pace)
            reply: Reply = self._worker.request(request, self._seconds)
        except WorkerError as died:
            self._replace()
            return Reply("run", str(died), broken=True)
        if reply.broken:
            self._replace()
        return reply

    def compare(
        self, setting: Setting, entries: Sequence[Entry], rounds: int, pace: Pace | None = None
    ) -> dict[str, Reply]:
        """Checks ``entries`` again and times them interleaved.

        If the process does not survive that, each is measured alone, which finds the culprit.

        Raises:
            NotPrepared: the case cannot be run here at all.
        """
        self._prepare(setting)
        try:
            replies: dict[str, Reply] = self._worker.request(
                Compare(setting, tuple(entries), rounds, pace), COMPARE_SECONDS
            )
        except WorkerError:
            self._replace()
            alone = Effort(rounds, 1000.0)
            return {e.name: self.measure(setting, e, alone, pace) for e in entries}
        if any(r.broken for r in replies.values()):
            self._replace()
        return replies

    def _prepare(self, setting: Setting) -> None:
        if self._ready == setting:
            return
        self._ready = None
        try:
            reply: Reply = self._worker.request(Prepare(setting), PREPARE_SECONDS)
        except WorkerError as died:
            self._replace()
            raise NotPrepared(f"inputs and reference: {died}") from died
        if reply.why:
            self._replace()
            raise NotPrepared(reply.why)
        self._ready = setting

    def _replace(self) -> None:
        """The next request gets a fresh process."""
        self._worker.close()
        self._ready = None
        self.replaced += 1

    def close(self) -> None:
        """Ends the process."""
        self._worker.close()
