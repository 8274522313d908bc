"""Equality of two nodes for all values of their states: by the solver, else in fields."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence

from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Scan
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import children
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo
from superopt.verify.field.graphs import verify_graph
from superopt.verify.reals.smt import RLIMIT
from superopt.verify.reals.smt import prove_equal
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict


def same_value(
    left: Node,
    right: Node,
    facts: Sequence[Node] = (),
    lowest: Collection[Node] = (),
    seed: int = 0,
    rlimit: int = RLIMIT,
) -> Verdict:
    """Whether ``left`` and ``right`` are equal, whatever their states and inputs are.

    ``facts`` may be assumed; the states in ``lowest`` may be -inf. The field reading knows no
    facts and no infinite states, and is asked where the solver does not know.
    """
    if left is right:
        return Proved("identity")
    free = _scans([left, right])
    left, right, *facts = (substitute(n, free) for n in (left, right, *facts))
    if _folds_states([left, right]):
        return _in_fields(left, right, seed)  # the solver takes a fold for one unknown
    shared = _shared(left, right)
    if shared:
        known = [substitute(f, shared) for f in facts]
        pair = (substitute(left, shared), substitute(right, shared))
        verdict = prove_equal(*pair, known, rlimit, lowest=lowest)
        if isinstance(verdict, Proved):
            return verdict
    verdict = prove_equal(left, right, facts, rlimit, lowest=lowest)
    if not isinstance(verdict, Unknown):
        return verdict
    sampled = _in_fields(left, right, seed)
    return sampled if isinstance(sampled, Sampled) else verdict


def _shared(left: Node, right: Node) -> dict[Node, Node]:
    """Terms without states that both sides have, as one unknown each: less for the solver."""
    free: list[set[Node]] = []
    for root in (left, right):
        moving: set[Node] = set()
        for node in topo([root]):
            if isinstance(node, State) or any(c in moving for c in children(node)):
                moving.add(node)
        free.append({n for n in topo([root]) if isinstance(n, Map) and n not in moving})
    both_have = [n for n in topo([left]) if n in free[0] and n in free[1] and n.kind is Kind.REAL]
    return {n: Input(f"term{i}", n.axes, "fp32") for i, n in enumerate(both_have)}


def _scans(nodes: Iterable[Node]) -> dict[Node, Node]:
    """A tensor for each scan: equal for any prefixes is equal for those that there are."""
    scans = [n for n in topo(nodes) if isinstance(n, Scan | Recur)]
    return {n: Input(f"scan{i}", n.axes, "fp32") for i, n in enumerate(scans)}


def _folds_states(nodes: Iterable[Node]) -> bool:
    folds = [n for n in topo(nodes) if isinstance(n, Reduce)]
    return any(isinstance(n, State) for n in topo(folds))


def opened(nodes: Iterable[Node]) -> list[Node]:
    """The nodes with states as tensors of their own; folds, too, if none contains a state."""
    roots = list(nodes)
    within = _folds_states(roots)
    by: dict[Node, Node] = {}
    moving: set[Node] = set()
    for node in topo(roots):
        if isinstance(node, State):
            end = "old" if node.old else "new"
            by[node] = Input(f"{node.carry}.{end}", node.over, "fp32")
            moving.add(node)
        elif any(c in moving for c in children(node)):
            moving.add(node)
        elif isinstance(node, Reduce) and not within:
            by[node] = Input(f"fold{len(by)}", node.axes, "fp32")
    return [substitute(node, by) for node in roots]


def both(verdicts: Sequence[Verdict]) -> Verdict:
    """All of several claims: the weakest evidence. No claim at all is proved."""
    for kind in (Refuted, Unknown):
        for verdict in verdicts:
            if isinstance(verdict, kind):
                return verdict
    sampled = [v for v in verdicts if isinstance(v, Sampled)]
    if sampled:
        facts = tuple(dict.fromkeys(f for v in sampled for f in v.facts))
        worst = max(v.log2_bound for v in sampled)
        return Sampled(min(v.points for v in sampled), worst, facts)
    proved = [v for v in verdicts if isinstance(v, Proved)]
    by = ", ".join(dict.fromkeys(v.by for v in proved)) or "nothing to show"
    return Proved(by, tuple(dict.fromkeys(f for v in proved for f in v.facts)))


def _in_fields(left: Node, right: Node, seed: int) -> Verdict:
    """Equality at random points: both as the output of a kernel without walks."""
    left, right = opened([left, right])
    order = tuple(dict.fromkeys((*left.axes, *right.axes)))
    below = topo([left, right])
    params = tuple(n for n in below if isinstance(n, Input | Scalar))
    folded = tuple(dict.fromkeys(n.axis for n in below if isinstance(n, Reduce)))
    grid: tuple[tuple[str, Place], ...] = tuple((a, Grid()) for a in order)
    program = Program("claim", params, (Store("out", order, "fp32", left),))
    block = BlockGraph(
        (*grid, *((a, Whole()) for a in folded)),
        (),
        (Store("out", order, "fp32", right),),
        tuple(Turn(a) for a in order),
    )
    return verify_graph(program, KernelGraph("claim", params, ("out",), (block,)), seed)
