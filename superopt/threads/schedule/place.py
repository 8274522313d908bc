"""Schedules of a thread graph, best first: the entry to what is found by search.

Times become places: a step executes in the order of offsets, and a wait stands before the first
instruction that is not issued before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from superopt.device import Device
from superopt.errors import NotEmittable
from superopt.threads.check import check
from superopt.threads.schedule.classes import Work
from superopt.threads.schedule.classes import classes
from superopt.threads.schedule.costs import Rates
from superopt.threads.schedule.costs import rates_of
from superopt.threads.schedule.problem import UNIT
from superopt.threads.schedule.problem import Problem
from superopt.threads.schedule.problem import problem_of
from superopt.threads.schedule.share import shared
from superopt.threads.schedule.solve import Solution
from superopt.ugraph.threads import Body
from superopt.ugraph.threads import Place
from superopt.ugraph.threads import Schedule
from superopt.ugraph.threads import ThreadGraph

MOST = 8


def schedules(
    graph: ThreadGraph, dtype: str, device: Device | Rates, most: int = MOST
) -> Sequence[Schedule]:
    """Up to ``most`` schedules of the only body of ``graph``, one of a class, best first by the
    model: shortest interval of all consumers, then of one alone, then chains in flight, fewest
    stages, fewest registers. Each is legal (``threads.check``).

    What the body of ``graph`` has for a schedule does not matter. ``dtype``: of the case.
    ``device``: the row of the table, or its rates.

    Empty: there is no schedule in which all values fit into registers and tiles into slots (or
    none was found within the work that the solver is given).

    Raises:
        NotEmittable: the device has no thread level, or the graph several walks.
    """
    if len(graph.bodies) != 1:
        raise NotEmittable(f"{len(graph.bodies)} walks; schedules are found for one")
    (body,) = graph.bodies
    rates = device if isinstance(device, Rates) else rates_of(device)
    problem, work = problem_of(graph, body, dtype, rates), Work()
    ranked: list[tuple[tuple[int, ...], Schedule]] = []
    for alone in classes(problem, most, work):
        together = shared(problem, alone, work)
        if together is None:
            continue
        schedule = placed(problem, together)
        rank = (
            *(together.interval, alone.interval, not alone.flies),
            *(schedule.stages, alone.registers, len(ranked)),
        )
        if not check(rescheduled(graph, body, schedule)):  # turns may stop what would run without
            ranked.append((rank, schedule))
    return tuple(schedule for _, schedule in sorted(ranked, key=lambda r: r[0]))


def rescheduled(graph: ThreadGraph, body: Body, schedule: Schedule) -> ThreadGraph:
    """``graph`` with another schedule of its only body."""
    return replace(graph, bodies=(replace(body, schedule=schedule),))


@dataclass(frozen=True, order=True)
class _Event:
    offset: int
    task: bool  # waits come first
    issued: int  # those of products that were issued first
    name: str
    stage: int


def placed(problem: Problem, solution: Solution) -> Schedule:
    """The places of a solution. Registers include those of small values."""
    offset, stage = solution.offset, solution.stage
    events = [_Event(offset[n], True, offset[n], n, stage[n]) for n in offset]
    for task in problem.products:
        name, late = task.name, solution.flies and task.chain
        time = solution.wait[name] - (solution.interval if late else 0)
        events.append(_Event(time, False, offset[name], name, stage[name] + late))
    when = {(e.name, e.task): Place(e.stage, o) for o, e in enumerate(sorted(events))}
    return Schedule(
        tuple((t.name, when[t.name, True]) for t in problem.tasks),
        tuple((t.name, when[t.name, False]) for t in problem.products),
        _loads(solution),
        solution.interval * UNIT,
        solution.registers + problem.reserved,
        solution.phase * UNIT,
    )


def _loads(solution: Solution) -> tuple[tuple[str, Place], ...]:
    """The order of copies in a step of the producer, which begins with the first of them."""
    if not solution.load:
        return ()
    first = min(solution.load.values())
    when = {n: divmod(t - first, solution.interval) for n, t in solution.load.items()}
    order = sorted(when, key=lambda n: when[n][1])
    return tuple((n, Place(when[n][0], order.index(n))) for n in solution.load)
