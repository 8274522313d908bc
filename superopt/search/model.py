"""How long a kernel graph should take on a device: a roofline with programs on it.

Per launch several resources need time; together they take somewhat more than the longest of them
(a norm of order ``OVERLAP``), and before that come the launch and the first data:

* ``dram``: unique bytes, and bytes that come again because they fell out of the L2, over the
  bandwidth; the bandwidth is only reached with enough bytes in flight (Little's law), which
  the last wave of programs may lack.
* ``l2``: all bytes of all programs, and the sectors that are touched in vain, over the L2's rate.
* the longest of ``matrix``, ``special`` and ``plain``: operations (``units.py``); but all of them
  together are done at most ``TOGETHER`` times as fast as one after another, however many programs
  could overlap them.
* ``chain``: what one program after another takes on a multiprocessor (``chain.py``).
* ``starts``: that programs begin.

The units' work is bound twice, by the busiest unit and by what one program does in turn (the
bounds of work and span): with more programs resident the first counts, with few the second.
``l2`` and units are spread over multiprocessors in whole programs: 133 programs on 132 of
them take two rounds. Every term is at least what ``bounds.py`` says of it, and more resources
never make a launch slower. The constants are fitted to some 2,700 choices of Configs that were
measured on an H200 (``docs/decisions/0026-work-and-span.md``).
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from superopt.device import Device
from superopt.search.chain import WHOLE
from superopt.search.chain import Alone
from superopt.search.footprint import Footprint
from superopt.search.footprint import footprint
from superopt.search.overlapped import alone
from superopt.search.overlapped import price
from superopt.search.overlapped import warps_of
from superopt.search.overlapped import whole
from superopt.search.turns import Turn
from superopt.search.turns import turns
from superopt.search.units import GROUP
from superopt.search.units import matrix
from superopt.search.units import moved
from superopt.threads.build import of_config
from superopt.ugraph.cost import launch_cost
from superopt.ugraph.counts import Cost
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.split import launches

OVERLAP = 3  # order of the norm of the resources: 1 would add them up, infinity take the longest
TOGETHER = 1.7  # times the rate of one after another that the units reach side by side
WASTE = 5  # what a byte of a sector that is touched in vain costs the L2, in bytes
LINE = 128  # bytes of a cache line: pointers of shorter rows ask for more of them
LINES = 0.25  # what each further line for as many bytes costs, as a share
LINES_MOST = 3
START_US = 0.07  # that one more program begins on a multiprocessor
RESOURCES = ("dram", "l2", "matrix", "special", "plain", "chain", "starts", "fill")
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
    found = priced(graph, configs, sizes, dtype, device, tf32)
    times, costs = [times for times, _ in found], [cost for _, cost in found]
    return total(graph, times, costs, operand(dtype, tf32), device)


def priced(
    graph: KernelGraph,
    configs: Sequence[Config],
    sizes: Mapping[str, int],
    dtype: str,
    device: Device,
    tf32: bool = False,
) -> list[tuple[dict[str, float], Cost]]:
    """Of each launch: microseconds per resource and ``total`` (``launch_times``), and counts."""
    found = []
    lengths = dict(sizes)
    rate = operand(dtype, tf32)
    for block, config in zip(launches(graph), configs, strict=True):
        lengths |= {a: config.parts for a, _ in block.places if a not in sizes}
        tiles = config.tiles
        if config.consumers:
            tiles = whole(tiles, of_config(block, config, dtype).rows, config.sharers)
        cost = launch_cost(block, replace(config, tiles=tiles), lengths, dtype)
        found.append((launch_times(cost, config, rate, device), cost))
    return found


def launch_times(cost: Cost, config: Config, rate: str, device: Device) -> dict[str, float]:
    """Microseconds per resource, and ``total``, of one launch, with roles if ``config`` asks for
    them; then ``cost`` has the counts at the tiles of a program (``overlapped.whole``).
    ``rate``: as ``operand`` says it."""
    launch = Launch(cost, rate, device)
    if not config.consumers:
        return launch.times(config)
    plain = launch.times(warps_of(config), alone(device))
    return price(plain, cost, config, rate, device)


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
        self.alone = Alone(cost, device)
        self.further = _further(cost)
        self.once, self.tile = _loaded(cost)
        self._units_of: dict[int, dict[str, float]] = {}
        self._turns: dict[int, tuple[Turn, ...]] = {}
        self._fetched: dict[tuple[int, int], float] = {}

    @property
    def least_us(self) -> float:
        """What no warps or stages get below: what is moved and multiplied, at full rates."""
        device, cost = self.device, self.cost
        return 1e6 * max(
            (sum(cost.unique.values()) + self.writes) / device.dram,
            (self.read + self.writes) / device.l2,
            cost.matrix / self.rate,
        )

    def times(self, config: Config, used: Footprint | None = None) -> dict[str, float]:
        """Microseconds per resource, and ``total``. ``used``: the footprint, if it is known."""
        cost, device = self.cost, self.device
        launch = device.dependent_us if config.dependent else device.launch_us
        if not cost.programs:
            return dict.fromkeys(RESOURCES, 0.0) | {"launch": launch, "total": launch}
        used = used or footprint(cost, config, device, self.tf32)
        resident = used.resident(config, device)
        # Whole programs, of which the longest one alone may take longest.
        rounds = -(-cost.programs // device.sms)
        uneven = max(rounds, cost.longest) * device.sms / cost.programs
        units = self._units(config.warps)
        # Fewer warps than a multiprocessor has schedulers leave some of them without work.
        lanes = min(1.0, config.warps * min(resident, rounds) / GROUP)
        fetched = self.fetched(resident, config.group)
        lines = 1.0 if config.descriptors else 1 + LINES * self.further
        missed, read = min(1.0, fetched / max(1, self.read)), 1e6 * fetched / device.dram
        found = self.alone.chain(config, resident, sum(units.values()), missed, read)
        moving = self.read + self.writes + WASTE * cost.wasted
        times = {
            "dram": 1e6 * lines * (fetched + self.writes) / self._reached(config, resident),
            "l2": 1e6 * lines * uneven * moving / device.l2,
            **{name: uneven * us / lanes for name, us in units.items()},
            "chain": found.us - found.fill,
            "starts": START_US * cost.programs / device.sms,
            "fill": found.fill,
            "launch": launch,
        }
        busy = [times[unit] for unit in units]
        longest = max(*busy, sum(busy) / TOGETHER)
        shares = [times["dram"], times["l2"], longest, times["chain"], times["starts"]]
        times["total"] = sum(s**OVERLAP for s in shares) ** (1 / OVERLAP) + found.fill + launch
        return times

    def _units(self, warps: int) -> dict[str, float]:
        """Microseconds of every unit, for all programs, spread evenly over multiprocessors."""
        if warps not in self._units_of:
            cost, device = self.cost, self.device
            self._units_of[warps] = {
                "matrix": 1e6 * matrix(cost, warps) / self.rate,
                "special": 1e6 * cost.special / device.special,
                "plain": 1e6 * (cost.plain + moved(cost, warps)) / device.plain,
            }
        return self._units_of[warps]

    def _reached(self, config: Config, resident: int) -> float:
        """Bytes per second of device memory that come with what programs have in flight: those
        that run at once, and those of the last wave, which may be fewer."""
        cost, device = self.cost, self.device
        loaded = max(LEAST_IN_FLIGHT, self.once, self.tile * max(1, self.alone.stages(config) - 1))
        flying = loaded / (device.latency_us * 1e-6)
        at_once = min(cost.programs, device.sms * resident)
        full = min(device.dram, flying * at_once)
        rest = cost.programs % at_once
        if not rest:
            return full
        last = min(device.dram, flying * rest)
        ragged = ((cost.programs - rest) / full + rest / last) / cost.programs
        return 1 / (WHOLE * ragged + (1 - WHOLE) / full)

    def fetched(self, resident: int, group: int = 1) -> float:
        """Bytes that come from device memory: unique ones, and those that fell out of the L2.

        A tensor without grid axis ``a`` is read again along ``a``. It is still in the L2 if
        all that is read in between (one turn of the faster axes) fits there, or if the
        positions of ``a`` run at the same time. A later walk finds what an earlier one read
        if all programs that run at once leave it there; one that goes back finds as much of it
        as fits beside what is moved meanwhile. ``group``: as in ``Config``.
        """
        if (resident, group) not in self._fetched:
            cost, l2 = self.cost, self.device.l2_bytes
            if group not in self._turns:
                self._turns[group] = turns(cost, group)
            at_once = self.device.sms * resident
            running = min(at_once, cost.programs) / cost.programs
            kept = running * self.read <= l2
            fits = min(1.0, l2 / max(1.0, running * (self.read + self.writes)))
            found: dict[str, float] = {}
            for read in cost.reads:
                times = 1.0
                for turn in self._turns[group]:
                    if turn.axis not in read.axes and turn.read > l2:
                        times *= max(1.0, turn.count / max(1.0, at_once / turn.faster))
                size = min(float(read.total), read.unique * times)
                before = found.get(read.tensor, 0.0)
                again = before + size - (fits * min(before, size) if read.back else 0.0)
                found[read.tensor] = max(before, size) if kept else again
            self._fetched[resident, group] = sum(found.values())
        return self._fetched[resident, group]


def _further(cost: Cost) -> float:
    """How many more cache lines pointers ask for than there are full ones, by tiles of walks."""
    walked = [r for r in cost.reads if r.walk is not None]
    size = sum(r.in_flight for r in walked)
    further = sum(r.in_flight * (max(1.0, LINE / r.row) - 1) for r in walked)
    return min(LINES_MOST, further / size) if size else 0.0


def _loaded(cost: Cost) -> tuple[int, int]:
    """Bytes that a program loads at once: outside walks, and for a tile of the largest one."""
    found: dict[int | None, int] = {None: 0}
    for read in cost.reads:
        found[read.walk] = found.get(read.walk, 0) + read.in_flight
    once = found.pop(None)
    return once, max(found.values(), default=0)
