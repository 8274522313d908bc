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
SIXTEENTHS = 16  # smaller differences of intervals, a model does not tell


def schedules(
    graph: ThreadGraph, dtype: str, device: Device | Rates, most: int = MOST
) -> Sequence[Schedule]:
    """Up to ``most`` schedules of the only body of ``graph``, each legal (``threads.check``).

    The best class comes first: the one with the shortest interval of all consumers (in sixteenths
    of the least that units allow), then with chains in flight, then with the shortest interval of
    one alone, then with the fewest stages. In a class the shortest interval of all consumers, then
    the fewest registers come first: where that interval is the longer one, that of one alone does
    not bind.

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
    found: list[tuple[tuple[int, ...], list[Schedule]]] = []
    for number, alike in enumerate(classes(problem, most, work)):
        members: list[tuple[int, int, int, Schedule]] = []
        for alone in alike:
            together = shared(problem, alone, work)
            schedule = placed(problem, together) if together is not None else None
            # Where consumers take turns, that may stop what runs without.
            if schedule is not None and not check(rescheduled(graph, body, schedule)):
                members.append((schedule.interval, schedule.registers, len(members), schedule))
        if members:
            members.sort(key=lambda m: m[:3])
            first = alike[0]
            shortest = members[0][0] * SIXTEENTHS // (problem.least_shared * UNIT)
            rank = shortest, not first.flies, first.interval, number
            found.append((rank, [m[3] for m in members]))
    found.sort(key=lambda one: one[0])
    return tuple(s for _, members in found for s in members)[:most]


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
        events.append(_Event(solution.within(task), False, offset[name], name, stage[name] + late))
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
