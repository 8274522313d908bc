"""Which axes may share a tile dimension, and whose it is.

Several axes that form the rows (or the columns) of a product together may be packed: heads of a
group beside the queries of a head, say. What the other operand holds is then read once for all
of them, and small axes fill an instruction that each alone would leave mostly empty.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence

from superopt.ugraph.levels import Store
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo


def shared(
    stores: Sequence[Store],
    sides: Sequence[Sequence[str]],
    batch: Collection[str],
    sizes: Mapping[str, int],
) -> dict[str, str]:
    """For every axis that may be packed the one whose tiles it would share.

    ``sides``: axes that form rows or columns together. ``batch``: axes that both operands of some
    product have, which therefore are no dimension of it. A tile covers a contiguous range of the
    axis that owns it, so that is one whose positions masks compare, if there is one: limits of
    walks stay exact. Else it is one that is innermost in no tensor, so that the innermost one
    stays innermost; of these the longest.
    """
    nodes = topo([s.value for s in stores])
    fixed = {n.axis for n in nodes if isinstance(n, Reduce | Scan | Recur)} | set(batch)
    fixed |= {a for n in nodes if isinstance(n, Recur) for a in n.mixed}
    fixed |= {a for side in sides for a in side if not all(a in s.order for s in stores)}
    compared = {
        below.axis
        for n in nodes
        if isinstance(n, Map) and n.fn in (Fn.LT, Fn.LE, Fn.EQ)
        for below in topo([n])
        if isinstance(below, Index)
    }
    innermost = {n.order[-1] for n in nodes if isinstance(n, Input) and n.order}
    innermost |= {s.order[-1] for s in stores if s.order}
    found: dict[str, str] = {}
    for side in sides:
        free = [a for a in side if sizes[a] > 1 and a not in fixed]
        if len(free) > 1 and not any(a in found or a in found.values() for a in free):
            owner = max(free, key=lambda a: (a in compared, a not in innermost, sizes[a]))
            found |= {a: owner for a in free if a != owner}
    return found
