"""Further schedules of a launch with roles: what a solver finds, and the plainest one.

Solving takes seconds, so it is done for the ways that are about to be measured, not for all that
are ranked. A machine without the solver (one that only times) tries the schedules that need none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from superopt.device import Device
from superopt.threads.build import has_thread_graph
from superopt.threads.build import of_config
from superopt.threads.default import in_turn
from superopt.threads.written import written
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.threads import Schedule
from superopt.ugraph.threads import ThreadGraph

MOST = 4  # that a solver finds


def further_schedules(
    run: BlockGraph, config: Config, dtype: str, device: Device, most: int = MOST
) -> list[Config]:
    """``config`` with other schedules than the one that needs no search; those of the solver come
    first, best by its model. ``run``: one of ``split.launches``. ``dtype``: of the case."""
    graph = of_config(run, config, dtype)
    (body,) = graph.bodies
    known = written(body, graph.pipes)
    plain = in_turn(body.axis, body.instrs, graph.pipes)
    words = {
        written(replace(body, schedule=s), graph.pipes): None
        for s in (*_solved(graph, dtype, device, most), plain)
    }
    found = [replace(config, schedule=word) for word in words if word != known]
    return [one for one in found if has_thread_graph(run, one, dtype)]


def _solved(graph: ThreadGraph, dtype: str, device: Device, most: int) -> Iterator[Schedule]:
    try:
        from superopt.threads.schedule.place import schedules  # z3, which a machine may lack
    except ImportError:
        return
    yield from schedules(graph, dtype, device, most)
