"""All tuning of one run: the store, the device's process, and trials shared between its cases."""

from __future__ import annotations

import os
from pathlib import Path

from superopt.closing import Closing
from superopt.device import Device
from superopt.errors import UserError
from superopt.tune.device_bench import DeviceBench
from superopt.tune.machine import here
from superopt.tune.outcome import Tuned
from superopt.tune.past import Past
from superopt.tune.record import Machine
from superopt.tune.space import Job
from superopt.tune.store import Store
from superopt.tune.tuner import Compiles
from superopt.tune.tuner import Means
from superopt.tune.tuner import Tuning
from superopt.tune.tuner import Watches

TRIALS = 150  # Configs of one run, by default
JOBS_MOST = 16


class Session(Closing):
    """Tunes one case after the other with at most ``trials`` Configs in all.

    ``interrupted``: a case was broken off; what it had finished is in its result and in the
    store.
    """

    def __init__(
        self,
        store: Path,
        machine: Machine,
        device: Device,
        trials: int = TRIALS,
        seed: int = 0,
        bench: DeviceBench | None = None,
    ) -> None:
        self.store = Store(store)
        self.machine, self.device, self.seed = machine, device, seed
        self.bench = bench or DeviceBench()
        self.left = trials
        self.interrupted = False

    def start(self) -> None:
        """Starts the device's process ahead of time."""
        self.bench.start()

    def tune(
        self, job: Job, cases: int, compiler: Compiles, directory: Path, watcher: Watches
    ) -> Tuned:
        """Tunes ``job``, the first of ``cases`` that are left; its files go into ``directory``."""
        part = -(-self.left // max(1, cases))
        means = Means(self.bench, compiler, self.device, directory, self.seed, self.bench.on)
        tuning = Tuning(job, means, Past(self.store, self.machine), part, watcher)
        try:
            found = tuning.run()
        except KeyboardInterrupt:
            self.interrupted = True
            self.bench.close()
            found = tuning.result()
        self.left -= min(part, len(found.measured))
        return found

    def close(self) -> None:
        """Ends the process and the use of the store."""
        self.bench.close()
        self.store.close()


def cores() -> int:
    """How many compilers may work at once while kernels are timed."""
    return min(JOBS_MOST, len(os.sched_getaffinity(0)))


def local(device: Device) -> Machine:
    """This machine, if kernels for ``device`` run on its GPU.

    Raises:
        UserError: there is no GPU, or one of another architecture.
    """
    import torch

    machine = here()
    found = "sm_{}{}".format(*torch.cuda.get_device_capability())
    if found != device.arch:
        raise UserError(
            f"the GPU here, {machine.gpu}, is {found}; the search was for {device.name}, "
            f"{device.arch}: search again with --target auto"
        )
    return machine
