"""How long a launch with roles takes by the model.

The price of a program, of which a multiprocessor holds one, is the most of four, somewhat more
where they are alike (a norm of order ``APART``): its products; its special functions; issuing its
ordinary instructions; and what a consumer does in turn for its share of the rows, each step of the
walk costing a little beside (barriers, and the end of one thing before the next). A slot of a
ring comes and is held, and there are only so many; and nothing covers the ends of a program, which
a persistent one has once and others for each tile, nor what is computed behind a walk. If consumers
take tiles in turn, walks follow each other, each with the work of one consumer alone, and the next
ones cover what comes between them, as far as they are long enough. Tiles that are dealt out
beforehand may fall unevenly (``fullest``). The constants are fitted to the 626 Configs of
``benchmarks/results/roles_2026-11-30_h200.json`` (``docs/decisions/0043-roles-in-the-search.md``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from heapq import heapreplace
from math import ceil

import numpy as np

from superopt.device import Device
from superopt.search.footprint import MOST_REGISTERS
from superopt.search.footprint import Footprint
from superopt.threads.build import WARPS
from superopt.ugraph.counts import Cost
from superopt.ugraph.levels import Config

APART = 5  # order of the norm of products, ordinary work, and both in turn
OVERLAP = 3  # and of that with what memory needs
COLUMNS = 24  # of a product, that its fixed cost amounts to
WIDE = 256  # columns at which the device's rate was measured
BUSY = 1.31  # times that rate, which products reach that another group of warps feeds
ISSUED = 2.3  # instructions for each operation that is counted
IN_TURN = 0.8  # of a consumer's work, the part that nothing else of the same consumer overlaps
STEP_US = 0.12  # of each step of a walk, beside its work
LATE = 0.4  # of the latency of memory, the part for which the producer's copies are late
HELD = 1.6  # times a product takes, for which its operands keep their slots
BEGIN_US = 3.9  # of a program, in which no products run: the first copies, the last stores
GO_ON_US = 2.3  # and between two tiles of one program
MANY = 1 << 20  # tiles, of which the last wave is no part that counts

Tiles = tuple[tuple[str, int], ...]


def whole(tiles: Tiles, rows: str, sharers: int) -> Tiles:
    """The tiles of a program, of which each of ``sharers`` consumers has one along ``rows``."""
    return tuple((a, t * sharers if a == rows else t) for a, t in tiles)


def warps_of(config: Config) -> Config:
    """``config`` with the warps that its consumers have."""
    return replace(config, warps=WARPS * config.consumers)


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
    matrix = 1e6 * flop / device.matrix_rate(rate) / (1 + COLUMNS / WIDE) / BUSY
    units = {"matrix": matrix, **_computed(cost.special, cost.plain, device)}
    steps = cost.steps / cost.longest  # of a mean tile
    share = cost.programs / device.sms
    outside = _computed(*cost.outside, device)
    walked = {k: us - outside.get(k, 0.0) for k, us in units.items()}
    parts = (*walked.values(), _in_turn(cost, config, walked) + STEP_US * steps * share)
    each = sum(us**APART for us in parts) ** (1 / APART) / share
    each = max(each, _ring(cost, config, each, steps, device))
    each = _with_ends(each, max(outside.values()) / share, config)
    chain = _rounds(cost, config, device) * each + _ends(cost, config, device)
    shares = (plain["dram"], plain["l2"], chain)
    total = sum(s**OVERLAP for s in shares) ** (1 / OVERLAP) + plain["launch"]
    return {**plain, **units, "chain": chain, "fill": 0.0, "total": total}


def _computed(special: int, plain: int, device: Device) -> dict[str, float]:
    """Microseconds of so many operations on all multiprocessors."""
    issued = 1e6 * ISSUED * (plain + special) / device.plain
    return {"special": 1e6 * special / device.special, "plain": issued}


def _in_turn(cost: Cost, config: Config, walked: Mapping[str, float]) -> float:
    """What a consumer does one after the other, in walks that run at the same time. If they follow
    each other, no other consumer's product is under way meanwhile, but one's own may be, unless it
    needs what is computed."""
    if not config.pingpong:
        return IN_TURN * (walked["matrix"] + walked["plain"]) / config.consumers
    needed = any(p.computed for p in cost.products)
    return IN_TURN * (walked["matrix"] + walked["plain"]) if needed else walked["plain"]


def _with_ends(walk: float, behind: float, config: Config) -> float:
    """The time of a tile whose ``walk`` and whose computations ``behind`` it take so long."""
    if not config.pingpong:
        return walk + behind
    return max(walk, (walk + behind + GO_ON_US) / config.consumers)


def _ring(cost: Cost, config: Config, each: float, steps: float, device: Device) -> float:
    """The least time of a tile with so many slots: one is empty until its copy has come, and then
    held: for its own product, if each of them reads one tile of the walk, else for all. ``each``:
    the tile's time without that."""
    tile = sum(cost.walked) / max(1, cost.walks)
    late = LATE * device.latency_us + 1e6 * tile * device.sms / device.l2
    operands = sum(r.matrix for r in cost.reads if r.walk is not None)
    apart = max(1, operands) if operands == len(cost.products) else 1
    held = HELD * each / apart
    return (steps * late + held) / config.stages


def _ends(cost: Cost, config: Config, device: Device) -> float:
    """What the ends of its tiles cost a multiprocessor."""
    tiles = ceil(cost.programs / device.sms)
    if not config.persistent:
        return tiles * BEGIN_US
    programs = tiles / config.each if config.each else 1
    between = 0.0 if config.pingpong else GO_ON_US  # or a part of a tile (``_with_ends``)
    return programs * BEGIN_US + (tiles - programs) * between


def _rounds(cost: Cost, config: Config, device: Device) -> float:
    """How many mean tiles the multiprocessor with the most work has."""
    if config.persistent:
        tiles, row = cost.programs, cost.grid[-1][1]
        return fullest(tiles, row, cost.longest, device.sms, config.each, config.group)
    return max(ceil(cost.programs / device.sms), cost.longest)


@lru_cache(maxsize=4096)
def fullest(tiles: int, row: int, longest: float, sms: int, each: int = 0, group: int = 1) -> float:
    """The most work, in mean tiles, that one of ``sms`` multiprocessors has with persistent
    programs. ``row``, ``longest``: in so many tiles, of ``group`` rows at a time, the work falls
    evenly, from ``longest`` times the mean.

    Without ``each`` it is settled beforehand: one tile of each wave, waves turned every other
    time. What a program has too much of in one wave it may have too much of in all: 86 tiles a row
    on 132 programs give one of them 1.28 times the mean, 128 a row 1.03. With ``each``, programs of
    at most so many tiles go where there is room, and the last ones leave others without work.
    (Of more than ``MANY`` tiles so many are looked at.)
    """
    if tiles > MANY:
        return fullest(MANY, min(row, MANY), longest, sms, each, group) * tiles / MANY
    number = np.arange(tiles)
    falls = np.linspace(longest, max(0.0, 2 - longest), row)
    work = (falls / falls.mean())[number // group % row]
    if each:
        programs = max(sms, ceil(tiles / each))
        loads = [0.0] * sms
        for one in np.bincount(number % programs, weights=work):
            heapreplace(loads, loads[0] + float(one))
        return max(loads)
    programs = ceil(tiles / ceil(tiles / sms))
    wave, place = number // programs, number % programs
    place = np.where(wave % 2 == 1, programs - 1 - place, place)
    return float(np.bincount(place, weights=work).max())
