"""Records for tests."""

from __future__ import annotations

from dataclasses import replace

from superopt.source import Facts
from superopt.tune.record import Figures
from superopt.tune.record import Key
from superopt.tune.record import Machine
from superopt.tune.record import Outcome
from superopt.tune.record import Record
from superopt.ugraph.levels import Config

MACHINE = Machine("NVIDIA H200", "580.95.05", "2.11.0", "3.6.0", "0.1.0")
KEY = Key(
    program="p1",
    graph="g1",
    text="t1",
    configs=(Config((("n", 64), ("m", 128)), 2, 8, 3), Config((("m", 16),))),
    dialect="triton",
    sizes=(("m", 4096), ("n", 512)),
    strides="contiguous",
    dtype="bf16",
    tf32=False,
    scalars=(("scale", 0.125),),
    tolerance="contract",
    mode="graph",
    machine=MACHINE,
    integers=(("first", "segments 4"),),
)
FACTS = Facts("f_k0", "sm_90", 1024, 168, 0)
TIMED = Outcome("timed", "", "", Figures(12.5, 12.25, 13.0, 7), (1e-3, 4e-3), (FACTS,))
FAILED = Outcome("failed", "floats", "row 3: NaN", None, (float("nan"), 4e-3))


def timed(number: int, **changes: object) -> Record:
    """A record whose first Config and time say ``number``."""
    key = replace(KEY, configs=(Config((("n", number),)),), **changes)
    figures = Figures(float(number), float(number), float(number), 3)
    return Record(key, replace(TIMED, figures=figures), "2026-01-31T12:00:00+00:00")
