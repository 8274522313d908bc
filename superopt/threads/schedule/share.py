"""One schedule for several consumers that share the units of a multiprocessor."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import z3

from superopt.threads.schedule.classes import Work
from superopt.threads.schedule.classes import lexicographic
from superopt.threads.schedule.problem import Problem
from superopt.threads.schedule.solve import Model
from superopt.threads.schedule.solve import Solution


def shared(problem: Problem, alone: Solution, work: Work) -> Solution | None:
    """The text of ``alone`` executed by all consumers at a short interval at which none waits for
    a slow unit while another uses it, and the phase between neighbours, as even as it may be.

    Intervals are tried at growing distances from the least, and then halfway: where a longer one
    is worse than a shorter one, the shortest of all may be missed. None: nothing was found up to
    an interval in which consumers could take turns.
    """
    if problem.consumers == 1:
        return alone
    least = max(alone.interval, problem.least_shared)
    most = problem.consumers * problem.most
    below, interval, step = least - 1, least, 1
    best = _at(problem, alone, least, work)
    while best is None and interval + step <= most and work.left > 0:
        below, interval, step = interval, interval + step, 2 * step
        best = _at(problem, alone, interval, work)
    if best is None:
        return None
    while below + 1 < interval:
        middle = (below + interval) // 2
        shorter = _at(problem, alone, middle, work)
        if shorter is None:
            below = middle
        else:
            interval, best = middle, shorter
    model, known = best
    uneven = z3.Int("uneven", model.context)
    apart = problem.consumers * model.phase - interval
    model.solver.add(uneven >= apart, uneven >= -apart)
    found = lexicographic(model, [uneven, model.phase, *model.spread()]) or known
    work.left -= model.spent()
    return replace(found, registers=alone.registers)


def _at(
    problem: Problem, alone: Solution, interval: int, work: Work
) -> tuple[Model, Solution] | None:
    model = Model(problem, interval, shared=True)
    model.solver.add(*_same(model, alone))
    found = model.solve()
    if found is None:
        work.left -= model.spent()
        return None
    return model, found


def _same(model: Model, solution: Solution) -> list[z3.BoolRef]:
    """That everything has the stage and the place in a step that it has in ``solution``."""
    offset, tasks = solution.offset, model.problem.by_name
    listed = sorted(offset, key=offset.__getitem__)
    found = [model.stage[n] == solution.stage[n] for n in listed]
    found += [model.before(a, b) for a, b in pairwise(listed)]
    awaited = sorted((solution.within(t), offset[t.name], t.name) for t in model.problem.products)
    for then, _, name in awaited:
        now = model.within(tasks[name])
        found += [now <= model.offset[n] for n in listed if then <= offset[n]]
        found += [now > model.offset[n] for n in listed if then > offset[n]]
    for (_, issued, name), (_, other, after) in pairwise(awaited):
        apart = model.within(tasks[after]) - model.within(tasks[name])
        found.append(apart >= (0 if issued < other else 1))
    return [*found, model.flies == solution.flies]
