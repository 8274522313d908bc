"""Which tiles of a kernel a tensor descriptor can bring, and when a tensor can have one.

A descriptor tells the copy engine of sm_90 and later where a tensor lies; one instruction then
brings a whole tile into shared memory, and elements past the ends of the tensor arrive as 0, so
the load needs neither addresses nor masks. It pays for operands of matrix products, which go
to shared memory anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from superopt.ugraph.contraction import factors
from superopt.ugraph.contraction import matrix_products
from superopt.ugraph.contraction import tile_axes
from superopt.ugraph.cost import BYTES
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import FLOAT_DTYPES
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.pack import hosts
from superopt.ugraph.split import launches
from superopt.ugraph.split import split_axis
from superopt.ugraph.unseen import everywhere

RANK_MOST = 5  # axes of a descriptor
ALIGNMENT = 16  # bytes: what the address and every stride but the innermost are multiples of
SPAN_MOST = 1 << 40  # bytes that a stride stays below


def described(block: BlockGraph) -> tuple[Input, ...]:
    """The tensors whose tiles may come through descriptors, in the order of products.

    They are factors of operands of matrix products, tiled along both axes of the operand, one of
    which is innermost; every other axis has one position a program. Joint positions of packed
    axes are no box. A walk whose range ends within a tile, for all rows alike, keeps pointers
    unless its other tiles are treated apart (``Walk.clear``): what lies outside must be read as
    0, and a descriptor knows only the ends of the tensor. Tensors that data hide in part, too.
    """
    tiled = set(tile_axes(block))
    hidden = everywhere(block)
    packed = {a for pair in hosts(block.places).items() for a in pair}
    cut = {w.axis for w in block.nest if not w.clear and _ends_within(w)}

    def suits(node: Node, axes: set[str]) -> bool:
        return (
            isinstance(node, Input)
            and node not in hidden
            and (node.dtype is None or node.dtype in FLOAT_DTYPES)
            and len(node.order) <= RANK_MOST
            and node.order[-1] in axes
            and tiled & set(node.order) == axes
            and not (packed | cut) & set(node.order)
            and not any(split_axis(a) for a in node.order)
        )

    found: dict[Node, None] = {}
    for axis, product in matrix_products(block):
        for side, outer in ((product.left, product.row), (product.right, product.column)):
            found |= dict.fromkeys(n for n in factors(side) if suits(n, {axis, outer}))
    return tuple(n for n in found if isinstance(n, Input))


def _ends_within(walk: Walk) -> bool:
    """Whether some limit of ``walk`` is the same for all rows of a tile."""
    return any(not b.terms for b in (*walk.start, *walk.stop))


def aligned(tensor: Input, sizes: Mapping[str, int], dtype: str) -> bool:
    """Whether a contiguous ``tensor`` can have a descriptor at ``sizes``. ``dtype``: the case's.

    The launcher asks the same of the strides that a caller's tensor really has.
    """
    stride = BYTES[tensor.dtype or dtype]
    for place, axis in enumerate(reversed(tensor.order)):
        stepped = place > 0 and sizes[axis] > 1  # the stride is used, and it is not the innermost
        if sizes[axis] < 1 or (stepped and (stride % ALIGNMENT or stride >= SPAN_MOST)):
            return False
        stride *= sizes[axis]
    return True


def inner_axes(graph: KernelGraph) -> tuple[str, ...]:
    """The innermost axes of the tensors that descriptors may bring: with multiples of 16 bytes
    along them, contiguous tensors are ``aligned``."""
    tensors = [t for block in launches(graph) for t in described(block)]
    return tuple(dict.fromkeys(t.order[-1] for t in tensors))


def with_descriptors(graph: KernelGraph, configs: Sequence[Config]) -> tuple[Config, ...]:
    """``configs``, one a launch, asking for descriptors wherever a launch can have them."""
    return tuple(
        replace(config, descriptors=bool(described(block)))
        for block, config in zip(launches(graph), configs, strict=True)
    )
