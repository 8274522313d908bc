"""What the states of every part obey, whatever its inputs are: found at points, judged elsewhere.

A repair of rank 2 or more may keep a sum that the others determine: distances from the mean add
up to nothing, probabilities to one. Such a relation is one equation more for a section. Only those
with whole (or simple rational) coefficients are sought, by least squares; they are hints, because
a section that rests on a wrong one is refuted with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain

import numpy as np
import numpy.typing as npt

from superopt.draws import draws
from superopt.merge.tidy import tidy
from superopt.ugraph.carry import Carry
from superopt.ugraph.evaluate import evaluate_launch
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from superopt.verify.field.trials import axes_of

Samples = npt.NDArray[np.float64]

LARGEST_DENOMINATOR = 4
LARGEST = 4.0  # coefficient
EXACT = 1e-9  # relative error of a relation at every point
ROWS = 4  # points for each coefficient, at least
TIMES = 3  # that inputs are drawn anew


def invariants(
    program: Program, parts: BlockGraph, carries: Sequence[Carry], seed: int = 0
) -> list[tuple[Node, Node]]:
    """Equations that hold of ``carries``, whose states ``parts`` stores in their order: pairs of
    a value over states and what it equals."""
    samples = list(_samples(program, parts, carries, seed))
    found: list[tuple[Node, Node]] = []
    for place, carry in enumerate(carries):
        before = [i for i in range(place) if set(carries[i].over) <= set(carry.over)]
        rows = np.concatenate([_rows(s, [*before, place]) for s in samples])
        rows = rows[np.isfinite(rows).all(axis=1)]
        if len(rows) < ROWS * (len(before) + 2):
            continue
        combination = _combination(rows)
        if combination is None:
            continue
        total: Node = Const(combination[0])
        for i, factor in zip(before, combination[1:], strict=True):
            if factor:
                total = Map(Fn.ADD, (total, Map(Fn.MUL, (Const(factor), carries[i].state))))
        found.append((Map(Fn.SUB, (carry.state, tidy(total))), Const(Fraction(0))))
    return found


def _samples(
    program: Program, parts: BlockGraph, carries: Sequence[Carry], seed: int
) -> Iterator[list[Samples]]:
    """The states of a single part, each with one dimension for every axis of any of them."""
    axes = sorted({a for c in carries for a in c.over})
    drawn = (draws(program, axes_of(program), {}, TIMES * seed + i) for i in range(TIMES))
    for draw in chain.from_iterable(drawn):
        tiles = tuple((a, draw.sizes.get(a, 1)) for a, p in parts.places if not isinstance(p, Pack))
        domain = FloatDomain()
        arrays = {name: domain.array(value) for name, value in draw.arrays.items()}
        with np.errstate(all="ignore"):
            values = evaluate_launch(parts, domain, arrays, draw.sizes, Config(tiles))
        yield [
            _spread(np.asarray(values[s.name], np.float64), s, axes)
            for s in parts.stores[: len(carries)]
        ]


def _spread(value: Samples, store: Store, axes: Sequence[str]) -> Samples:
    """``value`` with its dimensions in the order of ``axes``, 1 where it lacks one."""
    order = [store.order.index(a) for a in axes if a in store.order]
    rest = [i for i in range(len(store.order)) if i not in order]
    moved = value.transpose(*order, *rest)
    for _ in rest:  # the only part, and copies along other axes
        moved = moved[..., 0]
    shape = iter(moved.shape)
    return moved.reshape([next(shape) if a in store.order else 1 for a in axes])


def _rows(sample: Sequence[Samples], places: Sequence[int]) -> Samples:
    """A row for each element: 1, then the states at ``places``."""
    columns = np.broadcast_arrays(*(sample[i] for i in places))
    flat = [np.ravel(c) for c in columns]
    return np.stack([np.ones_like(flat[0]), *flat], axis=1)


def _combination(rows: Samples) -> list[Fraction] | None:
    """The last column as a sum of the others with simple coefficients, or None."""
    others, last = rows[:, :-1], rows[:, -1]
    weights = np.linalg.lstsq(others, last, rcond=None)[0]
    simple = [Fraction(float(w)).limit_denominator(LARGEST_DENOMINATOR) for w in weights]
    if any(abs(f) > LARGEST for f in simple):
        return None
    scale = np.abs(rows).max(axis=1)  # sums that cancel are as exact as what they are made of
    error = np.abs(others @ np.array([float(f) for f in simple]) - last)
    return simple if (error <= EXACT * scale).all() else None
