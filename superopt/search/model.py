"""How long a kernel graph should take on a device: a roofline with programs on it.

Per launch the time is the largest of what four resources need, plus the launch itself (and
a little of the others, which decides between Configs that tie):

* ``dram``: unique bytes, and bytes that come again because they fell out of the L2, over the
  bandwidth; the bandwidth is only reached with enough bytes in flight (Little's law).
* ``l2``: all bytes of all programs, over the L2's rate.
* ``sm``: matrix, special and ordinary operations. The longest counts fully, the others by
  ``HIDDEN``, because one program's instructions do not overlap perfectly.
* ``latency``: the tiles that one program walks one after another, each at least a fixed time.

``l2`` and ``sm`` are spread over multiprocessors in whole programs: 133 programs on 132 of
them take two rounds. Every term is at least what ``bounds.py`` says of it, and more resources
never make a launch slower.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from math import prod

from superopt.device import Device
from superopt.ugraph.cost import Cost
from superopt.ugraph.cost import launch_cost
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.split import launches

HIDDEN = 0.25  # share of a shorter pipe's time that its program cannot hide behind the longest
EDGE = 0.02  # share of the other resources' time that shows: where work starts and ends
TILE_US = 0.35  # one tile of a walk without any overlap: address, load from L2, reduce
START_US = 1.0  # the first load and the last store of a program
RESOURCES = ("dram", "l2", "matrix", "special", "plain", "latency")
LEAST_IN_FLIGHT = 512  # bytes: a warp's plain loads, however little they carry
BASE_REGISTERS = 40  # registers a thread needs for addresses and bookkeeping
FRAGMENT_REGISTERS = 36  # operands of a matrix instruction, where it reads registers
ORDINARY = 1.8  # registers for each one that is alive, where ordinary units compute products
MOST_REGISTERS = 255
THREADS = 32
STATIC_SHARED = 1024  # scratch of reductions


@dataclass(frozen=True)
class Estimate:
    """What the model says. ``us``: the whole graph; ``share_of_roofline``: the least time that
    parameters, outputs and matrix products need (``roofline``), over ``us``."""

    us: float
    share_of_roofline: float


@dataclass(frozen=True)
class Footprint:
    """What one program occupies. ``shared``: bytes; ``registers``: per thread."""

    shared: int
    registers: int

    def fits(self, device: Device) -> bool:
        """Whether a program can run at all without spilling much."""
        return self.shared <= device.shared_block and self.registers <= MOST_REGISTERS

    def resident(self, config: Config, device: Device) -> int:
        """Programs of one multiprocessor at a time."""
        by_shared = device.shared_sm // (self.shared + device.shared_reserved)
        used = min(max(self.registers, 32), MOST_REGISTERS) * THREADS * config.warps
        return max(
            1,
            min(by_shared, device.registers // used, device.warps // config.warps, device.blocks),
        )


def footprint(cost: Cost, config: Config, device: Device, tf32: bool = False) -> Footprint:
    """Estimated shared memory and registers of one program.

    Loads of a walk are buffered once a stage (before sm_90 the last one is not buffered);
    operands of products that stay, and computed right ones, are kept once. Values alive at
    once are spread over the program's threads; before sm_90 operands pass through registers.
    So do those of fp32 products (without ``tf32``), along the whole folded axis: one product
    reads them as it goes, but where a second one follows they are seen to pile up.
    """
    modern = device.capability >= 90
    buffers = max(1, config.stages if modern else config.stages - 1)
    base = BASE_REGISTERS + (FRAGMENT_REGISTERS if cost.products and not modern else 0)
    ordinary = 0 if tf32 else sum(p.dtype == "fp32" for p in cost.products)
    live = cost.live * (ORDINARY if ordinary > 1 else 1)
    return Footprint(
        shared=cost.shared_fixed + cost.shared_stage * buffers + STATIC_SHARED,
        registers=base + ceil(live / (4 * THREADS * config.warps)),
    )


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
        self.turns = _turns(cost) if cost.programs else []
        self._fetched: dict[int, float] = {}

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
        waves = -(-cost.programs // (device.sms * resident))
        chain = cost.steps / cost.longest if waves > 1 else cost.steps
        times = {
            "dram": 1e6 * (self.fetched(resident) + self.writes) / reached,
            "l2": 1e6 * uneven * (self.read + self.writes) / device.l2,
            "matrix": 1e6 * uneven * _matrix(cost, config) / self.rate,
            "special": 1e6 * uneven * cost.special / device.special,
            "plain": 1e6 * uneven * cost.plain / device.plain,
            "latency": waves * (START_US + chain * TILE_US / _stages(cost, config)),
        }
        units = [times["matrix"], times["special"], times["plain"]]
        computing = max(units) + HIDDEN * (sum(units) - max(units))
        shares = [times["dram"], times["l2"], computing, times["latency"]]
        longest = max(shares)
        times["launch"] = device.launch_us
        times["total"] = longest + EDGE * (sum(shares) - longest) + device.launch_us
        return times

    def fetched(self, resident: int) -> float:
        """Bytes that come from device memory: unique ones, and those that fell out of the L2.

        A tensor without grid axis ``a`` is read again along ``a``. It is still in the L2 if
        all that is read in between (one turn of the faster axes) fits there, or if the
        positions of ``a`` run at the same time. A later walk finds what an earlier one read
        if all programs that run at once leave it there.
        """
        if resident not in self._fetched:
            cost, l2 = self.cost, self.device.l2_bytes
            at_once = self.device.sms * resident
            kept = min(at_once, cost.programs) * self.read / cost.programs <= l2
            found: dict[str, float] = {}
            for read in cost.reads:
                times = 1.0
                for axis, count, faster, turn in self.turns:
                    if axis not in read.axes and turn > l2:
                        times *= max(1.0, count / max(1.0, at_once / faster))
                size = min(float(read.total), read.unique * times)
                before = found.get(read.tensor, 0.0)
                found[read.tensor] = max(before, size) if kept else before + size
            self._fetched[resident] = sum(found.values())
        return self._fetched[resident]


def _turns(cost: Cost) -> list[tuple[str, int, int, float]]:
    """Per grid axis, fastest first: its programs, the programs of all faster axes, and the bytes
    of distinct elements that these read."""
    found = []
    faster, turn = 1, cost.read / cost.programs
    slower = [a for a, _ in cost.grid]
    grid = dict(cost.grid)
    for axis, count in reversed(cost.grid):
        found.append((axis, count, faster, turn))
        slower.pop()
        faster *= count
        distinct = sum(r.unique / prod(grid[a] for a in slower if a in r.axes) for r in cost.reads)
        turn = min(distinct, turn * count)
    return found


def _matrix(cost: Cost, config: Config) -> float:
    """FLOP of the matrix products, each over the share of the rate that it reaches.

    A tile has a fixed cost that amounts to some 16 positions of the folded axis (64 of them
    reach the sustained rate); fewer than 64 rows do not fill an instruction of four warps;
    without stages the operands are waited for.
    """
    ready = (0.85 + 0.05 * min(config.stages, 3)) * (1.0 if config.warps >= 4 else 0.7)
    return (
        sum(
            p.flop / (min(1.0, 1.25 * p.depth / (p.depth + 16)) * (1.0 if p.rows >= 64 else 0.5))
            for p in cost.products
        )
        / ready
    )


def _stages(cost: Cost, config: Config) -> int:
    """Stages that are worth something: only loads of matrix products are pipelined."""
    return min(config.stages, 3) if cost.products else 1


def _in_flight(cost: Cost, config: Config) -> int:
    """Bytes that one program has under way: what it loads at once, times its stages."""
    walks: dict[int | None, int] = {}
    for read in cost.reads:
        walks[read.walk] = walks.get(read.walk, 0) + read.in_flight
    loops = [b * max(1, _stages(cost, config) - 1) for w, b in walks.items() if w is not None]
    return max(LEAST_IN_FLIGHT, *loops, walks.get(None, 0))
