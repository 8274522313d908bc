"""What a split kernel becomes when it is launched: a kernel of parts and a combining kernel.

Both are ordinary block graphs, so nothing downstream knows about splitting. The parts of
axis ``n`` are positions of a new axis ``n.part``.
"""

from __future__ import annotations

from collections.abc import Collection

from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.scalar import Kind
from superopt.ugraph.scans import acting
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo


def part_axis(axis: str) -> str:
    """The axis that numbers the parts of a split ``axis``."""
    return f"{axis}.part"


def split_axis(axis: str) -> str | None:
    """The axis whose parts ``axis`` numbers, if it is a part axis."""
    return axis.removesuffix(".part") if axis.endswith(".part") else None


def launches(graph: KernelGraph) -> tuple[BlockGraph, ...]:
    """The kernels that really run, in order: a split one becomes two, unless it is the kernel of
    parts of one already."""
    found: list[BlockGraph] = []
    for index, block in enumerate(graph.kernels):
        split = [
            axis
            for axis, place in block.places
            if isinstance(place, Split) and part_axis(axis) not in block.place
        ]
        found += _expand(block, split[0], f"part{index}") if split else [block]
    return tuple(found)


def _expand(block: BlockGraph, axis: str, prefix: str) -> list[BlockGraph]:
    """``block`` with ``axis`` split, as (parts, combination)."""
    (walk,) = block.walks
    part = part_axis(axis)
    grid = [a for a, p in block.places if isinstance(p, Grid | Pack)]
    partials = {
        c.name: Store(
            f"{prefix}_{c.name}",
            # Programs along a grid axis that a state lacks each write a copy of their own.
            (part, *c.over, *(a for a in grid if a not in c.over)),
            "fp32" if c.state.kind is Kind.REAL else "int64",
            c.state,
        )
        for c in walk.carries
    }
    parts = BlockGraph(
        places=((part, Grid(tiled=False)), *block.places),
        walks=(walk,),
        stores=tuple(partials.values()),
        # What an inner walk reads is shared by programs of one part, which then run side by side.
        order=(Turn(part), *block.order) if walk.inner else (*block.order, Turn(part)),
    )
    return [parts, _combination(block, walk, axis, partials)]


def _combination(
    block: BlockGraph, walk: Walk, axis: str, partials: dict[str, Store]
) -> BlockGraph:
    """The kernel that folds the parts' states and finishes ``block``'s stores."""
    part = part_axis(axis)
    totals: dict[Node, Node] = {}  # State (new) -> its value over all parts
    acts = acting(walk)
    for carry in walk.carries:
        totals[carry.state] = combined(
            carry, walk.components, partials, totals, part, acts[carry.name]
        )
    places = tuple((a, p) for a, p in block.places if a != axis)
    stores = tuple(
        Store(s.name, s.order, s.dtype, substitute(s.value, totals)) for s in block.stores
    )
    used = {a for s in stores for n in topo([s.value]) for a in n.axes}
    kept = tuple((a, p) for a, p in places if a in used or isinstance(p, Grid | Pack))
    return BlockGraph(((part, Whole()), *kept), (), stores, block.order)


def combined(
    carry: Carry,
    components: dict[str, Carry],
    partials: dict[str, Store],
    totals: dict[Node, Node],
    part: str,
    acts: Collection[str] = (),
) -> Node:
    """``carry`` over all parts: each part's state is moved to the common producers, then folded.

    In the *reference* shape of combination every part moves from its own producer value to the
    final one. Of producers that *act* it moves from their fold over all parts up to it: only
    what comes behind a part acts on its state.
    """
    if carry.listed is not None:
        kept = [*carry.pair(components), *([carry] if carry.listed.taken else [])]
        return carry.best(part, tuple(partials[c.name].as_input() for c in kept))
    by: dict[Node, Node] = dict(totals)
    for name, store in partials.items():
        value: Node = store.as_input()
        if name in acts:
            value = Scan(components[name].fold, part, value)
        by[components[name].old] = value
    return Reduce(carry.fold, part, substitute(carry.kept(components), by))
