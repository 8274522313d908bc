"""The small kernel that ``superopt doctor`` tries a machine with: printed like every other one."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from superopt.emit.ahead import launch_specs
from superopt.emit.dialect import Dialect
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.source import Facts
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.parse import parse_as
from superopt.verify.run.compile_ahead import Compiler

PROGRAM = """program product
param x[m k]
param y[k n]
output out[m n] = add[k](mul(x[m k], y[k n]))
"""
GRAPH = """kernels product
param x[m k]
param y[k n]
output out
kernel 0
  place m Grid
  place k Loop
  place n Grid
  order m n
  walk k
    carry sum0 over m n by add of mul(x[m k], y[k n])
  store out[m n] = new(sum0[m n])
"""
TILES = (("m", 64), ("k", 64), ("n", 64))
SIZES = (("m", 128), ("k", 256), ("n", 128))
PLAIN = Config(TILES)
ROLES = Config(TILES, stages=2, consumers=1)
TARGETS = ("sm_80", "sm_90", "sm_100")
SECONDS = 300.0  # for one try
OK = "ok"

# With roles, on the device, and why the launcher did not take them, if so.
WITH_ROLES = """
import importlib.util, sys, torch
spec = importlib.util.spec_from_file_location("product", sys.argv[1])
file = importlib.util.module_from_spec(spec)
spec.loader.exec_module(file)
x = torch.randn(128, 256, device="cuda", dtype=torch.bfloat16)
y = torch.randn(256, 128, device="cuda", dtype=torch.bfloat16)
plan = next(p for p in file.PLANS if p.launches[0].consumers)
found, wanted = file.product(x, y, plan=plan).double(), x.double() @ y.double()
error = float((found - wanted).norm() / wanted.norm())
right = "ok" if error < 1e-2 else f"wrong by {error:.1e}"
print(file.TAKEN["product_g0_k0"] or right)
"""


@dataclass(frozen=True)
class Tried:
    """What came of a try: ``ok``, and the line that says it."""

    ok: bool
    said: str


def parsed() -> tuple[Program, KernelGraph]:
    """What is computed, and how."""
    return parse_as(Program, PROGRAM), parse_as(KernelGraph, GRAPH)


def write(directory: Path, dialect: Dialect = Dialect.TRITON) -> Path:
    """The kernel's file in ``directory``, with a plain plan and one with roles."""
    program, graph = parsed()
    rows = [Row("roles", 0, (ROLES,), SIZES, target="sm_90"), Row("plain", 0, (PLAIN,), SIZES)]
    file = directory / f"product_{dialect.value}.py"
    file.write_text(emit(program, [graph], rows, Header(), dialect=dialect))
    return file


def compiled(file: Path, compiler: Compiler, roles: bool) -> Tried:
    """The kernel compiled ahead of time: for every target, or with roles for sm_90."""
    (_, graph), config = parsed(), ROLES if roles else PLAIN
    specs = launch_specs(graph, (config,), dict(SIZES), "bf16")
    asked = ("sm_90",) if roles else TARGETS
    for target in asked:
        for answer in compiler.compile(file, specs, target):
            if not isinstance(answer, Facts):
                return Tried(False, f"{target}: {answer.why}")
    return Tried(True, ", ".join(asked))


def self_tested(file: Path, device: bool) -> Tried:
    """The file's own test: on the GPU, or by Triton's interpreter."""
    hidden = {} if device else {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    ok, lines = _ran([sys.executable, str(file)], hidden)
    tests = [line for line in lines if line.startswith(("ok ", "FAIL "))]
    right = sum(line.startswith("ok ") for line in tests)
    return Tried(ok, f"{right} of {len(tests)} calls right" if tests else lines[-1])


def with_roles(file: Path) -> Tried:
    """A call on the GPU that asks for roles."""
    ok, lines = _ran([sys.executable, "-c", WITH_ROLES, str(file)], {})
    return Tried(ok and lines[-1] == OK, lines[-1])


def _ran(command: list[str], more: dict[str, str]) -> tuple[bool, list[str]]:
    """Whether a command ended well, and the lines that it printed, at least one."""
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **more},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False, [f"no end after {SECONDS:.0f} s"]
    said = done.stdout if done.returncode == 0 else f"{done.stdout}\n{done.stderr}"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return done.returncode == 0, lines or [f"exit code {done.returncode}"]
