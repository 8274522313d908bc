"""Which tensors the left operand of a matrix product moves between registers."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable

from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.walk import children


def moved(
    left: Node,
    over: Collection[str],
    elements: Callable[[Iterable[str]], tuple[str, ...]],
    product: Callable[[Reduce], object],
) -> tuple[Input, ...]:
    """Tensors that a computed ``left`` reads as they lie, along rows and folded axis (``over``).

    They have to be brought into the order of a matrix instruction; what another ``product``
    computes has it already, and what lies along one axis alone is loaded in that order.
    ``elements``: the tile dimensions of axes.
    """
    if isinstance(left, Input):
        return ()
    found: dict[Input, None] = {}
    seen: dict[Node, None] = {}
    stack = [left]
    while stack:
        node = stack.pop()
        if node in seen or (isinstance(node, Reduce) and product(node)):
            continue
        seen[node] = None
        stack += children(node)
        if isinstance(node, Input) and set(over) <= set(elements(node.order)):
            found[node] = None
    return tuple(found)
