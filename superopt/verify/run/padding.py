"""Positions that no row sees (padding, a length), whose values must not matter even if NaN.

They are read off conditions that compare the positions of one axis with numbers: constants,
sizes, run-time numbers, or data that do not vary over that axis (a length for each batch); or that
are data along a folded axis (a truth value for each key). A mask over the positions of two axes, as
a causal one, depends on the row, and so do data that vary over rows: of these, what every row masks
counts. What is hidden only together with a mask that depends
on the row (all but a prefix, behind the diagonal) is not hidden from every row by itself.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import Array
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo
from superopt.verify.run import hostile


@dataclass(frozen=True, eq=False)
class Hidden:
    """Positions of ``axis``, for each position of the other ``axes``, that a condition hides from
    every row. ``where``: a truth value for each; dimensions are ``axes``."""

    axis: str
    axes: tuple[str, ...]
    where: Array

    def of(self, tensor: Input) -> Array:
        """The elements of ``tensor`` at such positions, broadcast over its own dimensions.

        What varies over an axis that the tensor lacks must be hidden for all of it.
        """
        lacking = tuple(d for d, a in enumerate(self.axes) if a not in tensor.order)
        kept = [a for a in self.axes if a in tensor.order]
        here = np.asarray(self.where.all(axis=lacking))
        here = here.transpose([kept.index(a) for a in tensor.order if a in kept])
        shape = iter(here.shape)
        return here.reshape([next(shape) if a in kept else 1 for a in tensor.order])


def hidden(
    program: Program,
    arrays: Mapping[str, Array],
    sizes: Mapping[str, int],
    single: Collection[str] = (),
) -> Iterator[Hidden]:
    """What the conditions of ``program`` hide for these inputs; some, but not all positions.

    ``single``: axes of which a program has one position (batches): these may differ in what they
    hide, all others are rows.
    """
    together, folded = _together(program), hostile.folded_axes(program)
    for condition in hostile.conditions(program):
        below = topo([condition])
        if condition in together:
            continue
        positions = {n.axis for n in below if isinstance(n, Index)}
        data = {a for n in below if isinstance(n, Input) for a in n.order}
        along = positions or data.intersection(folded) - {*single}
        if len(along) != 1 or positions & data:
            continue
        (axis,) = along
        truth = hostile.value_of(condition, program, arrays, sizes) != 0
        rows = tuple(d for d, a in enumerate(condition.axes) if a != axis and a not in single)
        axes = tuple(a for d, a in enumerate(condition.axes) if d not in rows)
        for where in (truth.all(axis=rows), (~truth).all(axis=rows)):
            if where.any() and not where.all():
                yield Hidden(axis, axes, where)


def _together(program: Program) -> set[Node]:
    """The parts of conditions that hide nothing unless one of other positions does, too."""
    found: set[Node] = set()
    for node in hostile.nodes(program):
        match node:
            case Map(fn=Fn.WHERE, args=(condition, then, _)):
                found |= _parts(condition, shows=not isinstance(then, Const))
    return found


def _parts(condition: Node, shows: bool) -> set[Node]:
    """``shows``: what ``condition`` is true for is seen, else hidden."""
    match condition:
        case Map(fn=Fn.NOT, args=(inner,)):
            return _parts(inner, not shows)
        case Map(fn=Fn.AND | Fn.OR as fn, args=args):
            found = {p for a in args for p in _parts(a, shows)}
            one_axis = len({n.axis for n in topo([condition]) if isinstance(n, Index)}) == 1
            return found if (fn is Fn.AND) == shows or one_axis else found | {*topo(args)}
        case _:
            return set()


def somewhere(
    program: Program, arrays: Mapping[str, Array], sizes: Mapping[str, int]
) -> dict[str, Array]:
    """``arrays`` with integers that are compared with positions anywhere between the ends."""
    random = np.random.default_rng(len(sizes))
    found = dict(arrays)
    for name, axis in hostile.compared(program).items():
        if sizes[axis] > 1:
            found[name] = random.integers(1, sizes[axis], found[name].shape)
    return found


class Weighed(FloatDomain):
    """IEEE rules, but zero times NaN is zero: a kernel may leave out what has no weight."""

    def apply(self, fn: Fn, args: Sequence[Array]) -> Array:
        """Products with a zero are zero."""
        value = super().apply(fn, args)
        if fn is not Fn.MUL:
            return value
        return np.asarray(np.where((args[0] == 0) | (args[1] == 0), value.dtype.type(0), value))

    def contract(self, left: Array, right: Array, dim: int) -> Array:
        """NaN where one is multiplied by anything but zero."""
        number = super().contract(_without_nan(left), _without_nan(right), dim)
        met = super().contract(np.isnan(left) * 1.0, (right != 0) * 1.0, dim)
        met = met + super().contract((left != 0) * 1.0, np.isnan(right) * 1.0, dim)
        return np.asarray(np.where(met > 0, np.nan, number))


def _without_nan(value: Array) -> Array:
    return np.asarray(np.where(np.isnan(value), value.dtype.type(0), value))


def ignored(
    program: Program,
    arrays: Mapping[str, Array],
    sizes: Mapping[str, int],
    tensor: Input,
    hidden: Hidden,
) -> bool:
    """Whether no NaN that ``tensor`` holds where positions are hidden can reach an output.

    Other values would not do: an infinity hides every number that is added to it, a comparison
    that always holds hides what is compared, but neither hides NaN.
    """
    here = hidden.of(tensor)
    if not here.any():
        return False
    domain = Weighed(np.float64)
    outputs = []
    for filler in (np.nan, 0.0):
        filled = {**arrays, tensor.name: np.where(here, filler, arrays[tensor.name])}
        held = {name: domain.array(value) for name, value in filled.items()}
        outputs.append(evaluate_program(program, domain, held, sizes))
    unsure, clean = outputs
    return all(np.array_equal(unsure[k], clean[k], equal_nan=True) for k in clean)
