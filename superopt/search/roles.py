"""Which Configs with roles a launch is worth trying with: those that fit and keep products busy.

Roles pay where matrix products bind: copies, products and what is computed between them then
overlap. Elsewhere there are none of these ways.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from itertools import islice
from math import prod

from superopt.device import Device
from superopt.errors import NotEmittable
from superopt.search.footprint import Footprint
from superopt.search.grouped import GROUP
from superopt.search.grouped import grouped_configs
from superopt.search.model import launch_times
from superopt.search.option import Option
from superopt.search.option import by_time
from superopt.search.overlapped import Tiles
from superopt.search.overlapped import whole
from superopt.threads.body import Products
from superopt.threads.build import CONSUMERS_MOST
from superopt.threads.build import SLOTS_LEAST
from superopt.threads.build import WARPGROUP
from superopt.threads.build import build
from superopt.threads.build import consumer_registers
from superopt.threads.build import copied_out
from superopt.threads.build import has_thread_graph
from superopt.threads.build import shared_bytes
from superopt.threads.layouts import WIDEST
from superopt.ugraph.cost import Counter
from superopt.ugraph.counts import Cost
from superopt.ugraph.described import ALIGNMENT
from superopt.ugraph.described import aligned
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.node import Reduce
from superopt.ugraph.numbering import neighbours
from superopt.ugraph.profile import Profile
from superopt.ugraph.threads import Op
from superopt.ugraph.threads import ThreadGraph

ARCH = "sm_90"  # whose products are asynchronous
ROWS = (64, 128)  # of one consumer
LEAST = 64  # positions of a tile of any other dimension of a product, where the axis has them
SLOTS_MOST = 5
SPARED = 24  # registers of a thread that are neither results nor operands
BARRIERS = 1024  # bytes
RINGS = 2  # lengths of rings, for each choice of tiles and consumers
WAYS = 8  # tiles, consumers and slots that are measured
BEST = 2  # and of which the best are kept where nothing is
PINGPONG = 2  # ways in which consumers take tiles in turn, beside those
VARIED = 3  # of them, the best, are also tried with other kinds of roles
UNEQUAL = 1.1  # times the mean: longest walk from which on it matters who has which tile
EACH = 8  # tiles of a program, if the device deals programs out


@dataclass(frozen=True)
class Workload:
    """One launch with its profile, and what it is priced for. ``dtype``: of the case."""

    run: BlockGraph
    profile: Profile
    sizes: Mapping[str, int]
    dtype: str
    device: Device


def why_none(run: BlockGraph, sizes: Mapping[str, int], dtype: str, device: Device) -> str:
    """Why a launch has no roles whatever its tiles; empty if it may have some."""
    if device.arch != ARCH:
        return f"{device.arch} has no asynchronous products"
    found = _probe(run, dtype)
    return found if isinstance(found, str) else _astray(found, sizes, dtype)


def _astray(probe: ThreadGraph, sizes: Mapping[str, int], dtype: str) -> str:
    """What no copy reaches if tensors are contiguous: the launcher would take the plain function,
    whatever the plan asks for. Empty if there is nothing."""
    tensors = [t for pipe in probe.pipes for t in pipe.tensors]
    tensors += [s.as_input() for s in copied_out(probe.block, Products(probe.block))]
    for tensor in tensors:
        known = {axis: sizes.get(axis, 1) for axis in tensor.order}  # parts are outermost
        if not aligned(tensor, known, dtype):
            return f"rows of {tensor.name!r} begin at no multiples of {ALIGNMENT} bytes"
    return ""


def role_options(work: Workload, tilings: Iterable[Tiles], varied: bool) -> list[Option]:
    """The ways with roles, with some of ``tilings``, best by the model first; none where products
    do not bind. ``varied``: as many as are worth measuring; else the best ones alone."""
    if work.device.arch != ARCH or isinstance(probe := _probe(work.run, work.dtype), str):
        return []
    if _astray(probe, work.sizes, work.dtype):
        return []
    priced = sorted(_priced(work, tilings, probe), key=by_time)
    found = _first(work, priced, False, WAYS if varied else BEST)
    found += _first(work, priced, True, PINGPONG if varied else 1) if found else []
    made = [
        _repriced(work, option, config)
        for number, option in enumerate(found)
        for config in _kinds(work, probe, option, varied and number < VARIED)
        if _is_there(work, config)
    ]
    return sorted(made, key=by_time)


def _first(work: Workload, priced: list[Option], pingpong: bool, most: int) -> list[Option]:
    """The first of ``priced`` in which consumers take tiles in turn, or else split them."""
    there = (o for o in priced if o.configs[0].pingpong is pingpong)
    return list(islice((o for o in there if _is_there(work, o.configs[0])), most))


def _is_there(work: Workload, config: Config) -> bool:
    return has_thread_graph(work.run, config, work.dtype)


def distinct(options: Iterable[Option]) -> list[Option]:
    """The first few of ``options`` that differ in more than the kind of roles."""
    found: dict[object, Option] = {}
    for option in options:
        (config,) = option.configs
        found.setdefault((config.tiles, config.consumers, config.pingpong), option)
    return list(found.values())[:BEST]


def _probe(run: BlockGraph, dtype: str) -> ThreadGraph | str:
    """A thread graph of ``run`` with some tiles, or why there is none with any."""
    tiles = tuple((axis, LEAST) for axis, _ in run.places)
    try:
        return build(run, Config(tiles), dtype)
    except NotEmittable as error:
        return str(error)


def _priced(work: Workload, tilings: Iterable[Tiles], probe: ThreadGraph) -> Iterator[Option]:
    counter = Counter(work.profile, work.sizes, work.dtype)
    for tiles in tilings:
        tile = dict(tiles)
        if not _suits(tile, probe, work.sizes):
            continue
        registers, rows = _registers(probe, tile), work.sizes[probe.rows]
        costs: dict[int, Cost] = {}  # by the number of consumers that split a tile
        for asked in _consumers(tiles, probe):
            idle = tile[probe.rows] * (asked.sharers - 1) >= rows > 0
            if idle or registers > consumer_registers(asked.consumers):
                continue
            if asked.sharers not in costs:
                tiled = Config(whole(tiles, probe.rows, asked.sharers))
                costs[asked.sharers] = counter.cost(tiled)
            cost = costs[asked.sharers]
            if asked.persistent and cost.programs < asked.consumers * work.device.sms:
                continue
            found = (
                _fitting(work, probe, replace(asked, stages=slots), cost, registers)
                for slots in range(SLOTS_MOST, SLOTS_LEAST - 1, -1)
            )
            rings = 1 if asked.pingpong else RINGS
            yield from sorted(filter(None, found), key=by_time)[:rings]


def _consumers(tiles: Tiles, probe: ThreadGraph) -> Iterator[Config]:
    """How many consumers there may be, which split a tile or, of a persistent program, take tiles
    in turn: two, for a third one pays only where what is between walks takes longer than they; and
    not where a product waits for what its consumer computes, for then nothing else multiplies."""
    for consumers in range(1, CONSUMERS_MOST + 1):
        yield Config(tiles, 1, 4, consumers=consumers)
    if not any(i.op is Op.OPERAND for b in probe.bodies for i in b.instrs):
        yield Config(tiles, 1, 4, consumers=2, persistent=1, pingpong=True)


def _suits(tile: Mapping[str, int], probe: ThreadGraph, sizes: Mapping[str, int]) -> bool:
    """Whether products run well with these tiles."""
    axes = [a for p in _products(probe) for a in (*p.axes, p.axis) if a in tile]
    columns = [tile[a] for p in _products(probe) for a in p.axes if a in tile]
    enough = all(tile[a] >= min(LEAST, sizes[a]) for a in axes)
    return enough and tile[probe.rows] in ROWS and max(columns) <= WIDEST


def _fitting(
    work: Workload, probe: ThreadGraph, config: Config, cost: Cost, registers: int
) -> Option | None:
    """``config`` with its price; None if it does not fit, or products do not bind (where consumers
    take tiles in turn, other ways must exist: ``role_options``)."""
    graph = _with_numbers(probe, config)
    shared = shared_bytes(graph, work.dtype) + BARRIERS
    if shared > work.device.shared_block or not cost.programs:
        return None
    used = Footprint(shared, registers, registers)
    option = _repriced(work, Option(0.0, (), (), (cost,), (used,)), config)
    (times,) = option.times
    binds = times["matrix"] >= max(times["dram"], times["l2"])
    return option if binds or config.pingpong else None  # which reads more, but from the L2


def _repriced(work: Workload, option: Option, config: Config) -> Option:
    """``option`` with another Config of the same tiles, consumers and slots."""
    times = launch_times(option.costs[0], config, work.dtype, work.device)
    return Option(times["total"], (config,), (times,), option.costs, option.uses)


def _with_numbers(probe: ThreadGraph, config: Config) -> ThreadGraph:
    """``probe`` with the tiles, consumers and slots of ``config``."""
    kept = max(1, config.persistent)
    pipes = tuple(replace(p, capacity=config.stages if p.walk else kept) for p in probe.pipes)
    return replace(
        probe, config=config, consumers=config.consumers, pipes=pipes, pingpong=config.pingpong
    )


def _kinds(work: Workload, probe: ThreadGraph, option: Option, varied: bool) -> Iterator[Config]:
    """The Configs of one way: with and without turns, masked tiles in a loop of their own or not,
    programs for several tiles each or not, tiles in groups or not."""
    (config,), (cost,), run = option.configs, option.costs, work.run
    parts = varied and any(walk.clear for walk in run.walks)
    several = [] if config.pingpong else [(0, 0, 1)]
    if cost.programs > work.device.sms:
        kept = _kept(work, probe, config)
        several.append((kept, 0, 1))
        if varied and cost.longest > UNEQUAL and neighbours(run):
            several.append((kept, EACH, GROUP))
    for joined in (False, True) if parts else (False,):
        for ring in (False, True) if varied and config.sharers > 1 else (False,):
            for persistent, each, group in several:
                kind = replace(config, joined=joined, ring=ring, group=group)
                kind = replace(kind, persistent=persistent, each=each)
                yield kind
                some = grouped_configs([run], [kind], option.costs)
                if some is not None and some != (kind,):
                    yield some[0]


def _kept(work: Workload, probe: ThreadGraph, config: Config) -> int:
    """How many slots a persistent program has for what comes once a tile: two where they fit."""
    once = any(not pipe.walk for pipe in probe.pipes)
    graph = _with_numbers(probe, replace(config, persistent=2))
    fits = shared_bytes(graph, work.dtype) + BARRIERS <= work.device.shared_block
    return 2 if once and fits else 1


def _products(graph: ThreadGraph) -> list[Reduce]:
    found = [i.value for b in graph.bodies for i in b.instrs if i.op is Op.PRODUCT]
    return [value for value in found if isinstance(value, Reduce)]


def _registers(graph: ThreadGraph, tile: Mapping[str, int]) -> int:
    """Registers of a thread of a consumer: results of products, and left operands."""
    found = SPARED
    for instr in (i for b in graph.bodies for i in b.instrs if i.op is not Op.COMPUTE):
        size = prod(tile.get(axis, 1) for axis in instr.value.axes)
        found += size // WARPGROUP // (2 if instr.op is Op.OPERAND else 1)
    return found
