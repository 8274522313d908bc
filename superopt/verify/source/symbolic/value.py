"""What the names of a text stand for: integers, masks and addresses, symbolically; data is opaque.

A tile is a function of its lanes: ``dims`` has, for each dimension, the atom that counts along it,
or None where nothing varies. ``steps``: the whole numbers of limited width that a value was
computed through, each of which must fit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from superopt.verify.source.symbolic.formula import Formula
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import Poly

Dims = tuple[str | None, ...]


@dataclass(frozen=True)
class Step:
    """``poly`` has to fit into ``bits`` bits; ``line``: of the text."""

    poly: Poly
    bits: int
    line: int


Steps = tuple[Step, ...]


@dataclass(frozen=True)
class Whole:
    """An integer. ``bits`` 0: known when the text is compiled, of any size."""

    poly: Poly
    bits: int = 0
    dims: Dims = ()
    steps: Steps = ()


@dataclass(frozen=True)
class Mask:
    """A truth value."""

    formula: Formula
    dims: Dims = ()
    steps: Steps = ()


@dataclass(frozen=True)
class Address:
    """``offset`` elements behind the first one of a tensor."""

    tensor: Tensor
    offset: Poly
    dims: Dims = ()
    steps: Steps = ()


@dataclass(frozen=True)
class Opaque:
    """Data, of which nothing is known."""


@dataclass(frozen=True)
class Named:
    """A dtype, an option or a helper: ``text`` as it is written."""

    text: str


@dataclass(frozen=True)
class Descriptor:
    """A tensor that is copied box by box, by hardware that knows its shape.

    ``box``: how many positions one copy has along each axis.
    """

    tensor: Tensor
    box: tuple[Poly, ...] = ()


@dataclass(frozen=True)
class Tensor:
    """A tensor of one run. ``strides``: in elements. ``kind``: input, output or workspace.

    ``dtype``: of integers and truth values; empty for floats. ``apart``: the launcher sees to it
    that no two elements have one address.
    """

    name: str
    shape: tuple[Poly, ...]
    strides: tuple[Poly, ...]
    kind: str
    dtype: str = ""
    apart: bool = False

    @property
    def plain(self) -> bool:
        """Whether neighbours along the innermost axis are neighbours in memory."""
        return not self.strides or self.strides[-1] == ONE


Value = Whole | Mask | Address | Opaque | Named | Descriptor | tuple["Value", ...]


@dataclass(frozen=True)
class Access:
    """A load or a store. ``path``: what holds wherever the line is reached."""

    stores: bool
    tensor: Tensor
    offset: Poly
    dims: Dims
    mask: Formula
    path: tuple[Formula, ...]
    trips: tuple[str, ...]
    line: int

    @property
    def word(self) -> str:
        """What it is called in claims."""
        return "stores" if self.stores else "loads"


@dataclass(frozen=True)
class Use:
    """Numbers that matter to an address, a mask or a loop, at a line reached along ``path``."""

    steps: Steps
    path: tuple[Formula, ...]


def merged(*steps: Iterable[Step]) -> Steps:
    """Steps of several values, each once."""
    return tuple(dict.fromkeys(s for some in steps for s in some))
