"""Which choices of one node a class are worth looking at: a bounded best-first search.

The states are choices. Two are looked at first: what was written (new classes: their
cheapest node by an additive cost), and the cheapest node of every class. From a state the
search goes to the states that differ in one class. The exact rank of the *term*, shared
nodes counted once, orders the states; an additive cost could not.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace

from superopt.rewrite.egraph import EGraph
from superopt.rewrite.egraph import ENode
from superopt.rewrite.egraph import Folding
from superopt.rewrite.egraph import Ranking
from superopt.rewrite.egraph import Scanning
from superopt.rewrite.extract import Builder
from superopt.rewrite.extract import NoTerm
from superopt.rewrite.rank import MATRIX
from superopt.rewrite.rank import SCAN
from superopt.rewrite.rank import SPECIAL
from superopt.rewrite.rank import Rank
from superopt.rewrite.rank import Sizes
from superopt.rewrite.rank import depths
from superopt.rewrite.rank import rank
from superopt.rewrite.saturate import Saturated
from superopt.ugraph.contraction import vectors
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo

Choice = dict[int, ENode]
Shape = tuple[object, ...]
SLACK = 1.1  # variants of a shape that are not worse by more are looked at further
HOPELESS = 8.0  # forms with this many times the work of the best are dropped


@dataclass(frozen=True)
class Candidate:
    """One choice, its program, how good it is and what its machine sees of it."""

    program: Program
    rank: Rank
    shape: Shape
    changes: int
    used: tuple[tuple[int, ENode], ...]


def candidates(found: Saturated, program: Program, elements: Sizes, most: int) -> list[Candidate]:
    """Up to ``most`` different programs of the e-graph, in the order in which they were met."""
    graph = found.graph
    written = {graph.find(cid): graph.canonical(node) for cid, node in found.written.items()}
    cheap = cheapest(graph, elements)
    seen: dict[Program, Candidate] = {}
    queue: list[tuple[Rank, int]] = []  # the last is a position in ``choices``
    choices: list[Choice] = []
    best_of: dict[Shape, Rank] = {}

    def meet(choice: Choice) -> None:
        made = _candidate(found, program, choice, elements, written)
        if made is None or made.program in seen:
            return
        seen[made.program] = made
        known = best_of.get(made.shape)
        if known is not None and SLACK * known.work < made.rank.work:
            return  # a poor variant: it is a candidate, but leads nowhere new
        if known is None or made.rank < known:
            best_of[made.shape] = made.rank
        heapq.heappush(queue, (made.rank, len(choices)))
        choices.append(choice)

    meet({**cheap, **written})
    meet(cheap)
    tried = 0
    while queue and tried < most:
        _, index = heapq.heappop(queue)
        for choice in _neighbours(found, choices[index]):
            tried += 1
            meet(choice)
            if tried >= most:
                break
    return list(seen.values())


def cheapest(graph: EGraph, elements: Sizes) -> Choice:
    """For every class the node of the least additive cost (a tree's, not the shared one)."""
    cost: dict[int, float] = {}
    best: Choice = {}
    changed = True
    while changed:
        changed = False
        for cid, cls in graph.classes.items():
            for node in cls.nodes:
                args = [cost.get(graph.find(a)) for a in node.args]
                if any(a is None for a in args):
                    continue
                now = _own(graph, cid, node, elements) + sum(a for a in args if a is not None)
                if cid not in cost or now < cost[cid] * (1 - 1e-12):
                    cost[cid], best[cid], changed = now, node, True
    return best


def _own(graph: EGraph, cid: int, node: ENode, elements: Sizes) -> float:
    here = elements(tuple(sorted(graph.facts(cid).axes)))
    match node.op:
        case Fn.MUL | Fn.ADD:
            return MATRIX * here * (len(node.args) - 1) + 1
        case Fn() as fn:
            return float(fn.value.plain + SPECIAL * fn.value.special) * here
        case Folding():
            return MATRIX * elements(tuple(sorted(graph.facts(node.args[0]).axes)))
        case Scanning() | Ranking():
            return SCAN * here
        case _:
            return 0.0


def _candidate(
    found: Saturated, program: Program, choice: Choice, elements: Sizes, written: Choice
) -> Candidate | None:
    builder = Builder(found.graph, choice, elements)
    outputs: list[Store] = []
    for store in program.outputs:
        try:
            value = builder.term(found.home[store.value])
        except NoTerm:
            return None
        if value.kind is not store.value.kind:
            return None
        outputs.append(Store(store.name, store.order, store.dtype, value))
    made = replace(program, outputs=tuple(outputs))
    used = tuple((cid, choice[cid]) for cid in builder.done)
    changes = sum(written.get(cid, node) != node or cid not in written for cid, node in used)
    return Candidate(made, rank(made, elements), shape(made), changes, used)


def _neighbours(found: Saturated, choice: Choice) -> Iterator[Choice]:
    """Choices that differ in one class of those that the term reaches."""
    graph = found.graph
    reached: dict[int, None] = {}
    stack = [graph.find(cid) for cid in found.roots]
    while stack:
        cid = stack.pop()
        if cid not in reached:
            reached[cid] = None
            stack += [graph.find(a) for a in reversed(choice[cid].args)]
    for cid in reached:
        for node in graph.nodes(cid):
            if node != choice[cid]:
                yield {**choice, cid: node}


def shape(program: Program) -> Shape:
    """What distinguishes forms for the machine: the folds and how they depend on each other, and
    on which side of a product a vector stands (which decides how large operands get).

    Forms of one shape differ in scalar work only (where a factor is applied, say).
    """
    order = topo(s.value for s in program.outputs)
    depth = depths(order)
    folds = [
        (n.fn.symbol, n.axis, n.axes, n.arg.axes, tuple(sorted(depth[n].items())), vectors(n))
        for n in order
        if isinstance(n, Reduce)
    ]
    ends = tuple(tuple(sorted(depth[s.value].items())) for s in program.outputs)
    return (tuple(sorted(folds)), ends)
