"""How long a kernel graph should take on a device: a roofline with programs on it.

Per launch the time is the largest of what five resources need, plus the launch itself:

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
from math import prod

from superopt.device import Device
from superopt.ugraph.cost import Cost
from superopt.ugraph.cost import launch_cost
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.split import launches

HIDDEN = 0.25  # share of a shorter pipe's time that its program cannot hide behind the longest
TILE_US = 0.35  # one tile of a walk without any overlap: address, load from L2, reduce
START_US = 1.0  # the first load and the last store of a program
BASE_REGISTERS = 40  # registers a thread needs for addresses and bookkeeping
MOST_REGISTERS = 255
THREADS = 32
STATIC_SHARED = 1024  # scratch of reductions


@dataclass(frozen=True)
class Estimate:
    """What the model says. ``us``: the whole graph; ``by``: microseconds per resource, of all
    launches (they overlap within a launch, so they do not add up to ``us``);
    ``share_of_roofline``: the least time that the graph's tensors and operations need, over
    ``us``."""

    us: float
    by: tuple[tuple[str, float], ...]
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


def footprint(cost: Cost, config: Config) -> Footprint:
    """Estimated shared memory and registers of one program.

    Loads of a walk are buffered once a stage; operands of products that stay, and computed
    ones, are kept once. Values alive at once are spread over the program's threads.
    """
    stages = cost.shared_stage * max(1, config.stages)
    lanes = THREADS * config.warps
    return Footprint(
        shared=cost.shared_fixed + stages + STATIC_SHARED,
        registers=BASE_REGISTERS + -(-cost.live // (4 * lanes)),
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
        launch_times(cost, config, operand(dtype, tf32), device)
        for cost, config in zip(costs, configs, strict=True)
    ]
    return total(times, [ideal(c, operand(dtype, tf32), device) for c in costs])


def total(times: Sequence[Mapping[str, float]], ideals: Sequence[float]) -> Estimate:
    """The estimate of several launches from the times of each."""
    us = sum(t["total"] for t in times)
    by = tuple((k, sum(t[k] for t in times)) for k in times[0] if k != "total")
    return Estimate(us, by, min(1.0, sum(ideals) / us) if us else 1.0)


def operand(dtype: str, tf32: bool) -> str:
    """The row of ``Device.matrix`` for a case's dtype."""
    return "tf32" if tf32 and dtype == "fp32" else dtype


def ideal(cost: Cost, dtype: str, device: Device) -> float:
    """The roofline of one launch in microseconds: every byte once, all units busy."""
    return 1e6 * max(
        (cost.unique + cost.written) / device.dram,
        cost.matrix / device.matrix_rate(dtype),
        cost.special / device.special,
        cost.plain / device.plain,
    )


def launch_times(cost: Cost, config: Config, dtype: str, device: Device) -> dict[str, float]:
    """Microseconds per resource, and ``total``, of one launch."""
    if not cost.programs:
        return dict.fromkeys(("dram", "l2", "matrix", "special", "plain", "latency"), 0.0) | {
            "launch": device.launch_us,
            "total": device.launch_us,
        }
    resident = footprint(cost, config).resident(config, device)
    rounds = -(-cost.programs // device.sms)
    # Whole programs, of which the longest one alone may take longest.
    uneven = max(rounds, cost.longest) * device.sms / cost.programs
    busy = min(device.sms, cost.programs)
    flying = _in_flight(cost, config) * min(resident, -(-cost.programs // busy)) * busy
    reached = min(device.dram, flying / (device.latency_us * 1e-6))
    waves = -(-cost.programs // (device.sms * resident))
    chain = cost.steps / max(1.0, cost.longest) if waves > 1 else cost.steps
    hidden = min(config.stages, 3)
    times = {
        "dram": 1e6 * (fetched(cost, resident, device) + cost.written) / reached,
        "l2": 1e6 * uneven * (cost.read + cost.written) / device.l2,
        "matrix": 1e6 * uneven * cost.matrix / (device.matrix_rate(dtype) * _filled(cost, config)),
        "special": 1e6 * uneven * cost.special / device.special,
        "plain": 1e6 * uneven * cost.plain / device.plain,
        "latency": waves * (START_US + chain * TILE_US / hidden),
    }
    units = [times["matrix"], times["special"], times["plain"]]
    computing = max(units) + HIDDEN * (sum(units) - max(units))
    longest = max(times["dram"], times["l2"], computing, times["latency"])
    times["launch"] = device.launch_us
    times["total"] = longest + device.launch_us
    return times


def _filled(cost: Cost, config: Config) -> float:
    """The share of the matrix rate that tiles, warps and stages keep up.

    A tile has a fixed cost that amounts to some 16 positions of the folded axis (64 of them
    reach the sustained rate); fewer than 64 rows do not fill an instruction of four warps.
    """
    deep = min(1.0, 1.25 * cost.depth / (cost.depth + 16)) if cost.depth else 1.0
    tall = 1.0 if cost.rows >= 64 else 0.5
    return deep * tall * (0.85 + 0.05 * min(config.stages, 3)) * (1.0 if config.warps >= 4 else 0.7)


def _in_flight(cost: Cost, config: Config) -> int:
    """Bytes that one program has under way: what it loads at once, times its stages."""
    walks: dict[int | None, int] = {}
    for read in cost.reads:
        walks[read.walk] = walks.get(read.walk, 0) + read.in_flight
    loops = [b * max(1, config.stages - 1) for w, b in walks.items() if w is not None]
    # A warp has at most this many bytes under way in registers, whatever it asks for.
    return max(512, *loops, walks.get(None, 0)) if walks else 512


def fetched(cost: Cost, resident: int, device: Device) -> float:
    """Bytes that come from device memory: unique ones, and those that fell out of the L2.

    A tensor without grid axis ``a`` is read again along ``a``. It is still in the L2 if all
    that is read in between (one turn of the faster axes) fits there, or if the positions of
    ``a`` run at the same time.
    """
    at_once = device.sms * resident
    first: dict[str, float] = {}
    for read in cost.reads:
        times, turn, faster = 1.0, _per_program(cost), 1
        for axis, count in reversed(cost.grid):
            if axis not in read.axes and turn > device.l2_bytes:
                times *= max(1.0, count / max(1.0, at_once / faster))
            faster *= count
            turn = min(_turn(cost, axis, faster), turn * count)
        reaching = min(float(read.total), read.unique * times)
        if read.tensor not in first:
            first[read.tensor] = reaching
        elif min(at_once, cost.programs) * _per_program(cost) > device.l2_bytes:
            first[read.tensor] += reaching  # a later walk finds nothing of the earlier one
        else:
            first[read.tensor] = max(first[read.tensor], reaching)
    return sum(first.values())


def _per_program(cost: Cost) -> float:
    return cost.read / cost.programs


def _turn(cost: Cost, axis: str, programs: int) -> float:
    """Bytes of distinct elements that ``programs`` neighbouring programs read."""
    names = [a for a, _ in cost.grid]
    slower = names[: names.index(axis)]
    grid = dict(cost.grid)
    return sum(r.unique / prod(grid[a] for a in slower if a in r.axes) for r in cost.reads)
