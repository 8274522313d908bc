"""The numbers that each explicit rounding keeps.

``round_to(x, "e4m3")`` is a function of the reals: the nearest number of the grid, of two equally
near ones the even one (IEEE 754, roundTiesToEven); beyond the ends of the grid it is the end.
Infinities stay what they are, so that a maximum over nothing does. It is a step function: not
continuous, but monotone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from superopt.ugraph.scalar import Fn


@dataclass(frozen=True)
class Grid:
    """Numbers of ``bits`` binary digits after the leading one, equally spaced below
    ``2 ** least``, from ``lowest`` to ``largest``."""

    bits: int
    least: int
    lowest: Fraction
    largest: Fraction

    @property
    def text(self) -> str:
        """The four numbers as arguments in printed text."""
        return f"{self.bits}, {self.least}, {float(self.lowest)!r}, {float(self.largest)!r}"


def _float(bits: int, least: int, largest: Fraction) -> Grid:
    return Grid(bits, least, -largest, largest)


GRIDS: dict[Fn, Grid] = {
    Fn.ROUND_FP16: _float(10, -14, Fraction(65504)),
    Fn.ROUND_BF16: _float(7, -126, (2 - Fraction(1, 2**7)) * 2**127),
    Fn.ROUND_E4M3: _float(3, -6, Fraction(448)),
    Fn.ROUND_E5M2: _float(2, -14, Fraction(57344)),
    Fn.ROUND_INT8: Grid(7, 7, Fraction(-128), Fraction(127)),
}

ROUNDINGS = frozenset(fn.symbol for fn in GRIDS)

# What a spec calls them.
BY_NAME: dict[str, Fn] = {fn.symbol.removeprefix("round_"): fn for fn in GRIDS}
