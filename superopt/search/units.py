"""What the units of a multiprocessor work, as far as a Config makes them work more.

Matrix products reach a share of the rate that their tiles decide. A computed left operand is
brought into the order of a matrix instruction; where single warps have instructions of their own
(few rows), every warp has all of that operand, and computes it again.
"""

from __future__ import annotations

from superopt.ugraph.counts import Cost
from superopt.ugraph.counts import Product

DEPTH = 56  # positions of the folded axis that a tile's fixed cost amounts to
NARROW = 0.35  # share of the matrix rate of products whose rows do not fill a wide instruction
CROWDED = 0.43  # and of those whose rows are fewer than the warps' instructions take
FEW = 0.7  # and of wide ones with fewer warps than an instruction has
WIDE = 64  # rows of a matrix instruction of four warps
GROUP = 4  # warps of it
SMALL = (16, 8)  # rows and columns of one of one warp
COLUMNS = 32  # of a tile, below which the rate falls
MOVED = 7  # ordinary operations per element of a computed left operand
ACROSS = 25  # and of one whose elements change places


def matrix(cost: Cost, warps: int) -> float:
    """FLOP of the matrix products, each over the share of the rate that it reaches."""
    return sum(p.flop / _share(p, warps) for p in cost.products)


def _share(p: Product, warps: int) -> float:
    """A tile has a fixed cost that amounts to ``DEPTH`` positions of the folded axis (64 of them
    reach the sustained rate). Fewer than ``WIDE`` rows take the narrow instructions of single
    warps; warps beyond the rows (and columns) there are do work again."""
    share = min(1.0, p.columns / COLUMNS)
    share *= min(1.0, (1 + DEPTH / 64) * p.depth / (p.depth + DEPTH))
    if p.rows < WIDE:
        there = max(1, p.rows / SMALL[0]) * max(1, p.columns / SMALL[1])
        return share * NARROW * min(1.0, there / warps)
    if warps < GROUP:
        return share * FEW
    return share * CROWDED if warps / GROUP > p.rows / WIDE else share


def moved(cost: Cost, warps: int) -> float:
    """Ordinary operations that computed left operands need beyond ``Cost.plain``."""
    found = 0.0
    for p in cost.products:
        if p.computed:
            again = max(1.0, warps / max(1, p.rows / SMALL[0])) if p.rows < WIDE else 1.0
            each = (ACROSS if p.across else MOVED) + p.beside
            found += p.flop / (2 * p.columns) * (each * again - p.beside)
    return found
