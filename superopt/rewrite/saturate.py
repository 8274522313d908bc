"""Fills an e-graph with what the laws say about a program, within counted budgets."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field

from superopt.rewrite import algebra
from superopt.rewrite import folds
from superopt.rewrite.egraph import FLAT
from superopt.rewrite.egraph import MOST_ARGS
from superopt.rewrite.egraph import EGraph
from superopt.rewrite.egraph import ENode
from superopt.rewrite.egraph import Folding
from superopt.rewrite.egraph import Origin
from superopt.rewrite.egraph import Ranking
from superopt.rewrite.egraph import Scanning
from superopt.rewrite.egraph import Stepping
from superopt.rewrite.facts import TABLE as FACTS_OF
from superopt.rewrite.facts import Facts
from superopt.rewrite.facts import of_leaf
from superopt.rewrite.facts import of_map
from superopt.rewrite.match import Found
from superopt.rewrite.match import Matcher
from superopt.rewrite.rule import RULES
from superopt.rewrite.rule import Fact
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Best
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo

assert algebra, folds  # their import fills RULES


@dataclass(frozen=True)
class Budget:
    """Counts, never seconds. ``matches``: applications of one law in one round."""

    nodes: int = 1500
    rounds: int = 8
    matches: int = 150


@dataclass
class Saturated:
    """An e-graph with the classes of the program's nodes.

    ``home``: the class of every node of the program (apply ``graph.find``). ``written``: the
    e-nodes that stand in the program as it was written. ``roots``: the classes of the outputs.
    ``complete``: no law has more to say.
    """

    graph: EGraph
    home: dict[Node, int]
    written: dict[int, ENode] = field(default_factory=dict)
    roots: tuple[int, ...] = ()
    complete: bool = False


def saturate(program: Program, budget: Budget) -> Saturated:
    """Apply all laws to ``program`` until nothing is new or a budget ends."""
    graph = EGraph(domain(program))
    home = enter(graph, [s.value for s in program.outputs])
    graph.entered = len(graph.parent)
    found = Saturated(graph, home, roots=tuple(home[s.value] for s in program.outputs))
    for cid in dict.fromkeys(home.values()):
        found.written[cid] = graph.nodes(cid)[0]
    matchers = {r.name: Matcher(r) for r in RULES.values() if not (r.structural or r.lowering)}
    found.complete = grow(graph, matchers, budget)
    return found


def grow(graph: EGraph, matchers: dict[str, Matcher], budget: Budget) -> bool:
    """Apply the laws of ``matchers`` (by name) to all that is in ``graph``.

    True if they have no more to say.
    """
    seen: set[tuple[str, ENode, Found]] = set()
    for _ in range(budget.rounds):
        before = (graph.size, len(graph.classes))
        cut = _flatten(graph, budget)
        cut |= _round(graph, matchers, budget, seen)
        if (graph.size, len(graph.classes)) == before:
            return not cut
        if graph.size > budget.nodes:
            break
    return False


def domain(program: Program) -> frozenset[str]:
    """The axes that may not be empty, because arithmetic on sizes is undefined if they are.

    ``rsqrt(size("d"))`` is evaluated once, whatever the tensors hold, so a spec that contains
    it means nothing for an empty ``d``.
    """
    known: dict[Node, Facts] = {}
    for node in topo(s.value for s in program.outputs):
        match node:
            case Map(fn=fn, args=args) if fn in FACTS_OF and all(a in known for a in args):
                known[node] = of_map(fn, [known[a] for a in args], node.kind)
            case Const() | Named() | Scalar() | Size():
                known[node] = of_leaf(node)
            case _:
                pass
    return frozenset().union(*(f.known.get(Fact.DEFINED, ()) for f in known.values()))


def enter(graph: EGraph, roots: list[Node]) -> dict[Node, int]:
    """Put nodes into the e-graph; the class of each."""
    home: dict[Node, int] = {}
    for node in topo(roots):
        match node:
            case Map(fn=fn, args=args):
                made = graph.apply(fn, [home[a] for a in args])
                home[node] = graph.as_real(made) if node.kind is Kind.REAL else made
            case Reduce(fn=fn, axis=axis, arg=arg):
                home[node] = graph.fold(fn, (axis,), home[arg])
            case Scan(fn=fn, axis=axis, arg=arg):
                home[node] = graph.add(ENode(Scanning(fn, axis), (home[arg],)))
            case Best(axis=axis, into=into, of=of, args=args, at=at, taken=taken):
                op = Ranking(axis, into, of, at, taken)
                home[node] = graph.add(ENode(op, tuple(home[a] for a in args)))
            case Recur(axis=axis, along=along, last=last):
                step = Stepping(axis, along, last)
                home[node] = graph.add(ENode(step, tuple(home[a] for a in children(node))))
            case _:
                home[node] = graph.leaf(node)
    return home


def _round(
    graph: EGraph,
    matchers: dict[str, Matcher],
    budget: Budget,
    seen: set[tuple[str, ENode, Found]],
) -> bool:
    """Search all laws on the graph as it is, then apply what was found.

    True if a budget left something out.
    """
    cut = False
    todo: list[tuple[Matcher, int, ENode, Found]] = []
    for name, matcher in matchers.items():
        applied = 0
        for cid, node in _all(graph):
            if applied >= budget.matches:
                cut = True
                break
            if not matcher.roots(node.op):
                continue
            for found in matcher.search(graph, node, cid):
                if _better(graph, matchers, matcher, cid, found):
                    continue
                mark = (name, node, _frozen(found))
                if mark not in seen:
                    seen.add(mark)
                    todo.append((matcher, cid, node, found))
                    applied += 1
    for matcher, cid, node, found in todo:
        if graph.size_hint > 2 * budget.nodes:
            cut = True
            break
        made = matcher.build(graph, found)
        if made is not None:
            join(graph, cid, made, Origin(matcher.rule.name, node))
    graph.rebuild()
    return cut


def join(graph: EGraph, cid: int, made: int, origin: Origin) -> None:
    """The two classes are one value, by ``origin``."""
    made = graph.find(made)
    first = next(iter(graph.classes[made].nodes))
    if graph.union(cid, made) and made >= graph.entered:
        here = graph.classes[graph.find(cid)].nodes
        if here.get(first) is None:
            here[first] = origin


def _better(
    graph: EGraph, matchers: dict[str, Matcher], matcher: Matcher, cid: int, found: Found
) -> bool:
    """Whether the law that this one is a fallback for applies here."""
    first = matchers.get(matcher.rule.fallback or "")
    return first is not None and first.met(graph, cid, found)


def _flatten(graph: EGraph, budget: Budget) -> bool:
    """Associativity: arguments that are flat nodes of the same function are spliced in.

    True if a budget left something out.
    """
    for _ in range(4):
        todo: list[tuple[int, ENode, ENode]] = []
        for cid, node in _all(graph):
            todo += [(cid, node, flat) for flat in _spliced(graph, cid, node)]
        changed = False
        for cid, node, flat in todo:
            if graph.size_hint > 2 * budget.nodes:
                graph.rebuild()
                return True
            law = _law_of(flat)
            known = graph.memo.get(graph.canonical(flat))
            if known is not None and graph.find(known) == graph.find(cid):
                continue
            changed = True
            made = graph.apply(flat.op, flat.args) if isinstance(flat.op, Fn) else graph.add(flat)
            join(graph, cid, made, Origin(law, node))
        graph.rebuild()
        if not changed:
            return False
    return True


ASSOCIATE = {
    Fn.ADD: "associate_sum",
    Fn.MUL: "associate_product",
    Fn.MAX: "associate_maximum",
    Fn.MIN: "associate_minimum",
    Fn.AND: "associate_and",
    Fn.OR: "associate_or",
}
SWAP = {
    Fn.ADD: "swap_sums",
    Fn.MUL: "swap_products",
    Fn.MAX: "swap_maxima",
    Fn.MIN: "swap_minima",
}


def _law_of(flat: ENode) -> str:
    """The structural law by which a node was spliced."""
    match flat.op:
        case Folding(fn=fn):
            return SWAP[fn]
        case Fn() as fn:
            return ASSOCIATE[fn]
        case _:
            raise TypeError("a leaf is not spliced")


def _spliced(graph: EGraph, cid: int, node: ENode) -> list[ENode]:
    found: list[ENode] = []
    match node.op:
        case Fn() as fn if fn in FLAT:
            for index, arg in enumerate(node.args):
                if arg in node.args[:index] or graph.find(arg) == graph.find(cid):
                    continue
                for inner in graph.nodes(arg):
                    args = node.args[:index] + inner.args + node.args[index + 1 :]
                    if inner.op is fn and len(args) <= MOST_ARGS and arg not in inner.args:
                        found.append(ENode(fn, args))
        case Folding(fn=fn, axes=axes):
            for inner in graph.nodes(node.args[0]):
                if isinstance(inner.op, Folding) and inner.op.fn is fn:
                    over = tuple(sorted({*axes, *inner.op.axes}))
                    found.append(ENode(Folding(fn, over), inner.args))
        case _:
            pass
    return found


def _all(graph: EGraph) -> list[tuple[int, ENode]]:
    return [(cid, node) for cid, cls in graph.classes.items() for node in cls.nodes]


def _frozen(found: Found) -> Found:
    """The match as a hashable value."""
    return Found(tuple(found.binding.items()), found.rest, found.axes)  # type: ignore[arg-type]
