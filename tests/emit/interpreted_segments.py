"""Runs the walks of ``segment_cases`` in Triton's interpreter; prints as ``interpreted`` does.

Usage: python -m tests.emit.interpreted_segments DIRECTORY.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"

import torch

from tests.emit.harness import compare
from tests.emit.harness import inputs
from tests.emit.harness import load
from tests.emit.segment_cases import SEGMENTS
from tests.emit.segment_cases import Tiled

INTEGERS = {"length": (-5, 25), "first": (-9, 25)}


def arguments(case: Tiled, sizes: dict[str, int], seed: int) -> list[Any]:
    """Random inputs; integers reach below 0 and past the end, some as far as they can."""
    found = inputs(case, sizes, "fp32", seed)
    for index, param in enumerate(case.program.params):
        if param.name in INTEGERS:
            drawn = torch.randint(*INTEGERS[param.name], found[index].shape)
            if param.name == "length" and seed:
                drawn[:1] = 2**40
            found[index] = drawn.to(found[index].dtype)
    return found


def runs(module: ModuleType, case: Tiled, nan: bool) -> None:
    function = getattr(module, case.program.name)
    for number, sizes in enumerate(case.sizes[:1] if nan else case.sizes):
        given = arguments(case, sizes, number % 2)
        if nan and given[0].numel():
            given[0].view(-1)[:: max(2, given[0].numel() // 3)] = float("nan")
        wanted = module.reference(*given, dtype=torch.float64)
        for index, graph in enumerate(case.graphs):
            for configs in case.tiled(graph):
                launches = [module.Launch(dict(c.tiles), c.parts, c.warps, 2) for c in configs]
                plan = module.Plan("test", index, tuple(launches), {})
                what = f"{sizes}, graph {index}, {configs[0].tiles}"
                compare(function(*given, plan=plan), wanted, 3e-6, what)


def main(directory: Path) -> None:
    verdicts: dict[str, str] = {}
    warnings.filterwarnings("ignore", ".* remains that of")  # all have one name
    for name, make in SEGMENTS.items():
        case = make()
        module = load(case.text(), directory / f"segments_{name}.py")
        for nan in (False, True):
            try:
                runs(module, case, nan)
                said = ""
            except Exception:
                said = traceback.format_exc(limit=-8)
            verdicts[f"{name}-{'nan' if nan else 'numbers'}"] = said
    (directory / "verdicts.json").write_text(json.dumps(verdicts))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
