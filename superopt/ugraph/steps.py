"""The steps of a program of a launch, and the regions in which they run together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class What(Enum):
    """The kinds of steps."""

    LOAD = "load"
    POINT = "point"
    FOLD = "fold"
    PRODUCT = "product"
    STORE = "store"
    HELD = "held"


@dataclass(frozen=True)
class Step:
    """One step. ``work``: the axes whose tile lengths multiply to its elements (for a product,
    all three; for a load or store, the tensor's axes). ``plain``, ``special``: operations per
    element. ``result``: axes of the value that it leaves in registers (None: it leaves none).
    ``frees``: earlier steps of the region whose values nothing needs after this one.
    ``computed``: of a product, whether its left operand is computed from tensors that have to be
    brought into the order of a matrix instruction (``moved.py``); ``across``: one of them
    lies along the rows in memory, so its elements change places.
    ``masks``: it is part of a mask that clear tiles of its walk do without.
    """

    what: What
    work: tuple[str, ...]
    plain: int = 0
    special: int = 0
    result: tuple[str, ...] | None = None
    tensor: str = ""
    dtype: str | None = None
    frees: tuple[int, ...] = ()
    computed: bool = False
    across: bool = False
    masks: bool = False


@dataclass(frozen=True)
class Region:
    """Steps that run together: per tile of ``walk`` (its number in ``BlockGraph.nest``), or once
    (None).

    ``held``: axes of values that stay in registers all along. ``operands``: axes and dtype of
    tensors that a matrix product reads from shared memory and that are loaded once.
    ``computed``: axes of right operands that are computed, and so go to their product through
    shared memory (a left one stays in registers). ``around``: the number of the walk in which
    ``walk`` is; ``outer``: whether it has such walks itself.
    """

    walk: int | None
    steps: tuple[Step, ...]
    held: tuple[tuple[str, ...], ...] = ()
    operands: tuple[tuple[tuple[str, ...], str | None], ...] = ()
    computed: tuple[tuple[str, ...], ...] = ()
    around: int | None = None
    outer: bool = False
