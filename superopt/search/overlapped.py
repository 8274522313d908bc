"""How long a launch with roles takes by the model.

The price of a program, of which a multiprocessor holds one, is the most of three, somewhat more
where they are alike (a norm of order ``APART``): its products; its ordinary work; and what a
consumer does in turn, both for its share of the rows. A ring may be too short to hide copies, and
nothing covers the ends of a program, which a persistent one has once and others for each tile. The
constants are fitted to the kernels in ``benchmarks/results/threads_2026-11-29_h200.json``, what
persistent ones save to those in ``persistent_2026-11-30_h200.json`` (2.8 us to 4.0 us a tile).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil

from superopt.device import Device
from superopt.search.footprint import MOST_REGISTERS
from superopt.search.footprint import Footprint
from superopt.ugraph.counts import Cost
from superopt.ugraph.levels import Config

APART = 5  # order of the norm of products, ordinary work, and both in turn
OVERLAP = 3  # and of that with what memory needs
COLUMNS = 12  # of a product, that its fixed cost amounts to
WIDE = 256  # columns at which the device's rate was measured
PROGRAM_US = 1.5  # of a program, in which no products run: the first copies, the last stores
SAVED_US = 3.0  # by a persistent program, between two tiles
SHORT = 4  # of a tile's time, the part that hiding its ends saves at most, beside ``PROGRAM_US``
GROUP = 4  # warps of a consumer

Tiles = tuple[tuple[str, int], ...]


def whole(tiles: Tiles, rows: str, consumers: int) -> Tiles:
    """The tiles of a program, which has those of all its consumers along ``rows``."""
    return tuple((a, t * consumers if a == rows else t) for a, t in tiles)


def warps_of(config: Config) -> Config:
    """``config`` with the warps that its consumers have."""
    return replace(config, warps=GROUP * config.consumers)


def alone(device: Device) -> Footprint:
    """What a program occupies that has a multiprocessor to itself."""
    return Footprint(device.shared_block, MOST_REGISTERS, MOST_REGISTERS)


def price(
    plain: Mapping[str, float], cost: Cost, config: Config, rate: str, device: Device
) -> dict[str, float]:
    """Microseconds per resource, and ``total``, of a launch with roles.

    ``plain``: those of ``model.Launch`` for the same tiles, of which the memory's count. ``cost``:
    the counts at the tiles of a program (``whole``). ``rate``: the row of ``Device.matrix``.
    """
    if not cost.programs:
        return dict(plain)
    flop = sum(p.flop * (1 + COLUMNS / p.columns) for p in cost.products)
    units = {
        "matrix": 1e6 * flop / device.matrix_rate(rate) / (1 + COLUMNS / WIDE),
        "special": 1e6 * cost.special / device.special,
        "plain": 1e6 * cost.plain / device.plain,
    }
    ordinary = units["special"] + units["plain"]
    turn = (units["matrix"] + ordinary) / config.consumers
    busy = sum(us**APART for us in (units["matrix"], ordinary, turn)) ** (1 / APART)
    tile = sum(cost.walked) / max(1, cost.walks)
    late = device.latency_us + 1e6 * tile * device.sms / device.l2
    waits = cost.steps / cost.longest * late / max(1, config.stages - 1)
    rounds = max(ceil(cost.programs / device.sms), cost.longest)
    each = max(busy * device.sms / cost.programs, waits)
    chain = rounds * (each + PROGRAM_US)
    if config.persistent:
        new = rounds / config.each if config.each else 1  # programs, one after the other
        chain -= max(0.0, rounds - new) * min(SAVED_US, PROGRAM_US + each / SHORT)
    shares = (plain["dram"], plain["l2"], chain)
    total = sum(s**OVERLAP for s in shares) ** (1 / OVERLAP) + plain["launch"]
    return {**plain, **units, "chain": chain, "fill": 0.0, "total": total}
