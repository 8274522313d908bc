"""Tunes slowly, for a test that kills it: ``python -m tests.tune.slow_tuning STORE DIRECTORY``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from superopt.device import target
from superopt.tune.past import Past
from superopt.tune.store import Store
from superopt.tune.tuner import Means
from superopt.tune.tuner import Tuning
from tests.tune.records import MACHINE
from tests.tune.tuning import Bench
from tests.tune.tuning import Compiler
from tests.tune.tuning import Watcher
from tests.tune.tuning import job


class Slow(Bench):
    def measure(self, setting, entry, effort, pace):
        time.sleep(0.05)
        return super().measure(setting, entry, effort, pace)


def main():
    store, directory = map(Path, sys.argv[1:3])
    means = Means(Slow(), Compiler(), target("h200"), directory)
    Tuning(job(), means, Past(Store(store), MACHINE), 36, Watcher()).run()


if __name__ == "__main__":
    main()
