"""What checks of printed files need: to load one, to make its inputs, to compare its outputs.

Imported by the scripts that run printed files, which set TRITON_INTERPRET before.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from superopt.ugraph.node import Scalar
from superopt.ugraph.scalar import Kind
from tests.emit.cases import Printed

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "int8": torch.int8}
DTYPES |= {"int32": torch.int32, "int64": torch.int64, "bool": torch.bool}
LIMITS = {"fp32": 3e-6, "fp16": 1.5e-3}


def load(text: str, path: Path) -> ModuleType:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def inputs(case: Printed, sizes: dict[str, int], dtype: str, seed: int = 0) -> list[Any]:
    torch.manual_seed(seed)
    found: list[Any] = []
    for param in case.program.params:
        if isinstance(param, Scalar):
            found.append(case.scalars[param.name])
            continue
        shape = [sizes[a] for a in param.order]
        match param.kind:
            case Kind.REAL:
                found.append((1.5 * torch.randn(shape)).to(DTYPES[param.dtype or dtype]))
            case Kind.INT:
                found.append(torch.randint(-3, 9, shape).to(DTYPES[param.dtype or "int32"]))
            case Kind.BOOL:
                found.append(torch.rand(shape) < 0.6)
    return found


def compare(found: Any, wanted: Any, limit: float, what: str) -> None:
    found = found if isinstance(found, tuple) else (found,)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    for index, (a, b) in enumerate(zip(found, wanted, strict=True)):
        assert a.shape == b.shape, f"{what}: output {index} has shape {a.shape}, not {b.shape}"
        a, b = a.double(), b.double()
        for test in (torch.isnan, torch.isposinf, torch.isneginf):
            assert bool((test(a) == test(b)).all()), f"{what}: output {index}: {test.__name__}"
        a, b = torch.nan_to_num(a, 0, 0, 0), torch.nan_to_num(b, 0, 0, 0)
        scale = max(float(b.norm()), 1e-30)
        error = float((a - b).norm()) / scale
        assert error <= limit, f"{what}: output {index} has error {error:.2e} > {limit:.1e}"


def plans(module: ModuleType, case: Printed) -> list[Any]:
    found = []
    for index, graph in enumerate(case.graphs):
        configs = case.configs(graph)
        launch = tuple(module.Launch(dict(c.tiles), c.parts, c.warps, c.stages) for c in configs)
        found.append(module.Plan("test", index, launch, {}))
    return found
