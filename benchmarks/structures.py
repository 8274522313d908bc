"""What the candidates of a run are, computed from the graphs in its run.json.

    python benchmarks/structures.py runs/attention/run.json [...]

One line a verified candidate: case, stage, kernels and walks.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.structure import structure
from superopt.ugraph.text import parse


def main() -> int:
    for name in sys.argv[1:]:
        record = json.loads(Path(name).read_text())
        for case in record["cases"]:
            winner = (case["winner"] or {}).get("digest")
            for candidate in case["candidates"]:
                if candidate["stage"] != "verified":
                    continue
                graph = parse(candidate["graph"])
                assert isinstance(graph, KernelGraph)
                mark = "winner" if candidate["digest"] == winner else "      "
                words = " | ".join(structure(graph))
                us = candidate["model_us"]
                print(f"{record['name']:<16}{case['name']:<12}{mark} {us:>10.1f} us  {words}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
