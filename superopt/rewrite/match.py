"""Where a law's pattern occurs in the e-graph, and what its other side is there.

Matching is modulo association and commutation, with *maximal* choices instead of all: a
hole that must be free of an axis takes every factor that is free of it, a plain hole takes
what is left. At the root, arguments that the pattern does not need stay as context
(``f + x p + x q`` has the pattern ``x p + x q`` in the context ``f + _``), and so do further
axes of a fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from superopt.rewrite import facts as fact_table
from superopt.rewrite.egraph import FLAT
from superopt.rewrite.egraph import EGraph
from superopt.rewrite.egraph import ENode
from superopt.rewrite.egraph import Folding
from superopt.rewrite.egraph import Op
from superopt.rewrite.facts import Facts
from superopt.rewrite.rule import App
from superopt.rewrite.rule import AxisFree
from superopt.rewrite.rule import Extent
from superopt.rewrite.rule import Fold
from superopt.rewrite.rule import HasAxis
from superopt.rewrite.rule import Known
from superopt.rewrite.rule import Num
from superopt.rewrite.rule import Pattern
from superopt.rewrite.rule import Rule
from superopt.rewrite.rule import Sym
from superopt.rewrite.rule import Var
from superopt.rewrite.rule import lift
from superopt.ugraph.node import Named
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind


@dataclass(frozen=True)
class Bag:
    """Several arguments of a flat function, bound to one hole."""

    fn: Fn
    ids: tuple[int, ...]


Bound = int | Bag | tuple[str, ...]  # a class, several arguments, or axes
Binding = dict[str, Bound]


@dataclass(frozen=True)
class Found:
    """One match: what the holes are, and the context around the pattern at the root."""

    binding: Binding
    rest: tuple[int, ...] = ()
    axes: tuple[str, ...] = ()


def normal(pattern: Pattern) -> Pattern:
    """The pattern in the e-graph's normal form (see ``egraph.py``)."""
    match pattern:
        case App(Fn.SUB, (a, b)):
            return normal(App(Fn.ADD, (a, App(Fn.MUL, (lift(-1), b)))))
        case App(Fn.DIV, (a, b)):
            if a == lift(1):
                return App(Fn.DIV, (a, normal(b)))
            return normal(App(Fn.MUL, (a, App(Fn.DIV, (lift(1), b)))))
        case App(fn, args):
            flat: list[Pattern] = []
            for arg in map(normal, args):
                same = fn in FLAT and isinstance(arg, App) and arg.fn is fn
                flat += arg.args if same and isinstance(arg, App) else (arg,)
            return App(fn, tuple(flat))
        case Fold(fn, axis, arg):
            return Fold(fn, axis, normal(arg))
        case _:
            return pattern


class Matcher:
    """One law, ready to be searched for from left to right."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.left = normal(rule.left)
        self.right = normal(rule.right)
        self.free = {n.hole: n.axis for n in rule.needs if isinstance(n, AxisFree)}

    def roots(self, op: Op) -> bool:
        """Whether a node with this operator can be the pattern's root."""
        match self.left:
            case App(fn=fn):
                return op is fn
            case Fold(fn=fn):
                return isinstance(op, Folding) and op.fn is fn
            case _:
                return False

    def search(self, graph: EGraph, node: ENode, owner: int) -> Iterator[Found]:
        """All matches at ``node`` of class ``owner`` whose needs are met."""
        for found in self._root(graph, node):
            if self.met(graph, owner, found):
                yield found

    def build(self, graph: EGraph, found: Found) -> int | None:
        """The class of the other side, in its context; None if it is not well formed."""
        made = self._make(graph, self.right, found.binding)
        if made is None:
            return None
        match self.left:
            case App(fn=fn) if found.rest:
                return graph.apply(fn, [*self._splice(graph, made, fn), *found.rest])
            case Fold(fn=fn) if found.axes:
                lost = set(found.axes) - graph.facts(made).axes
                return None if lost else graph.fold(fn, found.axes, made)
            case _:
                return made

    @staticmethod
    def _splice(graph: EGraph, cid: int, fn: Fn) -> tuple[int, ...]:
        """The arguments of the first node of ``cid``, if it is a flat ``fn``."""
        first = graph.nodes(cid)[0]
        return first.args if first.op is fn else (cid,)

    # Search ------------------------------------------------------------------------------

    def _root(self, graph: EGraph, node: ENode) -> Iterator[Found]:
        match self.left, node.op:
            case App(fn=fn, args=parts), _ if fn in FLAT:
                for binding, rest in self._flat(graph, fn, parts, node.args, {}):
                    yield Found(binding, rest)
            case Fold(axis=axis, arg=arg), Folding(axes=axes):
                for one in axes:
                    others = tuple(a for a in axes if a != one)
                    for binding in self._class(graph, arg, node.args[0], {axis: (one,)}):
                        yield Found(binding, (), others)
            case _:
                for binding in self._node(graph, self.left, node, {}):
                    yield Found(binding)

    def _class(self, graph: EGraph, pattern: Pattern, cid: int, b: Binding) -> Iterator[Binding]:
        cid = graph.find(cid)
        match pattern:
            case Var(name=name):
                yield from self._bind(graph, name, cid, b)
            case Num(value=value):
                if graph.facts(cid).const == value:
                    yield b
            case _:
                for node in graph.nodes(cid):
                    yield from self._node(graph, pattern, node, b)

    def _node(self, graph: EGraph, pattern: Pattern, node: ENode, b: Binding) -> Iterator[Binding]:
        match pattern, node.op:
            case Sym(name=name), Named(name=other) if name is other:
                yield b
            case Extent(axis=axis), Size(axis=other):
                if b.get(axis, (other,)) == (other,):
                    yield {**b, axis: (other,)}
            case Fold(fn=fn, axis=axis, arg=arg), Folding(fn=other, axes=axes) if fn is other:
                if b.get(axis, axes) == axes:
                    yield from self._class(graph, arg, node.args[0], {**b, axis: axes})
            case App(fn=fn, args=parts), Fn() as other if fn is other:
                if fn in FLAT:
                    for binding, rest in self._flat(graph, fn, parts, node.args, b):
                        if not rest:
                            yield binding
                else:
                    yield from self._ordered(graph, parts, node, b)
            case _:
                pass

    def _ordered(
        self, graph: EGraph, parts: tuple[Pattern, ...], node: ENode, b: Binding
    ) -> Iterator[Binding]:
        orders = [node.args]
        if isinstance(node.op, Fn) and node.op.value.commutative and node.args[0] != node.args[1]:
            orders.append(node.args[::-1])
        for args in orders:
            found = [b]
            for part, arg in zip(parts, args, strict=True):
                found = [new for old in found for new in self._class(graph, part, arg, old)]
            yield from found

    def _flat(
        self, graph: EGraph, fn: Fn, parts: tuple[Pattern, ...], args: tuple[int, ...], b: Binding
    ) -> Iterator[tuple[Binding, tuple[int, ...]]]:
        """Bindings and what is left over. Rigid parts choose first, then holes by need."""
        rigid = [p for p in parts if not isinstance(p, Var)]
        holes = [p.name for p in parts if isinstance(p, Var)]
        if len(args) < len(parts):
            return
        for binding, left in self._rigid(graph, rigid, args, b):
            yield from self._holes(graph, fn, holes, left, binding)

    def _rigid(
        self, graph: EGraph, parts: list[Pattern], args: tuple[int, ...], b: Binding
    ) -> Iterator[tuple[Binding, tuple[int, ...]]]:
        if not parts:
            yield b, args
            return
        for index, arg in enumerate(args):
            if arg in args[:index]:
                continue
            left = args[:index] + args[index + 1 :]
            for binding in self._class(graph, parts[0], arg, b):
                yield from self._rigid(graph, parts[1:], left, binding)

    def _holes(
        self, graph: EGraph, fn: Fn, holes: list[str], args: tuple[int, ...], b: Binding
    ) -> Iterator[tuple[Binding, tuple[int, ...]]]:
        left = list(args)
        plain: list[str] = []
        b = dict(b)
        for name in sorted(holes, key=lambda h: (h not in b, h not in self.free)):
            if name in b:
                if not _take(left, b[name], fn):
                    return
            elif name in self.free and self.free[name] in b:
                axes = b[self.free[name]]
                chosen = [a for a in left if not graph.facts(a).axes & set(_axes(axes))]
                if not chosen:
                    return
                left = [a for a in left if a not in chosen]
                b[name] = _pack(fn, chosen)
            else:
                plain.append(name)
        yield from _plain(fn, plain, left, b)

    def _bind(self, graph: EGraph, name: str, cid: int, b: Binding) -> Iterator[Binding]:
        known = b.get(name)
        if known is None:
            yield {**b, name: cid}
        elif isinstance(known, int):
            if graph.find(known) == cid:
                yield b
        elif isinstance(known, Bag):
            same = graph.memo.get(graph.canonical(ENode(known.fn, known.ids)))
            if same is not None and graph.find(same) == cid:
                yield b

    # Needs -------------------------------------------------------------------------------

    def met(self, graph: EGraph, owner: int, found: Found) -> bool:
        """Whether the needs of the law are known to hold at a match in class ``owner``."""
        b = found.binding
        folded = {a for axis in self.rule.axes for a in _axes(b[axis])}
        here = graph.facts(owner).axes | set(found.axes) | (graph.domain - folded)
        for need in self.rule.needs:
            bound = b[need.hole]
            facts = facts_of_bound(graph, bound)
            match need:
                case AxisFree(axis=axis):
                    if facts.axes & set(_axes(b[axis])):
                        return False
                case HasAxis(axis=axis):
                    if not set(_axes(b[axis])) <= facts.axes:
                        return False
                case Known(facts=wanted, given=given):
                    around = set(self.rule.scopes[need.hole]) | ({given} if given else set())
                    sure = here.union(*(_axes(b[a]) for a in sorted(around)))
                    if not all(facts.has(f, frozenset(sure)) for f in wanted):
                        return False
        return True

    # Construction ------------------------------------------------------------------------

    def _make(self, graph: EGraph, pattern: Pattern, b: Binding) -> int | None:
        match pattern:
            case Var(name=name):
                return _class_of(graph, b[name])
            case Num(value=value):
                return graph.number(value)
            case Sym(name=name):
                return graph.leaf(Named(name))
            case Extent(axis=axis):
                axes = [graph.leaf(Size(a)) for a in _axes(b[axis])]
                return graph.apply(Fn.MUL, axes) if len(axes) > 1 else axes[0]
            case Fold(fn=fn, axis=axis, arg=arg):
                made = self._make(graph, arg, b)
                if made is None or not set(_axes(b[axis])) <= graph.facts(made).axes:
                    return None
                return graph.fold(fn, _axes(b[axis]), made)
            case App(fn=fn, args=parts):
                return self._make_map(graph, fn, parts, b)
            case _:
                raise TypeError(f"no pattern: {pattern!r}")

    def _make_map(
        self, graph: EGraph, fn: Fn, parts: tuple[Pattern, ...], b: Binding
    ) -> int | None:
        ids: list[int] = []
        for part in parts:
            if isinstance(part, Var) and isinstance(bag := b[part.name], Bag) and bag.fn is fn:
                ids += bag.ids
                continue
            made = self._make(graph, part, b)
            if made is None:
                return None
            ids.append(made)
        numbers = fn not in (Fn.WHERE, Fn.AND, Fn.OR, Fn.NOT)
        if numbers and any(graph.facts(i).kind is Kind.BOOL for i in ids):
            return None
        return graph.apply(fn, ids)


def facts_of_bound(graph: EGraph, bound: Bound) -> Facts:
    """What is known of the value of a hole."""
    match bound:
        case int():
            return graph.facts(bound)
        case Bag(fn=fn, ids=ids):
            args = [graph.facts(i) for i in ids]
            integral = all(a.kind is Kind.INT for a in args)
            same = all(ids.count(i) % 2 == 0 for i in ids)
            return fact_table.of_map(fn, args, Kind.INT if integral else Kind.REAL, same)
        case _:
            raise TypeError("axes have no facts")


def _class_of(graph: EGraph, bound: Bound) -> int:
    match bound:
        case int():
            return graph.find(bound)
        case Bag(fn=fn, ids=ids):
            return graph.apply(fn, ids)
        case _:
            raise TypeError("axes are no value")


def _axes(bound: Bound) -> tuple[str, ...]:
    if not isinstance(bound, tuple):
        raise TypeError("a value is no axis")
    return bound


def _pack(fn: Fn, ids: list[int]) -> Bound:
    return ids[0] if len(ids) == 1 else Bag(fn, tuple(ids))


def _take(left: list[int], bound: Bound, fn: Fn) -> bool:
    """Remove what a hole is already bound to from ``left``; False if it is not there."""
    wanted: list[Bound] = [bound]
    if isinstance(bound, Bag) and bound.fn is fn:
        wanted = list(bound.ids)
    for cid in wanted:
        if not isinstance(cid, int) or cid not in left:
            return False
        left.remove(cid)
    return True


def _plain(
    fn: Fn, names: list[str], left: list[int], b: Binding
) -> Iterator[tuple[Binding, tuple[int, ...]]]:
    """Holes without needs: the last takes all that is left, the ones before one each.

    A hole that occurs several times takes one argument that does.
    """
    match names:
        case []:
            yield b, tuple(left)
        case [last]:
            if left:
                yield {**b, last: _pack(fn, left)}, ()
        case [first, *others] if first in others:
            count = names.count(first)
            for arg in dict.fromkeys(left):
                if left.count(arg) >= count:
                    rest = list(left)
                    for _ in range(count):
                        rest.remove(arg)
                    further = [n for n in others if n != first]
                    yield from _plain(fn, further, rest, {**b, first: arg})
        case [first, *others]:
            for index, arg in enumerate(left):
                if arg not in left[:index]:
                    rest = left[:index] + left[index + 1 :]
                    yield from _plain(fn, others, rest, {**b, first: arg})
