"""A class of schedules: what makes a difference on a device; the best schedule of each class.

Two schedules are of one class if, seen from the first product on, products and the first readers
of their results come in the same order and in the same distances of steps, and chains fly over the
end of a step in both or in neither: whether the loop is cut at one or another product makes no
difference. Within a class the best schedule is the first in a full order, so it does not depend on
what a solver happens to find.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import z3

from superopt.threads.schedule.problem import Problem
from superopt.threads.schedule.solve import STAGES
from superopt.threads.schedule.solve import Model
from superopt.threads.schedule.solve import Solution

LONGEST = 5, 4  # intervals up to this times the shortest are of interest
WORK = 200_000_000  # of z3, for one problem


@dataclass
class Work:
    """How much of z3's work is left."""

    left: int = WORK


Class = tuple[Solution, ...]


def classes(problem: Problem, most: int, work: Work) -> list[Class]:
    """Up to ``most`` classes for one consumer alone: those with the shortest interval first, among
    them those with the fewest stages. Of each, the shortest schedule, and where that spares
    registers, the one that needs the fewest within the longest interval of interest.

    It ends early where ``work`` is spent; that there are more is then not excluded.
    """
    found = list(_shortest(problem, most, work))
    if not found:
        return []
    model = Model(problem, found[0].interval * LONGEST[0] // LONGEST[1])
    both: list[Class] = []
    for solution in found:
        light = best(model, solution) if work.left > model.spent() else None
        spares = light is not None and light.registers < solution.registers
        both.append((solution, light) if light is not None and spares else (solution,))
    work.left -= model.spent()
    return both


def _shortest(problem: Problem, most: int, work: Work) -> Iterator[Solution]:
    if problem.budget <= 0 or not _possible(problem, work):
        return
    seen: list[Solution] = []
    interval, end = problem.least, problem.most
    while interval <= end and work.left > 0:
        model = Model(problem, interval)
        for known in seen:
            model.solver.add(z3.Not(alike(model, known)))
        for depth in range(STAGES):
            while len(seen) < most and (found := model.solve(within(model, depth))) is not None:
                if not seen:
                    end = interval * LONGEST[0] // LONGEST[1]
                seen.append(found)
                yield best(model, found) or found
                model.solver.add(z3.Not(alike(model, found)))
        work.left -= model.spent()
        if len(seen) == most:
            return
        interval += 1


def _possible(problem: Problem, work: Work) -> bool:
    """Whether there is a schedule at all. If values do not fit into registers, or tiles into
    slots, no interval is long enough."""
    model = Model(problem, problem.most)
    found = model.solve()
    work.left -= model.spent()
    return found is not None


def within(model: Model, depth: int) -> Any:
    """That no stage is later than ``depth``."""
    return z3.And(*(s <= depth for s in model.stage.values()))


def alike(model: Model, solution: Solution) -> Any:
    """That a schedule is of the class of ``solution``."""
    problem = model.problem
    listed = sorted(problem.anchors, key=solution.offset.__getitem__)
    cuts = []
    for start, name in enumerate(listed):
        if problem.by_name[name].product:
            turned = listed[start:] + listed[:start]
            stages = [solution.stage[n] - (n in listed[:start]) for n in turned]
            cuts.append(_in_line(model, turned, stages))
    return z3.And(z3.Or(*cuts), model.flies == solution.flies)


def _in_line(model: Model, names: Sequence[str], stages: Sequence[int]) -> Any:
    """That ``names`` come in this order, in these stages but for a shift of all of them."""
    found = [model.before(a, b) for a, b in pairwise(names)]
    first, rest = model.stage[names[0]], zip(names[1:], stages[1:], strict=True)
    found += [model.stage[n] - first == s - stages[0] for n, s in rest]
    return z3.And(model.yes(), *found)


def best(model: Model, solution: Solution) -> Solution | None:
    """The first schedule of the class of ``solution`` at the interval of ``model`` with no stage
    later than its last: fewest registers, then earliest, copies of one iteration together, waits as
    late as they may be (those for chains in flight as early). None: none was found."""
    problem, solver = model.problem, model.solver
    solver.push()
    solver.add(alike(model, solution), within(model, max(solution.stage.values())))
    begins = [model.begins(t.name) for t in problem.tasks]
    waits = [
        model.wait[t.name] if solution.flies and t.chain else -model.wait[t.name]
        for t in problem.products
    ]
    aims = [model.registers, z3.Sum(begins), *begins, *model.spread(), *waits]
    found = lexicographic(model, aims)
    solver.pop()
    return found


def lexicographic(model: Model, aims: Sequence[Any]) -> Solution | None:
    """The solution with the smallest ``aims``, one after the other, as far as the solver shows
    it."""
    found = model.solve()
    for aim in aims if found is not None else ():
        value, step = model.value(aim), 1
        while step:
            lower = model.solve(aim <= value - step)
            if lower is None:
                step //= 2
            else:
                found, value, step = lower, model.value(aim), 2 * step
        model.solver.add(aim == value)
    return found
