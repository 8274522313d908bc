"""Schedules that were found by search, printed: executed as threads, and compiled."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from superopt.emit.ahead import launch_specs
from superopt.emit.module import _constants
from superopt.emit.module import _helpers
from superopt.emit.module import print_graph
from superopt.emit.struct.dialect import IMPORTS
from superopt.emit.struct.kernel import print_threads
from superopt.source import SPILL_BYTES_MOST
from superopt.source import Facts
from superopt.threads.schedule.place import rescheduled
from superopt.threads.written import written
from superopt.verify.run.compile_kernel import facts_of
from tests.emit.harness import load
from tests.emit.struct.executed import error
from tests.emit.struct.executed import execute
from tests.emit.struct.executed import inputs
from tests.emit.struct.executed import wanted
from tests.emit.struct.test_launch import IMPORT_TRITON
from tests.emit.struct.test_launch import kernels_of
from tests.threads.cases import config
from tests.threads.schedule import cases

RAGGED = {"h": 1, "m": 150, "n": 270, "d": 40, "e": 24, "k": 300}
LIMIT = 5e-6


@pytest.mark.parametrize(
    ("name", "consumers"), [("matmul", 2), ("gated", 1), ("scaled", 2), ("causal", 2)]
)
def test_every_class_computes_what_the_graph_means(name, consumers):
    made, listed = cases.found(name, consumers, 3, 3)
    arrays = inputs(made.block, RAGGED)
    meant = wanted(made, arrays, RAGGED)
    for seed, schedule in enumerate(listed):
        graph = rescheduled(made, made.bodies[0], schedule)
        found = execute(graph, print_threads(graph, "f"), arrays, RAGGED, seed)
        assert error(found, meant) < LIMIT


def facts(tmp_path: Path, name: str, consumers: int, slots: int, tiles: str, which: int) -> Facts:
    """What the compiler says of a schedule; it refuses products that do not overlap."""
    made, listed = cases.found(name, consumers, slots, 3, tiles)
    word = written(replace(made.bodies[0], schedule=listed[which]), made.pipes)
    kernels = kernels_of(name)
    tiled = config(kernels.kernels[0], **getattr(cases, tiles))
    chosen = replace(tiled, consumers=consumers, stages=slots, schedule=word)
    (kernel,) = print_graph(kernels, 0, [((chosen,), "bf16")])
    (roles,) = kernel.roles
    text = f"{IMPORT_TRITON}{IMPORTS}{_constants([roles.kernel], '')}{_helpers([roles.kernel])}\n\n"
    module = load(text + roles.kernel.text, tmp_path / "roles.py")
    sizes = {"h": 2, "m": 4096, "n": 4096, "k": 4096} | {a: tiled.tile.get(a, 1) for a in "de"}
    (spec,) = launch_specs(kernels, (chosen,), sizes, "bf16")
    return facts_of(module, spec, "sm_90")


@pytest.mark.parametrize(
    ("name", "consumers", "slots", "tiles", "which"),
    [("matmul", 2, 4, "SQUARE", 0), ("matmul", 2, 4, "SQUARE", 1), ("plain", 2, 2, "WIDE", 0)],
)
def test_schedules_compile_without_spills(tmp_path, name, consumers, slots, tiles, which):
    assert facts(tmp_path, name, consumers, slots, tiles, which).spill_bytes <= SPILL_BYTES_MOST
