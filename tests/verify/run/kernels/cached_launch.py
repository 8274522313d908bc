"""Compiles a launch ahead of time, then launches it on a driver that only looks like one.

Prints the number of entries of Triton's cache after each. Rows are ``even`` (multiples of 16) or
``odd``, for a launch is specialised on that.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import torch
from triton.backends.compiler import GPUTarget
from triton.runtime.driver import driver
from triton.runtime.jit import JITFunction
from triton.runtime.jit import MockTensor

from superopt.case import Case
from superopt.case import bind
from superopt.emit.ahead import launch_specs
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.ugraph.levels import Config
from superopt.verify.run.compile_kernel import facts_of
from superopt.verify.run.run_kernel import load
from tests import samples

SIZES = {"even": (48, 4096, 64), "odd": (37, 1000, 20)}
CONFIGS = (Config((("m", 16), ("n", 32), ("k", 32)), 1, 4, 2),)


class Driver:
    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0


def entries():
    return sum(p.is_dir() for p in Path(os.environ["TRITON_CACHE_DIR"]).iterdir())


def main():
    m, k, n = SIZES[sys.argv[1]]
    case = bind(Case("c", m=m, k=k, n=n), ("m", "k", "n"), {}, "bf16")
    graph, program = samples.rms_linear_one_walk(), samples.rms_linear()
    row = Row("c", 0, CONFIGS, tuple(case.sizes.items()))
    file = Path(tempfile.mkdtemp()) / "kernel.py"
    file.write_text(emit(program, [graph], [row], Header()))
    module = load(str(file))
    (spec,) = launch_specs(graph, CONFIGS, case.sizes, "bf16")
    facts_of(module, spec, "sm_90")
    print(entries())
    driver.set_active(Driver())
    launch = JITFunction.run

    def compiled_only(self, *arguments, grid, warmup, **options):
        mocked = [MockTensor(a.dtype) if isinstance(a, torch.Tensor) else a for a in arguments]
        return launch(self, *mocked, grid=grid, warmup=True, **options)

    JITFunction.run = compiled_only
    tensors = [
        torch.empty(tuple(case.sizes[a] for a in p.order), dtype=torch.bfloat16, device="meta")
        for p in (*program.params, *program.outputs)
    ]
    module._run_g0(module.PLANS[0], torch.bfloat16, *tensors, m, k, n)
    print(entries())


if __name__ == "__main__":
    main()
