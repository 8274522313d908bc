"""In place of the device's process: one that dies, hangs or answers, as the kernel's name says."""

from __future__ import annotations

import os
import time

from superopt.tune.record import Figures
from superopt.tune.request import Compare
from superopt.tune.request import Measure
from superopt.tune.request import Prepare
from superopt.tune.request import Reply
from superopt.verify.run.worker import serve

prepared = 0


def answer(request):
    global prepared
    match request:
        case str():
            return request
        case Prepare(setting=setting):
            if setting.seed == 13:
                raise MemoryError
            if setting.seed == 14:
                return Reply("run", "no reference", broken=True)
            prepared += 1
            return Reply()
        case Measure(entry=entry):
            return one(entry.name)
        case Compare(entries=entries):
            return {e.name: one(e.name) for e in entries}


def one(name):
    match name:
        case "crash":
            os._exit(9)
        case "hang":
            time.sleep(1000)
        case "memory":
            raise MemoryError("no more")
        case "illegal":
            return Reply("run", "an illegal memory access was encountered", broken=True)
    # A fresh process has prepared once; figures tell how often.
    return Reply(figures=Figures(float(os.getpid()), prepared, prepared, 1))


if __name__ == "__main__":
    serve(answer)
