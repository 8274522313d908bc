"""Which folds of a spec can share a walk with what they read, and by which law: a page of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path

from superopt.errors import NoFusion
from superopt.errors import NoRepair
from superopt.loading import load
from superopt.repair.apply import repair
from superopt.repair.record import Repair
from superopt.report.algebra import PRIME
from superopt.report.algebra import abbreviated
from superopt.report.algebra import algebra
from superopt.report.algebra import fold_name
from superopt.report.algebra import plain
from superopt.rewrite.fuse import Passes
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.spec import Spec
from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Best
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.order import by_order
from superopt.ugraph.payload import with_payloads
from superopt.ugraph.recurrence import step
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Verdict

TRIED = 6  # ways to group the folds of an axis into walks, fewest walks first

HEAD = """# Repairs

Written by `superopt explain --repairs` from the specs; do not edit it.

A fold that reads another fold of the same axis would read a value that still moves, if both went
along the axis together. A repair corrects what was folded so far whenever that value moves. One
line for each: the fold as it is written in the spec, how many accumulators it takes (rank), the
law of each of them, where guards stand, what was proved, and whether the walk may be split into
parts that are joined at the end.

`s` is a state before a tile and `s'` behind it; folds in a law go over the positions of the tile.
Laws hold off the guarded points, where a state is at the unit of its fold: there the old state is
kept, and a term adds nothing (`term:`); the spec's own guards at such points are left out, too.
*proved 7* counts the obligations (separation, endomorphism, composition, combination, domain,
range, scope); one that was sampled in prime fields is named with the chance of a wrong accept.
What is refused with few walks is searched with more of them.
A list of the best reads nothing that moves and needs no repair, but its states are lists that are
merged (rank *merge*): the best of two lists, by value and then by position, with the list that
has no candidate as the unit. What goes with candidates is taken along with them.
The state of a recurrence needs none either (rank *steps*): it goes on from position to position,
in order, and no tile or part of the walk has more than one of them.
"""


@dataclass(frozen=True)
class Row:
    """One line: a consumer of ``spec`` along ``axis`` in a kernel of ``walks`` walks.

    ``consumer``: the name of the fold. ``rank`` None: refused, and ``law`` says why; ``merge``: it
    reads nothing that moves, but its states are put together by a law of their own; ``steps``: it
    is the state of a recurrence.
    ``seconds``: of the derivation of all repairs of the kernel.
    """

    spec: str
    axis: str
    walks: int
    consumer: str
    rank: int | str | None
    law: tuple[str, ...]
    guards: tuple[str, ...] = ()
    proofs: str = ""
    modes: str = ""
    seconds: float = 0.0


def page(files: Sequence[str], proofs: bool = True, times: bool = False) -> str:
    """The page of the specs of ``files``, ``FILE`` or ``FILE:function`` each.

    Raises:
        UserError: a file holds no spec.
    """
    parts = [HEAD]
    for file in files:
        parts += [f"## {Path(file).name}\n", *table(load(file), proofs, times), ""]
    return "\n".join(parts).rstrip() + "\n"


def table(specs: Sequence[Spec], proofs: bool = True, times: bool = False) -> list[str]:
    """A table of the repairs of ``specs`` in Markdown."""
    heads = ["spec", "axis, walks", "fold", "rank", "law", "guards", "obligations", "modes"]
    if times:
        heads.append("seconds")
    lines = [_line(heads), _line(["---"] * len(heads))]
    for spec in specs:
        found = rows(spec.program, proofs)
        if not found:
            lines.append(
                _line([spec.name, "", "", "", "nothing to repair", *[""] * (len(heads) - 5)])
            )
        for row in found:
            cells = _cells(row)
            lines.append(_line([*cells, f"{row.seconds:.2f}"] if times else cells))
    return lines


@dataclass(frozen=True)
class Fusion:
    """All folds along ``axis`` in as many walks as ``passes`` has, and what repair made of it.

    ``block``, ``repairs``: of a rolling walk, none if it was refused (``error``); ``split``: the
    same of a walk that is cut into parts, if it can be. ``seconds``: of the derivation.
    """

    axis: str
    passes: Passes
    seconds: float
    block: BlockGraph | None = None
    repairs: tuple[Repair, ...] = ()
    split: tuple[BlockGraph, tuple[Repair, ...]] | None = None
    error: NoRepair | None = None


def fusions(program: Program) -> Iterator[Fusion]:
    """What becomes of the naive fusions of ``program``: for every folded axis those with the
    fewest walks, up to the first one that holds."""
    program = with_payloads(by_order(program))
    values = [s.value for s in program.outputs]
    nodes = [n for n in topo(values) if isinstance(n, Reduce | Best | Recur)]
    made = [a for a, _ in program.fixed]
    stepped = {n.axis for n in nodes if isinstance(n, Recur)}
    mixed = [a for n in nodes if isinstance(n, Recur) for a in sorted(n.mixed)]
    folded = [a for a in dict.fromkeys([*(n.axis for n in nodes), *mixed]) if a not in made]
    for axis in folded:
        if stepped - {axis}:  # its kernels walk that axis, position by position
            continue
        try:
            passes = groupings(program.outputs, [axis])[:TRIED]
        except NoFusion:  # walks do not nest: the axis is no walk of one kernel
            continue
        for one in passes:
            fused = _fused(program, axis, folded, one, Loop(tiled=axis not in stepped))
            start = time.perf_counter()
            try:
                block, repairs = repair(fused)
            except NoRepair as error:
                yield Fusion(axis, one, time.perf_counter() - start, error=error)
                continue
            seconds = time.perf_counter() - start
            merged = repairs or any(c.listed for w in fused.walks for c in w.carries)
            split = _split(program, axis, folded, one) if merged else None
            yield Fusion(axis, one, seconds, block, repairs, split)
            break


def rows(program: Program, proofs: bool = True) -> list[Row]:
    """A line for each premature fold of ``program``; the same refusal is said once."""
    found: list[Row] = []
    for fusion in fusions(program):
        axis, walks, seconds = fusion.axis, len(fusion.passes), fusion.seconds
        if fusion.error is not None:
            why = (f"refused: {fusion.error}",)
            row = Row(program.name, axis, walks, fusion.error.carry, None, why, seconds=seconds)
            if all(replace(row, walks=f.walks, seconds=f.seconds) != f for f in found):
                found.append(row)
        for number, one in enumerate(fusion.repairs):
            row = Row(program.name, axis, walks, one.carry.name, one.rank, law(one))
            found.append(
                replace(
                    row,
                    guards=tuple(dict.fromkeys(_guards(one))),
                    proofs=_evidence(_claims(fusion, number)) if proofs else "",
                    modes="rolling" if fusion.split is None else "rolling, split",
                    seconds=seconds,
                )
            )
        if fusion.block is not None:
            modes = "rolling" if fusion.split is None else "rolling, split"
            lists = [
                c for w in fusion.block.walks for c in w.carries if c.listed and not c.listed.at
            ]
            for carry in lists:
                row = Row(program.name, axis, walks, carry.name, "merge", _merge(carry))
                found.append(replace(row, modes=modes, seconds=seconds))
            steps = [c for w in fusion.block.walks for c in w.carries if c.stepwise]
            for carry in steps:
                row = Row(program.name, axis, walks, carry.name, "steps", _step(carry))
                found.append(replace(row, modes=modes, seconds=seconds))
    return found


def _step(carry: Carry) -> tuple[str, ...]:
    """What one position makes of the state of a recurrence."""
    recurrence = carry.recurrence(last=False)
    (text, first), legend = abbreviated([step(recurrence, carry.old), recurrence.first])
    start = [] if first == "0" else [f"{carry.name} = {first} at first"]
    return (f"{carry.name}' = {text}", *start, *(f"with {one}" for one in legend))


def _merge(carry: Carry) -> tuple[str, ...]:
    """How the states of a list of the best, or of what goes with one, are put together."""
    name = carry.name
    if carry.listed is not None and carry.listed.taken:
        law = f"{name}' = of {name} and u, what goes with {carry.listed.other}'"
        return (law, f"with u = {algebra(carry.term)}")
    return (f"{name}' = best({name}, u) by value, then position", f"with u = {algebra(carry.term)}")


def _fused(
    program: Program, axis: str, folded: list[str], passes: Passes, place: Place
) -> BlockGraph:
    """The naive fusion: ``axis`` is walked, other folded axes are within a tile."""
    axes = dict.fromkeys(a for p in program.params for a in getattr(p, "axes", ()))
    made = [a for a, _ in program.fixed]
    whole = [*folded, *made]
    places = tuple(
        (a, place if a == axis else Whole() if a in whole else Grid()) for a in [*axes, *made]
    )
    order = tuple(Turn(a) for a, p in places if isinstance(p, Grid))
    return fuse(program.outputs, places, order, passes)


def _split(
    program: Program, axis: str, folded: list[str], passes: Passes
) -> tuple[BlockGraph, tuple[Repair, ...]] | None:
    """The same with a split axis, if that is possible."""
    try:
        return repair(_fused(program, axis, folded, passes, Split()))
    except (NoFusion, NoRepair):
        return None


def _claims(fusion: Fusion, number: int) -> list[tuple[str, Verdict]]:
    """The judged obligations of a repair, of the split walk too where its repair is another."""
    from superopt.verify.obligations import judge_repair  # the solver takes long to load

    assert fusion.block is not None
    claims = list(judge_repair(fusion.repairs[number], fusion.block))
    if fusion.split is not None and fusion.split[1][number] != fusion.repairs[number]:
        claims += judge_repair(fusion.split[1][number], fusion.split[0])
    return claims


def _evidence(claims: Sequence[tuple[str, Verdict]]) -> str:
    """What was proved; whatever was not is named. Of two modes the weaker evidence counts."""
    weak: dict[str, str] = {}
    for claim, verdict in claims:
        match verdict:
            case Proved():
                continue
            case Sampled(log2_bound=bound):
                weak.setdefault(claim, f"sampled (2^{bound:.0f})")
            case _:
                weak[claim] = "not proved"
    proved = len({claim for claim, _ in claims} - set(weak))
    return "; ".join([f"proved {proved}", *(f"{claim} {how}" for claim, how in weak.items())])


def law(found: Repair) -> tuple[str, ...]:
    """How each accumulator moves and what a tile adds to it, and what the fold is at the end.

    Plain producers and long subterms are explained behind.
    """
    nodes: list[Node] = []
    for component, factors in zip(found.components, found.factors, strict=True):
        nodes += [plain(f) for f in factors if f is not None and not found.deferred]
        nodes.append(plain(component.term))
    given = [p for p in found.producers if not p.moves]
    terms = [plain(p.term) for p in given]
    texts, legend = abbreviated([*nodes, plain(found.finalise), *terms])
    rest = iter(texts)
    lines = [_component(found, i, rest) for i in range(found.rank)]
    value = next(rest)
    if found.finalise is not found.carry.state:
        lines.append(f"{found.carry.name} = {value.replace(PRIME, '')}")
    for p, text in zip(given, rest, strict=True):
        legend.append(f"{p.name} = {fold_name(p.fold, found.axis)}({text})")
    return (*lines, *(f"with {one}" for one in legend))


def _component(found: Repair, i: int, texts: Iterator[str]) -> str:
    """One accumulator behind a tile; ``texts``: its factors and its term."""
    name, fold = found.components[i].name, found.fold
    moved: list[str] = []
    sign = " + " if found.action is Fn.ADD else " * "
    for source, factor in zip(found.components, found.factors[i], strict=True):
        if factor is None:
            continue
        text = "" if found.deferred else next(texts)
        loose = isinstance(factor, Map) and factor.fn in (Fn.ADD, Fn.SUB) and sign == " * "
        still = found.deferred or text == ("0" if found.action is Fn.ADD else "1")
        scale = f"({text})" if loose else text
        moved.append(source.name if still else f"{source.name}{sign}{scale}")
    moved.append(f"{fold_name(fold, found.axis)}({next(texts)})")
    joined = " + ".join(moved) if fold is Fn.ADD else f"{fold.symbol}({', '.join(moved)})"
    return f"{name}' = {joined}"


def _guards(found: Repair) -> list[str]:
    return [f"{'term: ' if g.absorb else ''}{algebra(g.condition)}" for g in found.guards]


def _cells(row: Row) -> list[str]:
    return [
        row.spec,
        f"{row.axis}, {row.walks}",
        row.consumer,
        "-" if row.rank is None else str(row.rank),
        _code(row.law)
        if row.rank is not None
        else row.law[0].replace("[", "\\[").replace("](", "] ("),
        _code(row.guards),
        row.proofs,
        row.modes,
    ]


def _code(lines: Sequence[str]) -> str:
    return "<br>".join(f"`{line}`" for line in lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
