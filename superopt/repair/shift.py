"""What happens to a term when all that lies before a part of a walk is added to its prefixes.

A part of a split walk knows neither the sum before it nor, therefore, its prefixes and running
totals: it has them less one offset. Where the offset cancels (``total - prefix``, the decay that
is still to come) a part computes what the whole would, and parts are combined by the *action*
of each one's total on the states of those before it: ``(G, t) + (G', t') = (G + G', G'.t + t')``.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from fractions import Fraction

from superopt.errors import NoRepair
from superopt.repair.record import words
from superopt.ugraph.carry import Carry
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scans import behind
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo

# By how much a value grows if the offset grows by one: products of nodes, with numbers.
Response = Mapping[tuple[str, ...], Fraction]
STILL: Response = {}


def relative(carries: Sequence[Carry], axis: str) -> None:
    """Nothing, if every term of a split walk is the same for any sum before its part.

    Raises:
        NoRepair: the offset does not cancel, or is not seen to; the message names the term.
    """
    for carry in carries:
        sources = behind([carry.term], axis, carries)
        for scan, source in sources.items():
            if source.fold is not Fn.ADD:
                why = f"prefixes by {source.fold.symbol} have no offset that could cancel"
                raise NoRepair(f"{words(scan)} is not known in a part: {why}")
            if response(carry.term, {scan, source.state}):
                raise NoRepair(
                    f"{words(carry.term)} depends on the sum before its part, so that the walk of "
                    f"{axis!r} is not split"
                )


def response(root: Node, moved: Collection[Node]) -> Response:
    """How ``root`` follows an offset that is added to every node of ``moved``: not at all if the
    result is empty; a value that follows in a way not seen here counts as following."""
    found: dict[Node, Response] = {}
    for node in topo([root]):
        if node in moved:
            found[node] = {(): Fraction(1)}
        else:
            found[node] = _response(node, [found[c] for c in children(node)])
    return found[root]


def _response(node: Node, parts: Sequence[Response]) -> Response:
    if not any(parts):
        return STILL
    match node:
        case Map(fn=Fn.ADD):
            return _sum(parts[0], parts[1], 1)
        case Map(fn=Fn.SUB):
            return _sum(parts[0], parts[1], -1)
        case Map(fn=Fn.MUL, args=(a, b)) if not parts[1]:
            return _scaled(parts[0], b)
        case Map(fn=Fn.MUL, args=(a, b)) if not parts[0]:
            return _scaled(parts[1], a)
        case Map(fn=Fn.WHERE) if not parts[0] and parts[1] == parts[2]:
            return parts[1]
        case Reduce() | Scan() | Recur() | Map():
            return {("unknown", node.key): Fraction(1)}
        case _:
            return STILL


def _sum(a: Response, b: Response, sign: int) -> Response:
    total = {k: a.get(k, Fraction(0)) + sign * b.get(k, Fraction(0)) for k in (*a, *b)}
    return {k: v for k, v in total.items() if v}


def _scaled(a: Response, by: Node) -> Response:
    match by:
        case Const(value=Fraction() as value):
            return {k: v * value for k, v in a.items()} if value else STILL
        case _:
            return {tuple(sorted((*k, by.key))): v for k, v in a.items()}
