"""Choices that a fold takes along, at no instruction an element."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence

from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn

Fold = tuple[Fn, str, Node]
"""A fold: its function, the folded axis, the folded term."""


def absorbed(
    folds: Sequence[Fold],
    order: Iterable[Node],
    roots: Iterable[Node],
    below: Callable[[Node], tuple[Node, ...]],
) -> set[Node]:
    """The nodes among ``order`` that ``folds`` absorb: a choice that is the same all along the
    folded axis, with the unit on one side, is made of the fold (compilers move it there).

    Nothing but the fold may read them. ``roots``: what is computed in the end, terms of carries
    among it; ``below``: what a node reads.
    """
    readers = Counter(c for n in order for c in below(n)) + Counter(roots)
    found: set[Node] = set()
    for fold, axis, term in folds:
        node = term
        while (inside := _chosen(node, fold, axis)) is not None and readers[node] == 1:
            found.add(node)
            node = inside
    return found


def _chosen(node: Node, fold: Fn, axis: str) -> Node | None:
    """What ``node`` is where it is not the unit, if that does not depend on the position."""
    match node:
        case Map(fn=Fn.WHERE, args=(c, Const(value=unit), inside)) if axis not in c.axes:
            return inside if unit == fold.unit else None
        case _:
            return None
