"""Repairs with one thing wrong: in the record and in the walk alike, or in the walk alone."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random

from superopt.mutate.graph import changed_nodes
from superopt.mutate.graph import others
from superopt.repair.record import Repair
from superopt.report.algebra import algebra
from superopt.report.algebra import plain
from superopt.report.repairs import fusions
from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Move
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import State
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo
from superopt.verify.field.graphs import verify_graph
from superopt.verify.verdict import Verdict
from tests.catalogue import ROWS
from tests.repair.cases import REPAIRED
from tests.repair.cases import Case
from tests.repair.cases import repaired
from tests.repair.cases import spec
from tests.samples import NEG_INF
from tests.samples import add
from tests.samples import mul
from tests.samples import num
from tests.samples import where

MINUS, ZERO, ONE, HALF = num(-1), num(0), num(1), num(Fraction(1, 2))


@dataclass(frozen=True)
class Subject:
    """A kernel whose repairs are changed, those with ``numbers``."""

    name: str
    program: Program
    block: BlockGraph
    repairs: tuple[Repair, ...]
    numbers: tuple[int, ...]

    def verdict(self, block: BlockGraph) -> Verdict:
        """Whether ``block`` computes the program, in fields."""
        names = tuple(s.name for s in self.program.outputs)
        graph = KernelGraph("mutant", self.program.params, names, (block,))
        return verify_graph(self.program, graph, seed=0)


def of_case(case: Case) -> Subject:
    """All repairs of a case."""
    block, repairs = repaired(case)
    return Subject(case.name, spec(case), block, repairs, tuple(range(len(repairs))))


@cache
def subjects() -> tuple[Subject, ...]:
    """The cases, and of the rows of the catalogue all repairs of which no other has the law."""
    found = [of_case(case) for case in REPAIRED]
    known = {_law(r) for subject in found for r in subject.repairs}
    for pattern in ROWS:
        program = pattern.loaded.program
        for fusion in fusions(program):
            new = {_law(r): i for i, r in enumerate(fusion.repairs) if _law(r) not in known}
            known |= new.keys()
            if new and fusion.block is not None:
                numbers = tuple(sorted(new.values()))
                one = Subject(pattern.name, program, fusion.block, fusion.repairs, numbers)
                found.append(one)
    return tuple(found)


def _law(found: Repair) -> tuple[object, ...]:
    """How the components are moved and guarded, whatever they are sums of."""
    factors = tuple(f and algebra(plain(f)) for row in found.factors for f in row)
    guards = tuple(dict.fromkeys(algebra(g.condition) for g in found.guards))
    return found.fold, found.action, factors, guards, algebra(plain(found.finalise))


@dataclass(frozen=True)
class Mutant:
    """One change of ``repair`` number ``number`` of ``subject``. ``site``: which move, guard,
    combination or term; ``what``: the change."""

    subject: Subject
    number: int
    site: str
    what: str
    repair: Repair
    block: BlockGraph


def mutants(subject: Subject) -> Iterator[Mutant]:
    """Every mutant of every repair of a subject, in a fixed order."""
    for number in subject.numbers:
        found, block = subject.repairs[number], subject.block
        for site, what, wrong, other in _changes(found, block):
            if (wrong, other) != (found, block):
                yield Mutant(subject, number, site, what, wrong, other)


def _changes(found: Repair, block: BlockGraph) -> Iterator[tuple[str, str, Repair, BlockGraph]]:
    for i, component in enumerate(found.components):
        for j, move in enumerate(component.moves):
            site = f"move of {move.source} to {component.name}"
            for what, wrong, other in _moved(found, block, i, j):
                yield site, what, wrong, other
        for site, what, wrong, other in _guarded(found, block, i):
            yield site, what, wrong, other
        for what, changed in _combined(found, component):
            site = f"combination of {component.name}"
            yield site, what, *_with(found, block, i, changed)
        for what, term in changed_nodes(component.term):
            site = f"term of {component.name}"
            yield site, what, *_with(found, block, i, replace(component, term=term))
    if found.deferred:
        for what, value in changed_nodes(found.finalise):
            swapped = {found.finalise: value}
            other = _mapped(block, lambda n, by=swapped: substitute(n, by))
            yield "value at the end", what, replace(found, finalise=value), other


# Moves -----------------------------------------------------------------------------------


def _moved(
    found: Repair, block: BlockGraph, i: int, j: int
) -> Iterator[tuple[str, Repair, BlockGraph]]:
    component = found.components[i]
    move = component.moves[j]
    column = [c.name for c in found.components].index(move.source)
    plain = found.factors[i][column]
    assert plain is not None

    def changed(factor: Node, body: Node) -> tuple[Repair, BlockGraph]:
        guarded = _inside(move.factor, lambda _: body)
        moves = (*component.moves[:j], Move(move.source, guarded), *component.moves[j + 1 :])
        wrong = _with_factor(found, i, column, factor)
        return _with(wrong, block, i, replace(component, moves=moves))

    body = _body(move.factor)
    for what, change in _WAYS.items():
        yield what, *changed(change(plain), change(body))
    for node in topo([plain]):
        for what, other in (*others(node), *_dropped(node)):
            by = {node: other}
            same_axes = substitute(plain, by).axes == plain.axes
            if same_axes and substitute(body, by) is not body:
                yield what, *changed(substitute(plain, by), substitute(body, by))
    kept = (*component.moves[:j], *component.moves[j + 1 :])
    lost = _with_factor(found, i, column, None)
    yield "move dropped", *_with(lost, block, i, replace(component, moves=kept))
    lying = replace(component, moves=(*kept, Move(move.source, mul(move.factor, HALF))))
    yield "halved in the walk alone", *_with(found, block, i, lying)


def _dropped(node: Node) -> Iterator[tuple[str, Node]]:
    match node:
        case Map(fn=fn, args=(a, b)) if a.kind is node.kind:
            yield f"{fn.symbol}: second dropped", a
            yield f"{fn.symbol}: first dropped", b


def _turned(node: Node) -> Node:
    """Old states for new ones and new for old ones."""
    states = [n for n in topo([node]) if isinstance(n, State)]
    return substitute(node, {s: State(s.carry, s.over, not s.old, s.whole) for s in states})


_WAYS: dict[str, Callable[[Node], Node]] = {
    "sign": lambda f: mul(MINUS, f),
    "plus one": lambda f: add(f, ONE),
    "halved": lambda f: mul(HALF, f),
    "zero": lambda _: ZERO,
    "one": lambda _: ONE,
    "old and new swapped": _turned,
}


def _body(factor: Node) -> Node:
    match factor:
        case Map(fn=Fn.WHERE, args=(_, Const(), otherwise)):
            return otherwise
        case _:
            return factor


def _inside(factor: Node, change: Callable[[Node], Node]) -> Node:
    match factor:
        case Map(fn=Fn.WHERE, args=(condition, Const() as unit, otherwise)):
            return where(condition, unit, change(otherwise))
        case _:
            return change(factor)


def _with_factor(found: Repair, i: int, j: int, factor: Node | None) -> Repair:
    row = found.factors[i]
    changed = (*row[:j], factor, *row[j + 1 :])
    return replace(found, factors=(*found.factors[:i], changed, *found.factors[i + 1 :]))


# Guards ----------------------------------------------------------------------------------


def _guarded(
    found: Repair, block: BlockGraph, i: int
) -> Iterator[tuple[str, str, Repair, BlockGraph]]:
    component = found.components[i]
    for guard in (g for g in found.guards if g.component == component.name):
        site = f"guard of {component.name} ({guard.why})"
        without = replace(found, guards=tuple(g for g in found.guards if g is not guard))
        for what, condition in _conditions(guard.condition):
            changed = _reguarded(component, guard.condition, condition)
            by = replace(guard, condition=condition)
            said = tuple(by if g is guard else g for g in found.guards)
            yield site, what, *_with(replace(found, guards=said), block, i, changed)
        bare = _reguarded(component, guard.condition, Map(Fn.LT, (ZERO, ZERO)))
        yield site, "dropped", *_with(without, block, i, bare)
        yield site, "dropped in the walk alone", *_with(found, block, i, bare)
        for what, unit in (("0", ZERO), ("1", ONE), ("2", num(2)), ("-inf", NEG_INF)):
            changed = _another_unit(component, guard.condition, unit)
            yield site, f"unit {what}", *_with(found, block, i, changed)


def _conditions(condition: Node) -> Iterator[tuple[str, Node]]:
    yield "negated", Map(Fn.NOT, (condition,))
    yield "new for old", _turned(condition)
    for n in topo([condition]):
        if isinstance(n, Const):
            for value in (Fraction(0), Fraction(1), INF):
                if value != n.value:
                    yield f"at {value}", substitute(condition, {n: Const(value)})


def _reguarded(component: Carry, condition: Node, other: Node) -> Carry:
    return _changed_where(component, condition, lambda unit, body: (other, unit, body))


def _another_unit(component: Carry, condition: Node, unit: Node) -> Carry:
    return _changed_where(component, condition, lambda _, body: (condition, unit, body))


def _changed_where(
    component: Carry, condition: Node, change: Callable[[Node, Node], tuple[Node, Node, Node]]
) -> Carry:
    """The selects that the deriver put around a move or a term (not those inside of it)."""

    def changed(node: Node) -> Node:
        match node:
            case Map(fn=Fn.WHERE, args=(c, Const() as unit, body)) if condition in _asked(c):
                new, unit, body = change(unit, body)
                return where(substitute(c, {condition: new}), unit, body)
            case Map(fn=Fn.WHERE, args=(c, Const() as unit, body)):
                return where(c, unit, changed(body))
            case _:
                return node

    moves = tuple(Move(m.source, changed(m.factor)) for m in component.moves)
    return replace(component, moves=moves, term=changed(component.term))


def _asked(condition: Node) -> list[Node]:
    match condition:
        case Map(fn=Fn.OR, args=args):
            return [condition, *(c for a in args for c in _asked(a))]
        case _:
            return [condition]


# Combination -----------------------------------------------------------------------------


def _combined(found: Repair, component: Carry) -> Iterator[tuple[str, Carry]]:
    for fold in (Fn.ADD, Fn.MAX, Fn.MIN, Fn.MUL):
        if fold is not component.fold:
            yield f"folded by {fold.symbol}", replace(component, fold=fold)
    for action in (Fn.ADD, Fn.MUL, Fn.SUB):
        if action is not component.action and component.moves:
            yield f"moved by {action.symbol}", replace(component, action=action)
    if component.moves:
        yield "not moved", replace(component, moves=())
        again = (*component.moves, component.moves[0])
        yield "moved twice", replace(component, moves=again)
    else:
        for what, factor in (("halved", HALF), ("forgotten", ZERO), ("negated", MINUS)):
            moves = (Move(component.name, factor),)
            yield what, replace(component, moves=moves, action=Fn.MUL)
    names = [c.name for c in (*found.components, *found.producers) if c.name != component.name]
    for n, move in enumerate(component.moves):
        for name in names:
            moves = (*component.moves[:n], Move(name, move.factor), *component.moves[n + 1 :])
            yield f"{name} for {move.source}", replace(component, moves=moves)


# Both the record and the walk ------------------------------------------------------------


def _with(found: Repair, block: BlockGraph, i: int, component: Carry) -> tuple[Repair, BlockGraph]:
    name = found.components[i].name
    components = (*found.components[:i], component, *found.components[i + 1 :])
    walks = tuple(
        replace(w, carries=tuple(component if c.name == name else c for c in w.carries))
        for w in block.walks
    )
    return replace(found, components=components), replace(block, walks=walks)


def _mapped(block: BlockGraph, change: Callable[[Node], Node]) -> BlockGraph:
    walks = tuple(
        replace(
            w,
            carries=tuple(
                replace(
                    c,
                    term=change(c.term),
                    moves=tuple(Move(m.source, change(m.factor)) for m in c.moves),
                )
                for c in w.carries
            ),
        )
        for w in block.walks
    )
    stores = tuple(replace(s, value=change(s.value)) for s in block.stores)
    return replace(block, walks=walks, stores=stores)


# All of them ----------------------------------------------------------------------------


@cache
def every() -> tuple[Mutant, ...]:
    """All mutants of all subjects, in a fixed order."""
    return tuple(m for subject in subjects() for m in mutants(subject))


def sample(number: int) -> list[Mutant]:
    """The same ``number`` of mutants each time, from all subjects and kinds of sites."""
    return Random(1).sample(every(), number)
