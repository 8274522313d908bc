"""Configs that a compiler was seen to get wrong, so that they are never chosen.

A graph proof cannot see a miscompiled kernel. What was caught on a device is excluded here,
as narrowly as it was seen; ``docs/decisions/0016-known-miscompiled-configs.md`` has the evidence.
"""

from __future__ import annotations

from superopt.device import Device
from superopt.ugraph.contraction import MatrixProduct
from superopt.ugraph.contraction import matrix_product
from superopt.ugraph.contraction import operand_dtype
from superopt.ugraph.contraction import tile_axes
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.node import Input
from superopt.ugraph.pack import hosts

# Triton 3.6.0 for sm_90: matrix instructions that read their left operand from registers stay in
# flight across iterations, and two runs on the same inputs differ. A right operand is read from
# shared memory, whatever made it.
RACY_ARCH = "sm_90"
RACY_ACCUMULATOR = 128 * 256  # elements of the tile of the product, at least
RACY_FOLDED = 64  # positions of the folded axis in a tile, at least
RACY_WARPS = 8
RACY_AHEAD = 192  # positions of the folded axis in all stages together, at least

Racing = tuple[tuple[MatrixProduct, str], ...]


def racing(block: BlockGraph, dtype: str) -> Racing:
    """The products that may be miscompiled, each with its folded axis: accumulated over a walk
    by nothing but the product, with a left operand from registers. ``dtype``: of the case."""
    found = []
    tiled, host = tile_axes(block), hosts(block.places)
    for walk in block.nest:
        for carry in walk.carries:
            product = matrix_product(carry.fold, walk.axis, carry.term, tiled, host)
            if product and not carry.moves and _in_registers(product, dtype):
                found.append((product, walk.axis))
    return tuple(found)


def _in_registers(product: MatrixProduct, dtype: str) -> bool:
    """Whether the left operand is computed, or a tensor that is converted on its way."""
    left = product.left
    wanted = operand_dtype(product) or dtype
    return not isinstance(left, Input) or (left.dtype or dtype) != wanted


def miscompiled(products: Racing, config: Config, device: Device) -> bool:
    """Whether ``config`` of a launch with ``products`` is one that was seen to go wrong."""
    if device.arch != RACY_ARCH or config.warps < RACY_WARPS:
        return False
    tile = config.tile
    return any(
        tile[p.row] * tile[p.column] >= RACY_ACCUMULATOR
        and tile[axis] >= RACY_FOLDED
        and tile[axis] * config.stages >= RACY_AHEAD
        for p, axis in products
    )
