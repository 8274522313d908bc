"""Which Configs of a graph are worth compiling: those that fit, best by the model first."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from itertools import product
from math import inf
from math import prod

from superopt.device import Device
from superopt.errors import DoesNotFit
from superopt.search.descriptors import described_configs
from superopt.search.footprint import footprint
from superopt.search.grouped import grouped_configs
from superopt.search.hazards import miscompiled
from superopt.search.hazards import racing
from superopt.search.model import Launch
from superopt.search.model import operand
from superopt.search.option import Option
from superopt.search.option import by_time
from superopt.search.option import together
from superopt.search.roles import Workload
from superopt.search.roles import distinct
from superopt.search.roles import role_options
from superopt.ugraph.contraction import LEAST
from superopt.ugraph.cost import Counter
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Whole
from superopt.ugraph.pack import joined
from superopt.ugraph.pack import tile_dimensions
from superopt.ugraph.profile import Profile
from superopt.ugraph.profile import profile
from superopt.ugraph.split import launches
from superopt.ugraph.split import part_axis

DOT_MOST = 256  # positions of a matrix product's dimension per tile
INNER_MOST = 128  # of the axis of a walk inside a walk
INNER_LEAST = 32  # of every axis of products there
LOOP_MOST = 16384
GRID_MOST = 1024
ELEMENTS_MOST = 1 << 16  # of one tile of one value
ROWS_MOST = 1 << 14  # and where several rows share it that no matrix product reads
WARPS = (1, 2, 4, 8, 16, 32)
DOT_WARPS = (4, 8)
STAGES = (1, 2, 3, 4)  # only loads of matrix products are pipelined
COARSE = 2  # tiles of several axes without a matrix product are powers of 4: they decide less
PER_LAUNCH = 12  # ways to launch one kernel that are kept
RUNGS = 4  # of a ladder
VARIED = 50  # ways at the top, at most, that are also tried in other variants
DESCRIBED = 4  # of the ways kept, one in so many is also tried in other ways
LEAST_PARTS = 2
ELSEWHERE = 0.3  # of the ways that are measured, those that are not the model's best
HOPELESS = 3.0  # times the model's best: not measured


Ladder = tuple[tuple[Config, ...], ...]
"""Ways to launch one kernel: the best by the model, then ever smaller ones, for when the compiler
does not keep to the estimate."""


def ladders(
    graph: KernelGraph,
    sizes: Mapping[str, int],
    dtype: str,
    device: Device,
    tf32: bool = False,
) -> tuple[Ladder, ...]:
    """For every kernel of ``graph`` the ways to launch it that are worth compiling.

    Raises:
        DoesNotFit: some kernel has no Config whose program fits the device.
    """
    return tuple(
        tuple(o.configs for o in options(block, sizes, dtype, device, tf32)[1])
        for block in graph.kernels
    )


def configs(
    graph: KernelGraph,
    sizes: Mapping[str, int],
    dtype: str,
    device: Device,
    limit: int,
    tf32: bool = False,
) -> list[tuple[Config, ...]]:
    """At most ``limit`` choices of one Config per launch of ``graph``, best by the model first.

    Raises:
        DoesNotFit: some kernel has no Config whose program fits the device.
    """
    lists = [options(block, sizes, dtype, device, tf32)[0] for block in graph.kernels]
    return [choice for _, choice in spread(lists, limit)]


def spread(lists: Sequence[Sequence[Option]], limit: int) -> list[tuple[float, tuple[Config, ...]]]:
    """At most ``limit`` combinations (one of each list), with their times, the best first.

    Every combination of some of each list (``_sample``): more of a kernel that takes longer,
    because there is more to win, and never all of one kernel's near ties beside one way of another.
    """
    counts = [min(1, len(options)) for options in lists]
    while True:
        room = [
            k
            for k, options in enumerate(lists)
            if counts[k] < len(options) and prod(counts) // counts[k] * (counts[k] + 1) <= limit
        ]
        if not room:
            break
        counts[max(room, key=lambda k: lists[k][0].us / counts[k])] += 1
    picked = product(*(_sample(options, n) for options, n in zip(lists, counts, strict=True)))
    found = [(sum(o.us for o in one), tuple(c for o in one for c in o.configs)) for one in picked]
    return sorted(found, key=lambda f: round(f[0], 6))


def _sample(options: Sequence[Option], number: int) -> list[Option]:
    """The best ``number`` of ``options`` for the most part, the rest evenly from those behind them.

    What the model thinks worse is tried, too, as far as it is not hopeless: it may be wrong, and
    only then does a measurement say how far it can be trusted.
    """
    near = number - int(number * ELSEWHERE)
    behind = [o for o in options[near:] if o.us <= HOPELESS * options[0].us]
    wanted = min(number - near, len(behind))
    return [*options[:near], *(behind[i * len(behind) // wanted] for i in range(wanted))]


def options(
    block: BlockGraph,
    sizes: Mapping[str, int],
    dtype: str,
    device: Device,
    tf32: bool = False,
    keep: int = PER_LAUNCH,
) -> tuple[list[Option], list[Option]]:
    """The best ``keep`` ways to launch one kernel, and its ladder, which begins with the best.

    Those at the top (``VARIED``) appear with programs in groups, and with tensor descriptors, too:
    whether they pay, measuring tells; so do ways with roles (``roles.py``), some of which are kept
    in any case, as they have a price of their own. The ladder has no descriptors.

    Raises:
        DoesNotFit: no Config's program fits the device.
    """
    split = [a for a, p in block.places if isinstance(p, Split)]
    runs = launches(KernelGraph("", (), (), (block,)))
    profiles = [profile(run) for run in runs]
    found: list[Option] = []
    for parts in _parts(block, split[0], sizes, device) if split else (1,):
        lengths = {**sizes, **{part_axis(a): parts for a in split}}
        each = [_launch(p, lengths, parts, dtype, device, tf32) for p in profiles]
        if not all(each):
            continue
        rest = [min(o, key=by_time) for o in each[1:]]
        found += [together((first, *rest)) for first in each[0]] if rest else each[0]
    if not found:
        raise DoesNotFit(f"no tile sizes let a program fit {device.name}: {_described(block)}")
    found.sort(key=by_time)
    rate, varied = operand(dtype, tf32), min(VARIED, -(-keep // DESCRIBED))
    for option in found[:varied]:
        configs = grouped_configs(runs, option.configs, option.costs)
        if configs is not None:
            found.append(_again(option, configs, rate, device))
    found.sort(key=by_time)
    ladder = _ladder(found)
    for option in found[:varied]:
        configs = described_configs(runs, option.configs, sizes, dtype, device, tf32)
        if configs is not None:
            found.append(_again(option, configs, rate, device))
    if len(runs) == 1:
        work = Workload(runs[0], profiles[0], sizes, dtype, device)
        tilings = _tilings(profiles[0], sizes)
        with_roles = role_options(work, tilings, varied=keep > PER_LAUNCH)
        found += with_roles
        ladder = [*distinct(o for o in with_roles if o.us < ladder[0].us), *ladder]
    found.sort(key=by_time)
    return found[:keep], ladder


def _again(option: Option, configs: tuple[Config, ...], rate: str, device: Device) -> Option:
    """``option`` with other ``configs`` of the same tiles and parts."""
    uses = tuple(
        footprint(cost, config, device, rate == "tf32")
        for cost, config in zip(option.costs, configs, strict=True)
    )
    times = tuple(
        Launch(cost, rate, device).times(config, used)
        for cost, config, used in zip(option.costs, configs, uses, strict=True)
    )
    return Option(sum(t["total"] for t in times), configs, times, option.costs, uses)


def _ladder(found: Sequence[Option]) -> list[Option]:
    """The first of ``found``, then again and again the first that occupies clearly less."""
    rungs = [found[0]]
    while len(rungs) < RUNGS:
        smaller = next((o for o in found if o.below(rungs[-1]) and o is not rungs[-1]), None)
        if smaller is None or smaller in rungs:
            break
        rungs.append(smaller)
    return rungs


def _launch(
    prof: Profile,
    sizes: Mapping[str, int],
    parts: int,
    dtype: str,
    device: Device,
    tf32: bool,
) -> list[Option]:
    """All Configs of one launch that fit and are not hopeless whatever their warps and stages."""
    found: list[Option] = []
    best = inf
    rate = operand(dtype, tf32)
    counter = Counter(prof, sizes, dtype)
    products = racing(prof.block, dtype)
    for tiles in _tilings(prof, sizes):
        cost = counter.cost(Config(tiles, parts))
        launch = Launch(cost, rate, device)
        if launch.least_us > HOPELESS * best:
            continue
        for warps in DOT_WARPS if prof.products else WARPS:
            for stages in stages_of(prof):
                config = Config(tiles, parts, warps, stages)
                if miscompiled(products, config, device):
                    continue
                used = footprint(cost, config, device, tf32)
                if used.fits(device):
                    times = launch.times(config, used)
                    best = min(best, times["total"])
                    found.append(Option(times["total"], (config,), (times,), (cost,), (used,)))
    return found


def stages_of(prof: Profile) -> tuple[int, ...]:
    """Numbers of stages worth trying."""
    return STAGES if prof.block.walks and prof.products else STAGES[:1]


def _tilings(prof: Profile, sizes: Mapping[str, int]) -> Iterator[tuple[tuple[str, int], ...]]:
    """Choices of a power of two for every tile dimension."""
    places = prof.block.places
    axes = tile_dimensions(places)
    chosen = [a for a in axes if not isinstance(prof.block.place[a], Whole)]
    step = COARSE if len(chosen) > 1 and not prof.products else 1
    lists = [_lengths(prof, a, sizes[a] * joined(a, places, sizes), step) for a in axes]
    least = prod(min(one) for one in lists)
    most = ELEMENTS_MOST if prof.products or len(axes) == 1 else max(ROWS_MOST, least)
    values = [s.result for r in prof.regions for s in r.steps if s.result is not None]
    values += [s.work for r in prof.regions for s in r.steps if s.result is None]
    volumes = {tuple(a for a in v if a in axes) for v in values}
    for lengths in product(*lists):
        tile = dict(zip(axes, lengths, strict=True))
        if all(prod(tile[a] for a in v) <= most or len(v) > 2 for v in volumes):
            yield tuple(tile.items())


def _lengths(prof: Profile, axis: str, size: int, step: int) -> list[int]:
    """Powers of two that one axis's tile may have, or every ``step``-th of them."""
    dot = axis in prof.dots
    least = LEAST if dot else 1
    full = max(least, power_of_two(size))
    place = prof.block.place[axis]
    if isinstance(place, Whole):
        return [full]
    if isinstance(place, Loop | Split):
        most, least = (DOT_MOST, LEAST) if prof.products else (LOOP_MOST, 32)
    else:
        most = DOT_MOST if prof.products else GRID_MOST
    inner = [w.axis for outer in prof.block.walks for w in outer.inner]
    if inner and dot:  # each tile around a walk reads operands again: only large ones pay
        most, least = (INNER_MOST if axis in inner else DOT_MOST), min(INNER_LEAST, full)
    top = max(least, min(most, full))
    return [1 << i for i in range(top.bit_length() - 1, least.bit_length() - 2, -step)]


def power_of_two(size: int) -> int:
    """The least power of two that is at least ``size`` (1 for an empty axis)."""
    return 1 << max(0, size - 1).bit_length()


def _parts(block: BlockGraph, axis: str, sizes: Mapping[str, int], device: Device) -> list[int]:
    """Numbers of parts that let the programs of a split kernel fill the device."""
    grid = [sizes[t.axis] for t in block.order if block.place[t.axis] == Grid(tiled=False)]
    # Rows that make a matrix product worth walking twice have large tiles: there are few of them.
    most = DOT_MOST if any(w.inner for w in block.walks) else LEAST
    tiled = [
        -(-sizes[t.axis] * joined(t.axis, block.places, sizes) // most)
        for t in block.order
        if block.place[t.axis] == Grid(tiled=True)
    ]
    programs = max(1, prod(grid) * prod(tiled))
    most = min(-(-sizes[axis] // LEAST), -(-8 * device.sms // programs))
    found = [1 << i for i in range(1, max(1, most).bit_length())]
    return found[-5:] or [LEAST_PARTS]


def _described(block: BlockGraph) -> str:
    return " ".join(f"{a}:{type(p).__name__}" for a, p in block.places)
