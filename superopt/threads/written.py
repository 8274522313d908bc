"""A schedule as one word, so that a Config can hold it: ``i0at0.w0at0.i1at1.l0at0``.

``i``: an instruction, ``w``: the wait for one, ``l``: a load, each by its number (in the body, and
among the pipes along the walk), with its stage; all in the order of a step. Numbers in place of
names: the same word says the same of a graph whose tensors are called otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from superopt.errors import NotEmittable
from superopt.ugraph.threads import Body
from superopt.ugraph.threads import Instr
from superopt.ugraph.threads import Pipe
from superopt.ugraph.threads import Place
from superopt.ugraph.threads import Schedule

_EVENT = re.compile(r"([iwl])(\d+)at(\d+)")


def written(body: Body, pipes: Sequence[Pipe]) -> str:
    """The schedule of ``body`` as a word, without what a model expects of it."""
    schedule = body.schedule
    numbers = {i.name: n for n, i in enumerate(body.instrs)}
    moving = {name: n for n, name in enumerate(_moving(body.axis, pipes))}
    events = [(p.order, f"i{numbers[name]}at{p.stage}") for name, p in schedule.places]
    events += [(p.order, f"w{numbers[name]}at{p.stage}") for name, p in schedule.waits]
    loads = [(p.order, f"l{moving[name]}at{p.stage}") for name, p in schedule.loads]
    return ".".join(word for _, word in (*sorted(events), *sorted(loads)))


def scheduled(word: str, axis: str, instrs: Sequence[Instr], pipes: Sequence[Pipe]) -> Schedule:
    """The schedule that ``word`` says for ``instrs`` in a walk along ``axis``.

    Raises:
        NotEmittable: it is no such word, or one of another body.
    """
    moving = _moving(axis, pipes)
    placed: dict[str, list[tuple[str, Place]]] = {"i": [], "w": [], "l": []}
    for order, event in enumerate(word.split(".")):
        found = _EVENT.fullmatch(event)
        names = moving if event.startswith("l") else [i.name for i in instrs]
        if found is None or int(found[2]) >= len(names):
            raise NotEmittable(
                f"{event!r} is nothing that the walk of {axis!r} has in its schedule"
            )
        placed[found[1]].append((names[int(found[2])], Place(int(found[3]), order)))
    rank = {i.name: n for n, i in enumerate(instrs)}
    places, waits = (tuple(sorted(placed[k], key=lambda e: rank[e[0]])) for k in "iw")
    return Schedule(places, waits, tuple(placed["l"]))


def _moving(axis: str, pipes: Sequence[Pipe]) -> list[str]:
    return [p.name for p in pipes if p.walk == axis]
