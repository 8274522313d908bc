"""A derivation and its repairs told to a reader: the law of each step, the algebra of each part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace
from fractions import Fraction

from superopt.repair.record import Guard
from superopt.repair.record import Repair
from superopt.report.algebra import PRIME
from superopt.report.algebra import abbreviated
from superopt.report.algebra import algebra
from superopt.report.algebra import combined
from superopt.report.algebra import fold_name
from superopt.report.algebra import plain
from superopt.rewrite import algebra as laws_of_reals
from superopt.rewrite import folds
from superopt.rewrite import lowering
from superopt.rewrite.rule import RULES
from superopt.rewrite.rule import HasAxis
from superopt.rewrite.rule import Rule
from superopt.rewrite.show import pattern_text
from superopt.run import Candidate
from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.names import Names
from superopt.ugraph.names import canonical
from superopt.ugraph.names import rename
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import State
from superopt.ugraph.walk import substitute

assert laws_of_reals, (folds, lowering)  # their import fills RULES
LEFT, RIGHT = "_left", "_right"  # the states of two parts that are joined
HOW_TO_READ = (
    "s is a state before a tile, s' behind it; in a combination s_left and s_right are the states "
    "of two parts and s' that of both; tile is what the tile adds. Folds go over its positions. "
    "The lines hold off the guarded points; what happens there is said under guard."
)


@dataclass(frozen=True)
class Law:
    """One step of a derivation. ``law``: its name, ``statement``: as it is in the set of laws
    (empty if it is none of them); ``before`` and ``after``: the terms, deep parts as ``...``."""

    law: str
    statement: str
    before: str
    after: str


@dataclass(frozen=True)
class Told:
    """One repair: a line that says why, then (part of the repair, algebra) pairs."""

    title: str
    lines: tuple[tuple[str, str], ...]


def step(text: str) -> Law:
    """A step of a derivation as candidates keep it, ``law: before  ->  after``, taken apart."""
    head, sign, after = text.partition("  ->  ")
    name, _, before = head.partition(": ")
    if not sign:
        return Law(text, "", "", "")
    rule = RULES.get(name)
    return Law(name, _statement(rule) if rule else "", before, after)


def _statement(rule: Rule) -> str:
    needs = [str(n) for n in rule.needs if not isinstance(n, HasAxis)]
    condition = f", if {' and '.join(needs)}" if needs else ""
    return f"{pattern_text(rule.left)}  =  {pattern_text(rule.right)}{condition}"


def repairs_of(winner: Candidate) -> tuple[Told, ...]:
    """The repairs of a candidate in the user's names, in the order in which claims number them."""
    if not winner.records:
        return ()
    names = user_names(winner.graph)
    return tuple(told(renamed(r, names)) for r in winner.records)


def user_names(graph: KernelGraph) -> Names:
    """The names of ``graph``, which are the user's, for the canonical ones that records have.

    Canonical names count the axes and tensors of the signature, of the outputs, and the axes that
    the spec fixes: a graph has them all.
    """
    stores = {s.name: s for block in graph.kernels for s in block.all_stores}
    outputs = tuple(
        Store(name, stores[name].order, stores[name].dtype, Const(Fraction(0)))
        for name in graph.outputs
    )
    return canonical(Program(graph.name, graph.params, outputs, graph.fixed))[1]


def renamed(repair: Repair, names: Names) -> Repair:
    """``repair`` in the user's names."""

    def node(n: Node) -> Node:
        return rename(n, names.axes, names.tensors)

    def carries(found: tuple[Carry, ...]) -> tuple[Carry, ...]:
        return rename(Walk(repair.axis, found), names.axes, names.tensors).carries

    return replace(
        repair,
        axis=names.axes.get(repair.axis, repair.axis),
        carry=carries((repair.carry,))[0],
        producers=carries(repair.producers),
        components=carries(repair.components),
        factors=tuple(tuple(None if f is None else node(f) for f in row) for row in repair.factors),
        parts=tuple((node(a), node(b)) for a, b in repair.parts),
        finalise=node(repair.finalise),
        guards=tuple(replace(g, condition=node(g.condition)) for g in repair.guards),
        facts=tuple(map(node, repair.facts)),
        reference=tuple((node(a), node(b)) for a, b in repair.reference),
        helpers=carries(repair.helpers),
    )


def told(repair: Repair) -> Told:
    """State, absorb, move, combine, finalise and guards of ``repair``, in its own names."""
    names = ", ".join(p.name for p in repair.producers)
    title = (
        f"{repair.carry.name} reads {names} of the same walk of {repair.axis}: "
        f"kept as {repair.rank} state{'s' if repair.rank > 1 else ''}"
    )
    given = [p for p in repair.producers if not p.moves]
    roots: list[Node] = [plain(repair.carry.term)]
    roots += [plain(p.term) for p in given]
    for i, component in enumerate(repair.components):
        roots += [plain(component.term), plain(component.kept(_by(repair))), _joined(repair, i)]
    texts, legend = abbreviated([*roots, plain(repair.finalise)])
    return Told(title, tuple(_lines(repair, given, texts, legend)))


def _by(repair: Repair) -> dict[str, Carry]:
    return {c.name: c for c in repair.components}


def _lines(
    repair: Repair, given: list[Carry], texts: list[str], legend: list[str]
) -> Iterator[tuple[str, str]]:
    rest = iter(texts)
    carry = repair.carry
    yield "asked", f"{carry.name} = {fold_name(carry.fold, repair.axis)}({next(rest)})"
    for p in given:
        yield "reads", f"{p.name}' = {combined(p.fold, p.name, _over(p, repair.axis, next(rest)))}"
    yield from (("where", line) for line in legend)
    for component in repair.components:
        over = ", ".join(component.over)
        begin = algebra(component.unit)
        yield "state", f"{component.name}{f' for each {over}' if over else ''}, at first {begin}"
        yield "absorb", f"tile = {_over(component, repair.axis, next(rest))}"
        yield "move", f"{component.name}' = {combined(repair.fold, next(rest), 'tile')}"
        yield "combine", f"{component.name}' = {next(rest)}"
    yield from (
        ("combine", f"{p.name}' = {combined(p.fold, p.name + LEFT, p.name + RIGHT)}") for p in given
    )
    final = f"{carry.name} = {next(rest).replace(PRIME, '')}"
    same = repair.finalise is repair.carry.state
    yield "finalise", "nothing: the state is the value" if same else final
    for a, b in repair.reference:
        yield "stands for", f"{algebra(a)} while the walk runs: {algebra(b)}"
    yield from (("guard", _guard(g)) for g in repair.guards)


def _over(carry: Carry, axis: str, term: str) -> str:
    return f"{fold_name(carry.fold, axis)}({term})"


def _guard(guard: Guard) -> str:
    kept = "the term adds nothing" if guard.absorb else "the old state is kept"
    return f"{guard.component}, where {algebra(guard.condition)}: {kept} ({guard.why})"


def _joined(repair: Repair, i: int) -> Node:
    """Component ``i`` of two joined parts."""
    states = [c.old for c in (*repair.producers, *repair.components, *repair.helpers)]
    left: dict[Node, Node] = {s: _named(s, LEFT) for s in states}
    right: dict[Node, Node] = {s: _named(s, RIGHT) for s in states}
    by = _by(repair)
    kept = plain(repair.components[i].kept(by))
    return Map(repair.fold, (substitute(kept, left), substitute(kept, right)))


def _named(state: State, suffix: str) -> State:
    return State(state.carry + suffix, state.over, True, state.whole)
