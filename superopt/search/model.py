"""How long a kernel graph should take on a device: a roofline with programs on it.

Per launch four resources need time, and the launch itself; together they take somewhat more than
the longest of them (a norm of order ``OVERLAP``):

* ``dram``: unique bytes, and bytes that come again because they fell out of the L2, over the
  bandwidth; the bandwidth is only reached with enough bytes in flight (Little's law).
* ``l2``: all bytes of all programs, and the sectors that are touched in vain, over the L2's rate.
* ``sm``: matrix, special and ordinary operations. The longest counts fully, the others by
  ``HIDDEN``, because one program's instructions do not overlap perfectly.
* ``latency``: the tiles that one program walks one after another, each with its loads' latency
  (as far as no stages hide it), its folds and its own operations.

``l2`` and ``sm`` are spread over multiprocessors in whole programs: 133 programs on 132 of
them take two rounds. Every term is at least what ``bounds.py`` says of it, and more resources
never make a launch slower. The constants are fitted to some 1,150 launches measured on an H200
(``docs/decisions/0023-the-model-is-fitted.md``).
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

from superopt.device import Device
from superopt.search.footprint import Footprint
from superopt.search.footprint import footprint
from superopt.search.turns import Turn
from superopt.search.turns import turns
from superopt.ugraph.cost import Cost
from superopt.ugraph.cost import launch_cost
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.split import launches

HIDDEN = 0.5  # share of a shorter pipe's time that its program cannot hide behind the longest
OVERLAP = 4  # order of the norm of the resources: 1 would add them up, infinity take the longest
FOLD_US = 0.04  # one fold across the lanes of a program
COMPUTED_US = 0.5  # a computed left operand on its way into a matrix product
WASTE = 5  # what a byte of a sector that is touched in vain costs the L2, in bytes
UNSTAGED = {1: 1.95, 2: 1.5}  # how much longer operations take where stages hide no loads
DEPTH = 32  # positions of the folded axis that a tile's fixed cost amounts to
NARROW = 0.24  # share of the matrix rate of products whose rows do not fill a wide instruction
CROWDED = 0.42  # and of those whose rows are fewer than the warps' instructions take
WIDE = 64  # rows of a matrix instruction of four warps
SMALL = (16, 8)  # rows and columns of one of one warp
RESOURCES = ("dram", "l2", "matrix", "special", "plain", "latency")
LEAST_IN_FLIGHT = 512  # bytes: a warp's plain loads, however little they carry


@dataclass(frozen=True)
class Estimate:
    """What the model says. ``us``: the whole graph; ``share_of_roofline``: the least time that
    parameters, outputs and matrix products need (``roofline``), over ``us``."""

    us: float
    share_of_roofline: float


def model(
    graph: KernelGraph,
    configs: Sequence[Config],
    sizes: Mapping[str, int],
    dtype: str,
    device: Device,
    tf32: bool = False,
) -> Estimate:
    """The estimate for ``graph`` with one Config for each of ``split.launches(graph)``."""
    costs = []
    lengths = dict(sizes)
    for block, config in zip(launches(graph), configs, strict=True):
        lengths |= {a: config.parts for a, _ in block.places if a not in sizes}
        costs.append(launch_cost(block, config, lengths, dtype))
    times = [
        Launch(cost, operand(dtype, tf32), device).times(config)
        for cost, config in zip(costs, configs, strict=True)
    ]
    return total(graph, times, costs, operand(dtype, tf32), device)


def total(
    graph: KernelGraph,
    times: Sequence[Mapping[str, float]],
    costs: Sequence[Cost],
    dtype: str,
    device: Device,
) -> Estimate:
    """The estimate of ``graph`` from the times and counts of each of its launches."""
    us = sum(t["total"] for t in times)
    return Estimate(us, min(1.0, roofline(graph, costs, dtype, device) / us))


def operand(dtype: str, tf32: bool) -> str:
    """The row of ``Device.matrix`` for a case's dtype."""
    return "tf32" if tf32 and dtype == "fp32" else dtype


def roofline(graph: KernelGraph, costs: Sequence[Cost], dtype: str, device: Device) -> float:
    """Microseconds for the parameters once, the outputs once, and the matrix products; no
    intermediates, no launch."""
    moved: dict[str, int] = {}
    for cost in costs:
        for tensor, size in (*cost.unique.items(), *cost.written.items()):
            moved[tensor] = max(size, moved.get(tensor, 0))
    kept = {p.name for p in graph.params} | set(graph.outputs)
    size = sum(b for tensor, b in moved.items() if tensor in kept)
    flop = sum(c.matrix for c in costs)
    return 1e6 * max(size / device.dram, flop / device.matrix_rate(dtype))


class Launch:
    """One launch at fixed tiles, priced for any number of warps and stages. ``dtype``: the row
    of the device's matrix rates (``operand``)."""

    def __init__(self, cost: Cost, dtype: str, device: Device) -> None:
        self.cost, self.device, self.tf32 = cost, device, dtype == "tf32"
        self.rate = device.matrix_rate(dtype)
        self.writes = sum(cost.written.values())
        self.read = cost.read
        self._turns: dict[int, tuple[Turn, ...]] = {}
        self._fetched: dict[tuple[int, int], float] = {}

    def times(self, config: Config, used: Footprint | None = None) -> dict[str, float]:
        """Microseconds per resource, and ``total``. ``used``: the footprint, if it is known."""
        cost, device = self.cost, self.device
        if not cost.programs:
            return dict.fromkeys(RESOURCES, 0.0) | {
                "launch": device.launch_us,
                "total": device.launch_us,
            }
        used = used or footprint(cost, config, device, self.tf32)
        resident = used.resident(config, device)
        # Whole programs, of which the longest one alone may take longest.
        rounds = -(-cost.programs // device.sms)
        uneven = max(rounds, cost.longest) * device.sms / cost.programs
        busy = min(device.sms, cost.programs)
        flying = _in_flight(cost, config) * min(resident, -(-cost.programs // busy)) * busy
        reached = min(device.dram, flying / (device.latency_us * 1e-6))
        staged = UNSTAGED.get(_stages(cost, config), 1.0) if cost.products else 1.0
        units = {
            "matrix": 1e6 * _matrix(cost, config) / self.rate,
            "special": 1e6 * cost.special / device.special,
            "plain": 1e6 * cost.plain / device.plain,
        }
        longest = max(units.values())
        computing = staged * (longest + HIDDEN * (sum(units.values()) - longest))
        times = {
            "dram": 1e6 * (self.fetched(resident, config.group) + self.writes) / reached,
            "l2": 1e6 * uneven * (self.read + self.writes + WASTE * cost.wasted) / device.l2,
            **{name: uneven * us for name, us in units.items()},
            "latency": self._latency(config, resident, computing),
            "launch": device.launch_us,
        }
        shares = [times["dram"], times["l2"], uneven * computing, times["latency"]]
        times["total"] = sum(s**OVERLAP for s in shares) ** (1 / OVERLAP) + device.launch_us
        return times

    def _latency(self, config: Config, resident: int, computing: float) -> float:
        """Microseconds of programs that run one after another on one multiprocessor, each alone
        on it. ``computing``: of all programs, spread evenly."""
        cost, device = self.cost, self.device
        stages = _stages(cost, config)
        walked, once = cost.folds
        tile = device.latency_us / (stages - 1 if stages > 1 else 0.5) + FOLD_US * walked
        tile += COMPUTED_US * sum(p.computed for p in cost.products)
        waves = max(1.0, cost.programs / (device.sms * resident))
        chain = cost.steps / cost.longest if waves > 1 else cost.steps
        alone = computing * device.sms / cost.programs
        return waves * (chain * tile + FOLD_US * once) + alone

    def fetched(self, resident: int, group: int = 1) -> float:
        """Bytes that come from device memory: unique ones, and those that fell out of the L2.

        A tensor without grid axis ``a`` is read again along ``a``. It is still in the L2 if
        all that is read in between (one turn of the faster axes) fits there, or if the
        positions of ``a`` run at the same time. A later walk finds what an earlier one read
        if all programs that run at once leave it there. ``group``: as in ``Config``.
        """
        if (resident, group) not in self._fetched:
            cost, l2 = self.cost, self.device.l2_bytes
            if group not in self._turns:
                self._turns[group] = turns(cost, group)
            at_once = self.device.sms * resident
            kept = min(at_once, cost.programs) * self.read / cost.programs <= l2
            found: dict[str, float] = {}
            for read in cost.reads:
                times = 1.0
                for turn in self._turns[group]:
                    if turn.axis not in read.axes and turn.read > l2:
                        times *= max(1.0, turn.count / max(1.0, at_once / turn.faster))
                size = min(float(read.total), read.unique * times)
                before = found.get(read.tensor, 0.0)
                found[read.tensor] = max(before, size) if kept else before + size
            self._fetched[resident, group] = sum(found.values())
        return self._fetched[resident, group]


def _matrix(cost: Cost, config: Config) -> float:
    """FLOP of the matrix products, each over the share of the rate that it reaches.

    A tile has a fixed cost that amounts to ``DEPTH`` positions of the folded axis (64 of them
    reach the sustained rate). Fewer than ``WIDE`` rows take the narrow instructions of single
    warps; warps beyond the rows (and columns) there are do work again.
    """
    found = 0.0
    for p in cost.products:
        share = min(1.0, p.columns / 32) * min(1.0, (1 + DEPTH / 64) * p.depth / (p.depth + DEPTH))
        if p.rows < WIDE:
            share *= NARROW
            share *= min(
                1.0, max(1, p.rows / SMALL[0]) * max(1, p.columns / SMALL[1]) / config.warps
            )
        elif config.warps < 4:
            share *= 0.7
        elif config.warps / 4 > p.rows / WIDE:
            share *= CROWDED
        found += p.flop / share
    return found


def _stages(cost: Cost, config: Config) -> int:
    """Stages that are worth something: only loads of matrix products are pipelined."""
    return min(config.stages, 4) if cost.products and cost.steps else 1


def _in_flight(cost: Cost, config: Config) -> int:
    """Bytes that one program has under way: what it loads at once, times its stages."""
    walks: dict[int | None, int] = {}
    for read in cost.reads:
        walks[read.walk] = walks.get(read.walk, 0) + read.in_flight
    loops = [b * max(1, _stages(cost, config) - 1) for w, b in walks.items() if w is not None]
    return max(LEAST_IN_FLIGHT, *loops, walks.get(None, 0))
