"""The texts that are mutated: one of each kind of kernel, with tiles that differ."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.mutate.outcome import Subject
from superopt.ugraph.levels import Config
from superopt.ugraph.payload import with_payloads
from superopt.verify.source.load import read_text
from tests.emit.cases import CASES
from tests.mutate.thresholds import thresholds_case

# (case, graph): what it is an example of.
SUBJECTS = {
    ("attention", 0): "repaired",
    ("attention", 1): "split-k",
    ("causal", 0): "masked",
    ("packed", 1): "packed",
    ("columns", 0): "packed columns",
    ("softmax", 0): "two walks",
    ("softmax", 1): "single pass",
    ("rms", 0): "matmul",
    ("rms", 2): "matmul, split-k",
    ("nested", 0): "nested",
    ("nested_split", 0): "nested, split-k",
    ("window", 0): "window, two outputs",
    ("layer_norm", 0): "rank two",
    ("decode", 0): "decode, split-k",
    ("two_kernels", 0): "three kernels",
    ("scans", 1): "scans",
    ("distances", 0): "distances of positions",
    ("integers", 0): "whole numbers",
    ("listing", 4): "lists of the best",
    ("taking", 0): "payloads of a list",
    ("thresholds", 0): "comparisons of data",
}


@cache
def subject(name: str, graph: int) -> Subject:
    """The text of one graph of a case, alone in its file."""
    case = thresholds_case() if name == "thresholds" else CASES[name]()
    found = replace(case, graphs=(case.graphs[graph],))
    configs = tuple(map(_unequal, found.configs(found.graphs[0])))
    rows = [Row("case0", 0, configs, tuple(found.sizes[0].items()))]
    text = emit(found.program, found.graphs, rows, Header("the spec", "the derivation"))
    program = with_payloads(found.program)
    return Subject(f"{name} {graph}", read_text(text), program, found.graphs[0])


def _unequal(config: Config) -> Config:
    """The same with another tile for each axis."""
    tiles = tuple((a, tile << i) for i, (a, tile) in enumerate(config.tiles))
    return replace(config, tiles=tiles)
