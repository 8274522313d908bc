"""Which Configs are also worth trying with tensor descriptors in place of pointers."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from superopt.device import Device
from superopt.ugraph.described import aligned
from superopt.ugraph.described import described
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config

LEAST_CAPABILITY = 90  # the first architecture with an engine for such copies


def described_configs(
    runs: Sequence[BlockGraph],
    configs: Sequence[Config],
    sizes: Mapping[str, int],
    dtype: str,
    device: Device,
    tf32: bool = False,
) -> tuple[Config, ...] | None:
    """``configs`` of the launches ``runs``, with descriptors where those can be had at ``sizes``.

    None if no launch can: the target has no such copies, no tensor lies as they need it, or its
    products are of fp32 in full precision, whose operands do not stay in shared memory.
    """
    if device.capability < LEAST_CAPABILITY:
        return None
    found = []
    for run, config in zip(runs, configs, strict=True):
        tensors = described(run)
        reached = all(aligned(t, sizes, dtype) for t in tensors) and not any(
            (t.dtype or dtype) == "fp32" and not tf32 for t in tensors
        )
        found.append(replace(config, descriptors=bool(tensors) and reached))
    return tuple(found) if any(c.descriptors for c in found) else None
