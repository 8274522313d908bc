"""Which Configs are also worth trying with programs numbered in groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from superopt.ugraph.counts import Cost
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.numbering import grouped

GROUP = 8  # tiles of the slower axis; with as many of the faster one some 64 programs share reads


def grouped_configs(
    runs: Sequence[BlockGraph], configs: Sequence[Config], costs: Sequence[Cost]
) -> tuple[Config, ...] | None:
    """``configs`` of the launches ``runs``, in groups where that can matter.

    It can for matrix products with several tiles along two grid axes, whose operands programs
    read again. None if no launch has one.
    """
    found = []
    for run, config, cost in zip(runs, configs, costs, strict=True):
        axes, grid = grouped(run), dict(cost.grid)
        many = axes is not None and all(grid[a] > 1 for a in axes)
        found.append(replace(config, group=GROUP) if many and cost.products else config)
    return tuple(found) if any(c.group > 1 for c in found) else None
