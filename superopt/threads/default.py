"""Schedules that need no search: everything in turn, and the next iteration's work begun early.

``in_turn`` awaits every product where it is issued. ``overlapped`` moves the products whose left
operand is computed (from an earlier product of the same iteration, as a rule) one step back: a step
of the loop first issues the products that need nothing computed, of this iteration, and the late
ones of the iteration before; what is computed for this iteration then runs while both are in
flight. A product that only adds to its own result is awaited one step later, when the next one has
been issued. FlashAttention-3 (arXiv 2407.08608) does so by hand; here it follows from who reads
what.
"""

from __future__ import annotations

from collections.abc import Sequence

from superopt.ugraph.threads import Body
from superopt.ugraph.threads import Instr
from superopt.ugraph.threads import Op
from superopt.ugraph.threads import Pipe
from superopt.ugraph.threads import Place
from superopt.ugraph.threads import Schedule
from superopt.ugraph.threads import Use

EMPTY = Schedule((), (), ())


def in_turn(axis: str, instrs: Sequence[Instr], pipes: Sequence[Pipe]) -> Schedule:
    """Every instruction in the order of ``instrs``, every product awaited at once."""
    events: list[tuple[str, bool, int]] = []
    for instr in instrs:
        events.append((instr.name, False, 0))
        if instr.op is Op.PRODUCT:
            events.append((instr.name, True, 0))
    return _numbered(events, axis, instrs, pipes)


def overlapped(axis: str, instrs: Sequence[Instr], pipes: Sequence[Pipe]) -> Schedule:
    """Late products one step behind the others; as ``in_turn`` where there are none."""
    body = Body(axis, tuple(instrs), EMPTY)
    products = [i for i in instrs if i.op is Op.PRODUCT]
    late = {i.name for i in products if any(_makes(body, u) for u in body.uses(i))}
    chains = {i.name for i in products if i.name not in late and _chain(body, i)}
    behind = _depending(body, late)
    operands = {u.name for i in products if i.name in late for u in body.uses(i) if _makes(body, u)}
    first = [(i.name, False, 0) for i in products if i.name not in late and not _needs(body, i)]
    issued = {name for name, _, _ in first}
    first += [(i.name, False, 1) for i in products if i.name in late]
    waits = [(i.name, True, 1) for i in products if i.name in chains | late]
    middle: list[tuple[str, bool, int]] = []
    last: list[tuple[str, bool, int]] = []
    after: list[tuple[str, bool, int]] = []
    awaited = set(chains) | late
    for instr in instrs:
        if instr.name in behind:
            after.append((instr.name, False, 1))
            continue
        for use in body.uses(instr):
            if use.name in issued and use.name not in awaited:
                middle.append((use.name, True, 0))
                awaited.add(use.name)
        if instr.name in late or instr.name in issued:
            continue
        reads_late = any(u.name in late | behind for u in body.uses(instr))
        into = last if reads_late or instr.name in operands else middle
        into.append((instr.name, False, 0))
        if instr.op is Op.PRODUCT:
            issued.add(instr.name)
    middle += [(n, True, 0) for n in sorted(issued - awaited)]
    late_waits = [w for w in waits if w[0] in late]
    chain_waits = [w for w in waits if w[0] in chains]
    return _numbered(
        [*first, *chain_waits, *middle, *late_waits, *after, *last], axis, instrs, pipes
    )


def _makes(body: Body, use: Use) -> bool:
    return body.by_name[use.name].op is Op.OPERAND


def _needs(body: Body, product: Instr) -> bool:
    """Whether ``product`` reads anything of its own iteration."""
    return any(u.back == 0 for u in body.uses(product))


def _chain(body: Body, product: Instr) -> bool:
    """Whether nothing but ``product`` itself reads its result, from the iteration before."""
    readers = [i for i in body.instrs if any(u.name == product.name for u in body.uses(i))]
    return readers == [product] and product.onto == Use(product.name, 1)


def _depending(body: Body, late: set[str]) -> set[str]:
    """The other instructions that read, in the same iteration, results of ``late`` ones."""
    found: set[str] = set()
    for instr in body.instrs:
        if any(u.back == 0 and u.name in late | found for u in body.uses(instr)):
            found.add(instr.name)
    return found - late


def _numbered(
    events: Sequence[tuple[str, bool, int]],
    axis: str,
    instrs: Sequence[Instr],
    pipes: Sequence[Pipe],
) -> Schedule:
    """A schedule of (instruction, whether it is the wait for it, stage), in this order."""
    when = {(name, wait): Place(stage, o) for o, (name, wait, stage) in enumerate(events)}
    places = tuple((i.name, when[i.name, False]) for i in instrs)
    waits = tuple((i.name, when[i.name, True]) for i in instrs if i.op is Op.PRODUCT)
    moving = [p.name for p in pipes if p.walk == axis]
    return Schedule(places, waits, tuple((name, Place(0, o)) for o, name in enumerate(moving)))
