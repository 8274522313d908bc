"""Compiles the walks of ``segment_cases`` ahead of time; prints as ``compiled`` does.

Usage: python -m tests.emit.compiled_segments DIRECTORY.
"""

from __future__ import annotations

import json
import sys
import traceback
import warnings
from pathlib import Path
from types import ModuleType

from superopt.emit.ahead import launch_specs
from tests.emit.compiled import build
from tests.emit.compiled import load
from tests.emit.segment_cases import COMPILED
from tests.emit.segment_cases import SEGMENTS
from tests.emit.segment_cases import Tiled


def compiles(module: ModuleType, case: Tiled) -> None:
    """Sizes of 1 are constants of the compiler, and tiles that divide leave a loop out."""
    for size in (1, 64, 70):
        for index, graph in enumerate(case.graphs):
            configs = case.tiled(graph)[-1]
            sizes = {**case.sizes[0], "m": size, "n": size}
            for spec in launch_specs(graph, configs, sizes, "bf16", index=index):
                build(module, spec, 90)


def main(directory: Path) -> None:
    verdicts: dict[str, str] = {}
    warnings.filterwarnings("ignore", ".* remains that of")
    for name in COMPILED:
        case = SEGMENTS[name]()
        module = load(case.text(), directory / f"compiled_{name}.py")
        try:
            compiles(module, case)
            verdicts[name] = ""
        except Exception:
            verdicts[name] = traceback.format_exc(limit=-8)
    (directory / "verdicts.json").write_text(json.dumps(verdicts))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
