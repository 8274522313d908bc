"""Whether a kernel with roles computes its spec, whatever the order in which its roles go on.

Two engines read the text (``run.py``, ``explore.py``), and each is needed: the values of one
schedule with vector clocks, and every order of what the roles do at barriers, which shows that all
orders synchronise as that schedule does. The verdict holds for the instances that its facts name.
Not modelled: layouts, hazards of registers, arrivals warp by warp.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from pathlib import Path
from typing import Any

from superopt.threads.parts import is_wide
from superopt.threads.parts import wide_axes
from superopt.ugraph.domain import Domain
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import persistent_of
from superopt.ugraph.levels import pingpong_of
from superopt.ugraph.split import launches
from superopt.verify.field.graphs import Comparison
from superopt.verify.field.trials import divides_by_nothing
from superopt.verify.source.concurrent.barriers import History
from superopt.verify.source.concurrent.barriers import Wait
from superopt.verify.source.concurrent.explore import Explored
from superopt.verify.source.concurrent.floats import read_floats
from superopt.verify.source.concurrent.machine import RolesMachine
from superopt.verify.source.concurrent.machine import has_roles
from superopt.verify.source.concurrent.trial import PROGRAMS
from superopt.verify.source.concurrent.trial import enough
from superopt.verify.source.concurrent.trial import roles_trial
from superopt.verify.source.field import read_at
from superopt.verify.source.load import KernelText
from superopt.verify.source.load import read_text
from superopt.verify.source.meaning import TextMeaning
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict

BLOCKS = (3, 1)  # tiles in each walk where values are those of fields
# And where they are float64: with every slot taken several times, and one that is not full.
LONGER = (7, 4, 1)
FEW = 3  # tiles that a persistent launch has at least, where values are those of fields


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
