"""Whether a kernel with roles computes its spec, whatever the order in which its roles go on.

Two engines read the text (``run.py``, ``explore.py``), and each is needed: the values of one
schedule with vector clocks, and every order of what the roles do at barriers, which shows that all
orders synchronise as that schedule does. The verdict holds for the instances that its facts name.
Not modelled: layouts, hazards of registers, arrivals warp by warp.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from pathlib import Path
from typing import Any

from superopt.threads.layouts import WIDEST
from superopt.threads.parts import is_wide
from superopt.threads.parts import wide_axes
from superopt.ugraph.domain import Domain
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import persistent_of
from superopt.ugraph.levels import pingpong_of
from superopt.ugraph.node import Input
from superopt.ugraph.split import launches
from superopt.verify.field.graphs import Comparison
from superopt.verify.field.trials import Trial
from superopt.verify.field.trials import axes_of
from superopt.verify.field.trials import divides_by_nothing
from superopt.verify.field.trials import positions
from superopt.verify.field.trials import walked_axes
from superopt.verify.source.concurrent.barriers import History
from superopt.verify.source.concurrent.barriers import Wait
from superopt.verify.source.concurrent.explore import Explored
from superopt.verify.source.concurrent.floats import read_floats
from superopt.verify.source.concurrent.machine import RolesMachine
from superopt.verify.source.concurrent.machine import has_roles
from superopt.verify.source.field import read_at
from superopt.verify.source.load import KernelText
from superopt.verify.source.load import read_text
from superopt.verify.source.meaning import TextMeaning
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict

UNIT = 8  # elements of 16 bits in the 16 bytes that a row of a tile has at least
TILE = 2  # positions in a tile of any other axis
BLOCKS = (3, 1)  # tiles in each walk where values are those of fields
# And where they are float64: with every slot taken several times, and one that is not full.
LONGER = (7, 4, 1)
LANES = 4  # there in a tile of a walk: one of two lanes looks like twice its number
# Multiprocessors, and tiles that a persistent launch has at least, where values are float64. One
# program has tiles in four waves: slots of what comes once a tile, at most two, have both parities.
# Two numbers, for with one a number of a tile may stand where a number of waves should.
PROGRAMS = (2, 3)
TILES = (7, 10)
FEW = 3  # and where values are those of fields


@dataclass(frozen=True)
class Reading:
    """A verdict, what each engine said against the text, and what was explored."""

    verdict: Verdict
    engines: dict[str, str] = field(default_factory=dict)
    explored: dict[History, Explored] = field(default_factory=dict)


def read_concurrent(
    source: KernelText | Path | str,
    program: Program,
    graph: KernelGraph,
    configs: Sequence[Config],
    index: int = 0,
    seed: int = 0,
    log2_limit: float = -60.0,
    function: str | None = None,
    blocks: Sequence[int] = BLOCKS,
    longer: Sequence[int] = LONGER,
    kinds: Sequence[str] = (),
) -> Reading:
    """Reads the functions with roles of graph ``index`` of a file, through its launcher.

    ``program`` and ``graph`` are in the file's names. ``configs``: say how many consumers and
    slots (``stages``) each launch has; their tiles are not read, small ones are, but where a wide
    result leaves in parts. ``blocks``,
    ``longer``: tiles in each walk, one reading each, in fields and in float64. Meanings of the
    verdict are those of ``read_field``. ``kinds``: of the roles, if not those of ``configs``.
    """
    text = source if isinstance(source, KernelText) else read_text(source)
    found: list[Sampled] = []
    seen: list[str] = []
    explored: dict[History, Explored] = {}
    in_parts = any(wide_axes(b, c) for b, c in zip(launches(graph), configs, strict=True))
    for number, count in enumerate((*blocks, *longer)):
        exact = number < len(blocks)
        ragged = (number if exact else number - len(blocks)) % 2 == 0
        # Wide tiles have many elements; where values are those of fields, their terms are limited.
        wide = not exact or (count == 1 and not any(c.persistent for c in configs))
        tiles = FEW if exact else enough(configs, ragged)
        # Once walks alone have ends within a tile: what is even of another axis is not of theirs.
        whole = exact or number - len(blocks) > 1
        trial = roles_trial(program, graph, configs, count, ragged, wide, tiles, whole)
        if divides_by_nothing(program, trial.size):
            continue
        machines = _Machines(PROGRAMS[not exact and ragged])
        # The launcher's own outputs have no gaps, so roles can store only whole rows into them.
        meaning = TextMeaning(text, program, function or program.name, index, "bf16", ragged)
        meaning = replace(meaning, machines=machines, kinds=tuple(kinds))
        verdict: Verdict | None
        if exact:
            verdict = read_at(Comparison(program, meaning, trial, seed * 10 + number, log2_limit))
        else:
            verdict = read_floats(program, meaning, trial, seed * 10 + number)
        for machine in machines.made:
            explored |= machine.explored
        if isinstance(verdict, Sampled):
            found.append(verdict)
        elif verdict is not None:
            engines = {e: s for m in machines.made for e, s in m.engines.items()}
            return Reading(verdict, engines, explored)
        if 0 not in trial.size.values() and not all(m.explored for m in machines.made):
            return Reading(Unknown(f"no roles were launched at {trial.label}"), {}, explored)
        where = "in fields" if exact else "in float64"
        seen.append(f"{count} tiles {where}{', results in parts' if wide and in_parts else ''}")
    facts = dict.fromkeys(fact for v in found for fact in v.facts)
    facts[f"{counted(configs, kinds)}: {', '.join(seen)}"] = None
    facts |= dict.fromkeys(said(history, one) for history, one in explored.items())
    worst = max((v.log2_bound for v in found), default=-math.inf)
    return Reading(Sampled(sum(v.points for v in found), worst, tuple(facts)), {}, explored)


def enough(configs: Sequence[Config], ragged: bool) -> int:
    """Tiles that persistent launches have at least, where values are float64: as many as ``TILES``
    says; where consumers take them in turn, two for each, so that its turn has both parities."""
    turns = max((2 * c.consumers for c in configs if c.pingpong), default=0)
    return max(TILES[ragged], PROGRAMS[ragged] * (turns - 1) + 1)


Planned = tuple[tuple[Config, ...], tuple[str, ...]]
"""Consumers and slots of all launches, and the kinds of their roles."""


def planned(text: KernelText, index: int) -> list[Planned]:
    """What plans of the file that ask for roles have for the launches of graph ``index``, each
    choice of consumers, kinds and slots once."""
    if not has_roles(text):
        return []
    found: dict[tuple[Any, ...], Planned] = {}
    for plan in RolesMachine(text, FloatDomain()).names["PLANS"]:
        configs = tuple(
            Config(
                tuple(one.tiles.items()),
                one.parts,
                stages=one.stages,
                consumers=one.consumers,
                group=min(one.group, 2),
                persistent=persistent_of(one.roles),
                pingpong=pingpong_of(one.roles),
            )
            for one in plan.launches
        )
        if plan.graph == index and any(c.consumers for c in configs):
            kinds = tuple(one.roles for one in plan.launches)
            key = tuple((c.consumers, c.stages, is_wide(c)) for c in configs)
            found.setdefault((key, kinds), (configs, kinds))
    return list(found.values())


def counted(configs: Sequence[Config], kinds: Sequence[str] = ()) -> str:
    """How many consumers and slots the launches with roles have, and their kinds, in words."""
    each = [
        f"{c.consumers} consumers, {c.stages} slots{f', {kind}' if kind else ''}"
        for c, kind in zip(configs, kinds or [c.kind for c in configs], strict=True)
        if c.consumers
    ]
    return " and ".join(each)


def said(history: History, explored: Explored) -> str:
    """An instance for which the verdict holds, in words."""
    waits = sum(isinstance(e, Wait) for events in history.events for e in events)
    how = f"{explored.states} states" if explored.states else "by induction along one"
    roles, barriers = len(history.roles) - 1, len(history.barriers)
    return f"{roles} roles, {barriers} barriers, {waits} waits: every order ({how})"


class _Machines:
    """Makes machines for a device with so many multiprocessors, and keeps them."""

    def __init__(self, multiprocessors: int) -> None:
        self.multiprocessors = multiprocessors
        self.made: list[RolesMachine] = []

    def __call__(self, text: KernelText, cells: Domain[Any]) -> RolesMachine:
        made = RolesMachine(text, cells)
        made.host.multiprocessors = self.multiprocessors
        self.made.append(made)
        return made


def roles_trial(
    program: Program,
    graph: KernelGraph,
    configs: Sequence[Config],
    blocks: int,
    ragged: bool,
    wide: bool = False,
    several: int = TILES[0],
    whole: bool = False,
) -> Trial:
    """Small sizes and tiles, as descriptors allow them: rows of 16 bytes at least. ``wide``: where
    results leave in parts by ``configs``, their tiles are so wide that they do, and those of walks
    have ``LANES``.

    ``blocks``: tiles in each walk; ``ragged``: the last tile of every axis has lanes past its end,
    and there are several programs. Where positions are compared there are as many rows as walked.
    ``several``: tiles that a persistent launch has at least. ``whole``: the tiles of the grid have
    no lanes past an end, and where positions are compared there are more rows than walked.
    """
    orders = [p.order for p in program.params if isinstance(p, Input)]
    orders += [s.order for s in program.outputs]
    rows = {order[-1] for order in orders if order}
    walked = walked_axes(graph)
    # Workspaces have no gaps, so their rows are whole tiles: descriptors know no others.
    stores = (s for k in graph.kernels for s in k.all_stores if s.name not in graph.outputs)
    even = {s.order[-1] for s in stores if s.order}
    sizes: dict[str, int] = {}
    found = []
    lone = kept = 0
    tile_of = {a: UNIT if a in rows else TILE for a in axes_of(program)}
    tile_of |= {a: LANES for a in walked if wide and a not in rows}
    for axis in axes_of(program):
        tile = tile_of[axis]
        if axis in walked:
            sizes[axis] = max(0, tile * blocks - (ragged and blocks > 0 and axis not in even))
    # Where walks alone have ends within a tile, all other sizes are multiples of their tiles: what
    # is said of a walked axis is not true of another one then.
    other = max((tile_of[a] for a in walked), default=0) if whole and wide and ragged else 0
    runs = launches(graph)
    in_parts = {a for run, c in zip(runs, configs, strict=True) for a in wide_axes(run, c)}
    for block, config in zip(runs, configs, strict=True):
        tiles: dict[str, int] = {}
        for axis, place in block.places:
            tile = tile_of[axis]
            if wide and place == Grid() and axis in in_parts:
                # In whole tiles half as wide, where other launches have it in parts: there are few.
                tile = WIDEST if axis in wide_axes(block, config) else WIDEST // 2
            if place == Grid(tiled=False) or isinstance(place, Pack):
                sizes.setdefault(axis, other or 1 + (ragged and not lone))
                lone += 1
                continue
            tiles[axis] = tile
            if isinstance(place, Loop):
                continue
            if place == Grid(tiled=True):
                many = config.sharers + ragged
                uneven = ragged and not whole and axis not in even
                many = tile * (1 if axis in rows else many) - uneven
                if positions(program) and axis not in rows:
                    most = max((n for a, n in sizes.items() if a in walked), default=0)
                    many = max(many, most + tile * whole)  # behind the last key, too, if whole
                    many += -many % tile if whole else 0
                sizes.setdefault(axis, many + (-many % other if other else 0))
                continue
            kept += 1
            uneven = ragged and not (whole and wide) and axis not in even
            sizes.setdefault(axis, 1 + kept if uneven else tile)
        if config.persistent:
            chosen = replace(config, tiles=tuple(tiles.items()))
            _repeat(block, chosen, several, sizes, rows, other or 1)
        found.append(replace(config, tiles=tuple(tiles.items()), descriptors=False))
    known = {a: sizes.get(a, 1) for a in axes_of(program)} | dict(program.fixed)
    return Trial(f"{blocks} tiles", tuple(known.items()), tuple(found))


def _repeat(
    block: BlockGraph,
    config: Config,
    least: int,
    sizes: dict[str, int],
    rows: Collection[str],
    by: int,
) -> None:
    """Lengthens a grid axis, one whose positions are programs or else no innermost one, until a
    launch has ``least`` tiles, by multiples of ``by``."""
    grid = [a for a, p in block.places if isinstance(p, Grid)]
    step = {a: config.tile.get(a, 0) * config.sharers or 1 for a in grid}
    longer = min(grid, key=lambda a: (step[a] > 1, a in rows))
    while math.prod(-(-sizes[a] // step[a]) for a in grid) < least:
        sizes[longer] += math.lcm(step[longer], by)
