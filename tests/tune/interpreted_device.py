"""In place of the device's process: kernels interpreted on the CPU, and invented figures.

The figure of a kernel follows from its Configs (``invented``), so that tests know what to expect;
it says nothing about any machine.
"""

from __future__ import annotations

from math import log2

from superopt.tune.device_worker import Jobs
from superopt.tune.series import Series
from superopt.verify.run.lean import leanly
from superopt.verify.run.reductions import by_slices
from superopt.verify.run.worker import serve


def invented(launches):
    """Microseconds: least with 2 warps and tiles of 32."""
    far = sum(abs(log2(c.warps / 2)) + sum(abs(log2(n / 32)) for _, n in c.tiles) for c in launches)
    return 100.0 + far


class Invented:
    """Makes every call once, which must not fail, and invents its time."""

    def sets(self, set_bytes):
        return 2

    def interleaved(self, calls, effort):
        found = {}
        for name, each in calls.items():
            for call in each:
                call()
            us = invented(each[0].entry.launches)
            found[name] = Series(name, (us,) * effort.rounds)
        return found


def main():
    by_slices()
    leanly()
    serve(Jobs(Invented()).answer)


if __name__ == "__main__":
    main()
