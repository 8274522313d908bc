"""The process that runs kernels on the device: one for all, replaced when a kernel breaks it.

Started by ``verify.run.process.Worker``. A request that kills it, hangs in it or poisons its
device context costs the kernel in hand; the parent starts a fresh one for the next. torch and
triton are imported by the first request.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from superopt.tune.bench import reason
from superopt.tune.request import Compare
from superopt.tune.request import Measure
from superopt.tune.request import Prepare
from superopt.tune.request import Reply
from superopt.tune.request import Setting
from superopt.verify.run.worker import serve

if TYPE_CHECKING:
    from superopt.tune.on_device import OnDevice
    from superopt.tune.on_device import Times


class Jobs:
    """Answers requests; holds the inputs and expected values of the setting in hand.

    ``timing``: how kernels are timed (tests replace it); None means by the device's clock.
    """

    def __init__(self, timing: Times | None = None) -> None:
        self._timing = timing
        self._setting: Setting | None = None
        self._held: OnDevice | None = None

    def answer(self, request: object) -> object:
        """The reply to one request."""
        match request:
            case str():  # used to load the heavy modules before they are needed
                import torch  # noqa: F401
                import triton  # noqa: F401

                return request
            case Prepare(setting=setting):
                return self._prepared(setting)
            case Measure(setting=setting, entry=entry, effort=effort, pace=pace):
                return self._on(setting).measure(entry, effort, pace)
            case Compare(setting=setting, entries=entries, rounds=rounds, pace=pace):
                return self._on(setting).compare(entries, rounds, pace)
            case _:
                raise TypeError(f"no such request: {type(request).__name__}")

    def _prepared(self, setting: Setting) -> Reply:
        """Whether the inputs fit and have a reference."""
        try:
            self._on(setting)
        except Exception as error:
            return Reply("run", f"inputs and reference: {reason(error)}", broken=True)
        return Reply()

    def _on(self, setting: Setting) -> OnDevice:
        from superopt.tune.on_device import OnDevice
        from superopt.tune.on_device import device_timing

        if self._held is None or self._setting != setting:
            self._held = None  # two settings may not fit the device at once
            gc.collect()
            self._held = OnDevice(setting, self._timing or device_timing())
            self._setting = setting
        return self._held


if __name__ == "__main__":
    serve(Jobs().answer)
