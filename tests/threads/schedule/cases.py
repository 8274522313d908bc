"""Scheduling problems of block graphs, and drawn ones."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from hypothesis import strategies as st

from superopt.device import target
from superopt.threads.build import build
from superopt.threads.schedule.costs import Rates
from superopt.threads.schedule.costs import rates_of
from superopt.threads.schedule.place import schedules
from superopt.threads.schedule.problem import Problem
from superopt.threads.schedule.problem import Ring
from superopt.threads.schedule.problem import Task
from superopt.threads.schedule.problem import problem_of
from superopt.ugraph.threads import Schedule
from superopt.ugraph.threads import ThreadGraph
from superopt.ugraph.threads import Use
from tests.threads.cases import block
from tests.threads.cases import config

RATES = rates_of(target("h200"))
WIDE = {"d": 128, "e": 128, "n": 128}
NARROW = {"d": 64, "e": 64, "n": 128}
SQUARE = {"n": 256, "k": 64}


def graph(name: str, consumers: int = 1, capacity: int = 2, **tiles: int) -> ThreadGraph:
    tiled = config(block(name), **tiles)
    return build(block(name), tiled, "bf16", consumers=consumers, capacity=capacity)


def problem(
    name: str, consumers: int = 1, capacity: int = 2, rates: Rates = RATES, **tiles: int
) -> Problem:
    made = graph(name, consumers, capacity, **tiles)
    return problem_of(made, made.bodies[0], "bf16", rates)


@cache
def found(
    name: str, consumers: int = 1, capacity: int = 2, most: int = 8, tiles: str = ""
) -> tuple[ThreadGraph, tuple[Schedule, ...]]:
    """A graph and its schedules. ``tiles``: the name of some above."""
    made = graph(name, consumers, capacity, **globals().get(tiles, {}))
    return made, tuple(schedules(made, "bf16", RATES, most))


@st.composite
def problems(draw) -> Problem:
    """Bodies of a few instructions that read each other, with a ring for every product."""
    kinds = draw(st.permutations([True, *draw(st.lists(st.booleans(), max_size=4))]))
    names = [f"t{n}" for n in range(len(kinds))]
    tasks: list[Task] = []
    for number, (name, product) in enumerate(zip(names, kinds, strict=True)):
        uses = [Use(n) for n in names[:number] if draw(st.booleans())]
        uses += [Use(draw(st.sampled_from(names)), 1)] if draw(st.booleans()) else []
        held = [u.name for u in uses if product and not u.back]
        busy = 1 if product else draw(st.integers(1, 5))
        unit = "matrix" if product else draw(st.sampled_from(["plain", "special"]))
        span = draw(st.integers(1, 6)) if product else draw(st.integers(0, busy))
        size = draw(st.sampled_from([2, 16, 32]))
        tasks.append(Task(name, product, busy, unit, span, size, tuple(uses)))
        tasks = [
            replace(t, held=(*t.held, name)) if t.name in held and not t.product else t
            for t in tasks
        ]
    for number, task in enumerate(tasks):
        readers = [t.name for t in tasks if any(u.name == task.name for u in t.uses)]
        own = task.uses == (Use(task.name, 1),) and readers == [task.name]
        tasks[number] = replace(task, chain=task.product and own)
    rings = tuple(
        Ring(f"r{t.name}", draw(st.integers(1, 3)), draw(st.integers(1, 4)), 6, (t.name,))
        for t in tasks
        if t.product
    )
    return Problem(tuple(tasks), rings, draw(st.integers(1, 3)), draw(st.sampled_from([64, 200])))
