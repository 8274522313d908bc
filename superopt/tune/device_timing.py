"""Timing by CUDA graphs and device events, for kernels that passed their checks."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence

import torch

from superopt.tune.bench import GRAPH
from superopt.tune.bench import Call
from superopt.tune.bench import Contender
from superopt.tune.bench import interleaved
from superopt.tune.bench import rotated_sets
from superopt.tune.clock import CudaClock
from superopt.tune.request import Effort
from superopt.tune.series import Series

MEMORY_SHARE = 4  # all sets of inputs together take at most this part of the free memory


class DeviceTiming:
    """Times on the current CUDA device, as replays of CUDA graphs."""

    def __init__(self) -> None:
        self._clock = CudaClock()

    def sets(self, set_bytes: int) -> int:
        """As many sets as push a call's inputs past the L2."""
        free, _ = torch.cuda.mem_get_info()
        l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
        return rotated_sets(set_bytes, l2_bytes, free // MEMORY_SHARE)

    def interleaved(self, calls: Mapping[str, Sequence[Call]], effort: Effort) -> dict[str, Series]:
        """All of them once a round."""
        contenders = [Contender(name, tuple(c)) for name, c in calls.items()]
        return interleaved(contenders, effort.rounds, GRAPH, self._clock, least_us=effort.least_us)
