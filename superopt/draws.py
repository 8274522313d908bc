"""Small random inputs of a program, on which two meanings of it are compared."""

from __future__ import annotations

import random
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from superopt.ugraph.best import listed
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import kind_of_dtype
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import topo

Array = npt.NDArray[Any]

SMALLEST_SIZE = 3
MOST_DISTINCT = 8
FEW = 4  # different values of an integer input, and fewer than any size: indices are valid
SMALLEST_DISTANCE = 8
LARGEST_DISTANCE = 1100  # constants up to this in masks get a draw that reaches past them
MOST_ELEMENTS = 16_000_000  # of all axes multiplied, in such a draw


@dataclass(frozen=True)
class Draw:
    """One set of sizes, and a value of every parameter (tensors in memory order)."""

    what: str
    sizes: dict[str, int]
    arrays: dict[str, Array]


def draws(
    program: Program, axes: tuple[str, ...], given: Mapping[str, int | float], seed: int
) -> Iterator[Draw]:
    """Draws with pairwise different sizes.

    ``given``: values of run-time scalars that the last draws use; others are random.
    """
    kinds = ("ordinary", "large", "positive", "small", "ordinary")
    for number, kind in enumerate(kinds):
        rng = np.random.default_rng([seed, number])
        sizes = _settled(program, _sizes(axes, random.Random(f"{seed}/{number}")))
        scalars = given if number >= 3 else {}
        yield Draw(kind, sizes, _arrays(program, sizes, kind, scalars, rng))
    for number, reach in enumerate(_reaches(program, given)):
        rng = np.random.default_rng([seed, len(kinds) + number])
        sizes = _settled(program, _reaching(program, axes, reach))
        if np.prod([float(n) for n in sizes.values()]) <= MOST_ELEMENTS:
            arrays = _arrays(program, sizes, "ordinary", given, rng)
            yield Draw(f"sizes past {reach}", sizes, arrays)


def _sizes(axes: tuple[str, ...], rng: random.Random) -> dict[str, int]:
    # Pairwise different, unless there are so many axes that the largest value would not fit.
    distinct = MOST_DISTINCT if len(axes) <= MOST_DISTINCT else MOST_DISTINCT // 2
    sizes = [SMALLEST_SIZE + i % distinct for i in range(len(axes))]
    rng.shuffle(sizes)
    return dict(zip(axes, sizes, strict=True))


def _settled(program: Program, sizes: dict[str, int]) -> dict[str, int]:
    """``sizes`` with those that the spec gives, and with more positions than are listed."""
    fixed = dict(program.fixed)
    more = listed((s.value for s in program.outputs), program.fixed)
    return {a: fixed.get(a, n + more.get(a, 0)) for a, n in sizes.items()}


def _arrays(
    program: Program,
    sizes: Mapping[str, int],
    kind: str,
    given: Mapping[str, int | float],
    rng: np.random.Generator,
) -> dict[str, Array]:
    arrays: dict[str, Array] = {}
    for param in program.params:
        if isinstance(param, Input):
            shape = tuple(sizes[a] for a in param.order)
            few = min([FEW, *sizes.values()])
            arrays[param.name] = _tensor(kind_of_dtype(param.dtype), kind, shape, few, rng)
        elif param.name in given:
            arrays[param.name] = np.asarray(given[param.name])
        elif param.kind is Kind.INT:
            arrays[param.name] = np.asarray(
                int(rng.integers(1, max(sizes.values(), default=1) + 1))
            )
        else:
            arrays[param.name] = np.asarray(float(rng.uniform(0.1, 2.0)))
    return arrays


def _tensor(
    kind: Kind, style: str, shape: tuple[int, ...], few: int, rng: np.random.Generator
) -> Array:
    """Reals after the style; few different integers, ascending along the last axis in every
    second style (as ids of documents are)."""
    match kind:
        case Kind.INT:
            values: Array = rng.integers(0, few, shape)
            return np.sort(values, axis=-1) if shape and style in ("ordinary", "small") else values
        case Kind.BOOL:
            return np.asarray(rng.integers(0, 2, shape) == 1)
        case Kind.REAL:
            normal = rng.standard_normal(shape)
    match style:
        case "large":
            return 4 * normal
        case "small":
            return 1e-2 * normal
        case "positive":
            return np.abs(normal) + 0.1
        case _:
            return normal


def _reaches(program: Program, given: Mapping[str, int | float]) -> list[int]:
    """Whole numbers that positions are compared with and that small sizes never reach."""
    scalars: dict[Node, int | float] = {p: given[p.name] for p in program.params if p.name in given}
    numbers: list[int | float | Fraction] = []
    for node in topo(s.value for s in program.outputs):
        if isinstance(node, Map) and node.fn in (Fn.LT, Fn.LE, Fn.EQ):
            below = topo([node])
            if any(isinstance(n, Index) for n in below):
                numbers += [n.value for n in below if isinstance(n, Const)]
                numbers += [scalars[n] for n in below if n in scalars]
    return list(dict.fromkeys(abs(int(v)) for v in numbers if _is_distance(v)))


def _is_distance(value: int | float | Fraction) -> bool:
    return SMALLEST_DISTANCE < abs(float(value)) <= LARGEST_DISTANCE


def _reaching(program: Program, axes: tuple[str, ...], reach: int) -> dict[str, int]:
    """Sizes past ``reach`` on every axis whose position matters, tiny ones elsewhere."""
    nodes = topo(s.value for s in program.outputs)
    long = {n.axis for n in nodes if isinstance(n, Index)}
    return {a: (reach + 7 + 2 * i if a in long else 1 + i % 3) for i, a in enumerate(axes)}
