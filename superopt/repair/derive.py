"""The repair of one premature carry: separation, basis, guards, or a reason why not."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce

from superopt.errors import NoRepair
from superopt.repair.basis import Separation
from superopt.repair.basis import separate
from superopt.repair.extremum import late
from superopt.repair.guard import EXTREMA
from superopt.repair.guard import Point
from superopt.repair.guard import Regions
from superopt.repair.guard import guarded_factor
from superopt.repair.guard import guarded_term
from superopt.repair.guard import guarded_value
from superopt.repair.guard import neutral
from superopt.repair.guard import regular_form
from superopt.repair.record import Guard
from superopt.repair.record import Repair
from superopt.repair.record import referred
from superopt.repair.record import states
from superopt.repair.record import words
from superopt.repair.shared import normal
from superopt.repair.shared import shared
from superopt.repair.span import direction
from superopt.repair.span import span
from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Move
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number
from superopt.ugraph.scans import behind
from superopt.ugraph.walk import topo


def derive(
    carry: Carry,
    axis: str,
    meanings: Sequence[Carry],
    standing: Sequence[Carry],
    final: Sequence[Carry] = (),
    split: bool = False,
) -> Repair:
    """The repair of ``carry``, whose term reads new states of carries of its own walk.

    ``meanings``: the walk's carries before this one, with terms that say what their states
    mean. ``standing``: the same as they are computed (repaired). ``final``: the meanings of the
    carries of earlier walks. ``split``: the axis is split, so that factors also act between
    parts that are empty.

    Raises:
        NoRepair: there is none, or none was found; the message names the term.
    """
    try:
        found, regions = _separated(carry, axis, meanings, final, split)
    except NoRepair:
        regions = Regions(meanings, final)
        kept = late(carry, axis, _read(carry, standing), regions)
        if carry.fold not in EXTREMA or kept is None:
            raise
        return kept
    if not span(found.determinant, regions.regular).nonzero:
        return _deferred(carry, axis, _read(carry, standing), found, regions)
    size = Size(axis)
    if len(found.basis) == 1 or size not in topo([m for row in found.moves for m in row if m]):
        return _moved(carry, axis, standing, found, regions)
    # Differences of means must be of means of what was absorbed, or large numbers cancel.
    count = _varying(Const(Fraction(1)), axis, Fn.ADD)
    existing = [c for c in standing if c.fold is Fn.ADD and c.term is count and not c.moves]
    helper = existing[0] if existing else Carry(f"{carry.name}_count", (), Fn.ADD, count)
    reference = ((size, helper.state),)
    running = replace(carry, term=referred(carry.term, axis, reference))
    helpers = () if existing else (helper,)
    found, regions = _separated(running, axis, [*meanings, *helpers], final, split)
    done = _moved(running, axis, [*standing, *helpers], found, regions)
    return replace(done, carry=carry, reference=reference, helpers=helpers)


def _read(carry: Carry, standing: Sequence[Carry]) -> tuple[Carry, ...]:
    """The producers: those carries whose new states the term reads."""
    names = states(carry.term)
    return tuple(c for c in standing if c.name in names)


def _separated(
    carry: Carry, axis: str, meanings: Sequence[Carry], final: Sequence[Carry], split: bool
) -> tuple[Separation, Regions]:
    """The separation of a term, off the points of its producers."""
    moving = frozenset(c.state for c in _read(carry, meanings))
    regions = Regions(meanings, final, axis if split else None)
    term, resolved = regular_form(carry.term, axis, regions.points)
    found = separate(term, axis, moving, carry.fold, regions.regular)
    for point in resolved:
        value = span(carry.term, regions.at_point(point, True, True)).point
        if value not in (carry.fold.unit, Fraction(0)):
            raise NoRepair(f"{words(carry.term)} is chosen anew when {point.producer.name} moves")
    return found, regions


def _moved(
    carry: Carry, axis: str, standing: Sequence[Carry], found: Separation, regions: Regions
) -> Repair:
    """The repair that keeps the basis at the current ``x``."""
    rank, producers = len(found.basis), _read(carry, standing)
    regular, _ = regular_form(carry.term, axis, regions.points)
    like = [carry.term, regular, *(c.term for c in standing)]
    first = found.basis[0] if found.apart else carry.term
    plain = [normal(k, regions.regular, like) for k in (first, *found.basis[1:])]
    basis = [_varying(k, axis, carry.fold) for k in plain]
    kept = [_existing(k, found.moves[i], i, carry.fold, standing) for i, k in enumerate(basis)]
    numbered = [f"{carry.name}_{i}" if i or found.apart else carry.name for i in range(rank)]
    names = [k.name if k else name for k, name in zip(kept, numbered, strict=True)]
    quiet = [_quiet(carry, found, i, regions) for i in range(rank)]
    overs = _overs(carry, axis, basis, found.moves)
    guards: list[Guard] = []
    components: list[Carry] = []
    for i, (term, old) in enumerate(zip(basis, kept, strict=True)):
        if old is not None:
            components.append(old)
            continue
        moves: list[Move] = []
        for j, factor in enumerate(found.moves[i]):
            if factor is None or (found.apart and factor is Const(Fraction(1))):
                continue
            harmless = {p: v is not None for p, v in quiet[j].items()}
            safe = guarded_factor(
                names[i], factor, i == j, found.action, regions, harmless, carry.term
            )
            guards += safe.guards
            moves.append(Move(names[j], safe.node))
        absorbed = guarded_term(names[i], term, regions, quiet[i])
        guards += absorbed.guards
        components.append(
            Carry(names[i], overs[i], carry.fold, absorbed.node, tuple(moves), found.action)
        )
    apart = [c for c in standing if c not in producers]
    together, under = shared(components, guards, apart)
    whole: list[Node] = [c.state for c in (together if found.apart else together[:1])]
    return Repair(
        axis,
        carry,
        producers,
        together,
        found.moves,
        found.parts,
        reduce(lambda a, b: Map(carry.fold, (a, b)), whole),
        tuple(dict.fromkeys(under)),
        _facts(producers, behind([carry.term], axis, standing).values()),
    )


def _existing(
    term: Node, row: Sequence[Node | None], i: int, fold: Fn, standing: Sequence[Carry]
) -> Carry | None:
    """A plain carry of the walk that already is this component (a count, say)."""
    still = all((f is None) if j != i else f is Const(Fraction(1)) for j, f in enumerate(row))
    same = (c for c in standing if c.term is term and c.fold is fold and not c.moves)
    return next(same, None) if still and i > 0 else None


def _deferred(
    carry: Carry, axis: str, producers: tuple[Carry, ...], found: Separation, regions: Regions
) -> Repair:
    """Nothing moves: functions of ``u`` are folded and the producers act once, at the end.

    Chosen where the basis degenerates (a factor that may be zero cannot be divided out).
    """
    for _, b in found.parts:
        wild = [n for n in topo([b]) if _explodes(n, axis)]
        if wild:
            raise NoRepair(
                f"{words(found.determinant)} may vanish, and {words(wild[0])} deferred to the end"
                " would overflow"
            )
    components = tuple(
        Carry(
            f"{carry.name}_{k}",
            tuple(a for a in carry.over if a in b.axes),
            carry.fold,
            _varying(b, axis, carry.fold),
            (),
            found.action,
        )
        for k, (_, b) in enumerate(found.parts)
    )
    acted = [
        Map(found.action, (a, c.state)) for (a, _), c in zip(found.parts, components, strict=True)
    ]
    total: Node = reduce(lambda a, b: Map(carry.fold, (a, b)), acted)
    finalise = guarded_value(total, carry.fold.unit, axis, regions)
    one = Const(Fraction(1)) if found.action is Fn.MUL else ZERO
    rank = len(components)
    factors = tuple(tuple(one if i == j else None for j in range(rank)) for i in range(rank))
    facts = _facts(producers)
    return Repair(axis, carry, producers, components, factors, found.parts, finalise, (), facts)


def _explodes(node: Node, axis: str) -> bool:
    """Whether an exponential of values along the walk is not known to be at most one."""
    match node:
        case Map(fn=Fn.EXP | Fn.EXP2, args=(arg,)):
            return axis in node.axes and span(arg, {}).hi > 0
        case _:
            return False


def _quiet(carry: Carry, found: Separation, i: int, regions: Regions) -> dict[Point, Number | None]:
    """Per point, the fixed value of component ``i`` there (None: it has no fixed value)."""
    quiet: dict[Point, Number | None] = {}
    for point in regions.points:
        values = {
            neutral(found.parts[k][1], point, carry.fold, found.action) for k in found.uses[i]
        }
        quiet[point] = values.pop() if len(values) == 1 else None
    return quiet


def _overs(
    carry: Carry, axis: str, basis: Sequence[Node], moves: tuple[tuple[Node | None, ...], ...]
) -> list[tuple[str, ...]]:
    """The axes of each component: its term's, its factors', and its sources'."""
    rank = len(basis)
    axes = [set(carry.over), *(set(k.axes) - {axis} for k in basis[1:])]
    for _ in range(rank):
        for i in range(rank):
            for j, factor in enumerate(moves[i]):
                if factor is not None:
                    axes[i] |= set(factor.axes) | axes[j]
    return [tuple(a for a in carry.over if a in found) for found in axes]


def _varying(term: Node, axis: str, fold: Fn) -> Node:
    """``term`` as a value along the walk: every position contributes, a constant too."""
    if axis in term.axes:
        return term
    here = Map(Fn.LE, (ZERO, Index(axis)))
    return Map(Fn.WHERE, (here, term, Const(fold.unit)))


def _facts(producers: tuple[Carry, ...], scanned: Collection[Carry] = ()) -> tuple[Node, ...]:
    """What holds between two tiles: a maximum only rises from where it was moved to, a minimum
    only falls, and a sum (of which prefixes are read) goes where all its terms point."""
    facts: list[Node] = []
    by = {p.name: p for p in producers}
    for p in producers:
        pair: tuple[State, State] = (p.old, p.state)
        if p.fold in EXTREMA and all(m.source in by for m in p.moves):
            kept: tuple[Node, Node] = (p.kept(by), p.state)
            facts.append(Map(Fn.LE, kept if p.fold is Fn.MAX else kept[::-1]))
        elif p in scanned and (way := direction(p.fold, p.term)):
            facts.append(Map(Fn.LE, pair if way > 0 else pair[::-1]))
    return tuple(facts)
