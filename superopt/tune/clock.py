"""The clock of a GPU: CUDA graphs, device events, and synchronised wall time."""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch

from superopt.tune.bench import Call


class CudaClock:
    """Times work on the current CUDA device."""

    def capture(self, calls: Sequence[Call]) -> Call:
        """Records ``calls`` in one CUDA graph and returns its replay.

        The calls have to be warm: what is compiled or allocated for good is so by now.
        """
        torch.cuda.synchronize()
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # libraries make their workspaces per stream
            calls[0]()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for call in calls:
                call()
        torch.cuda.synchronize()
        return graph.replay

    def device_us(self, run: Call) -> float:
        """Microseconds between two events around ``run``."""
        start, end = _event(), _event()
        torch.cuda.synchronize()
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        return 1e3 * float(start.elapsed_time(end))

    def wall_us(self, run: Call) -> float:
        """Microseconds of the host's clock from idle to idle."""
        torch.cuda.synchronize()
        begun = time.perf_counter()
        run()
        torch.cuda.synchronize()
        return 1e6 * (time.perf_counter() - begun)


def _event() -> torch.cuda.Event:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
