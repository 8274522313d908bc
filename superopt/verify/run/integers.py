"""Hostile whole numbers: those that fp32 does not hold, the ends of dtypes, any position.

At the ends of what dtypes and launchers let through, sums and differences overflow 32 bits, so
a mask that is computed with no more is wrong there.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping

import numpy as np

from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import Array
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input
from superopt.ugraph.node import Scalar
from superopt.ugraph.scalar import Kind
from superopt.verify.run import hostile

Named = tuple[str, dict[str, Array]]

LARGE_BITS = 25
RUNTIME_MOST = 2**30  # of a run-time integer; launchers refuse more
ENDS = {f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32)}
ENDS["int64"] = (-(2**40), 2**40)  # sums and products of some such numbers still are exact


def integers(
    program: Program, ordinary: Mapping[str, Array], sizes: Mapping[str, int]
) -> Iterator[Named]:
    """Names of families, and what each has in the place of some ``ordinary`` inputs."""
    for param in program.params:
        if isinstance(param, Input) and param.kind is Kind.INT:
            yield from _large(program, param, ordinary, sizes)
    yield from _run_time(program, ordinary, sizes)
    yield from _positions(program, ordinary, sizes)


def _large(
    program: Program, tensor: Input, ordinary: Mapping[str, Array], sizes: Mapping[str, int]
) -> Iterator[Named]:
    """Integers that fp32 does not hold, and the ends of the dtype."""
    value = ordinary[tensor.name]
    turns = np.arange(value.size).reshape(value.shape) % 3
    bits = {"int8": 7, "int16": 15}.get(tensor.dtype or "", LARGE_BITS)
    large = np.where(turns == 1, -1, 1) * (2**bits - 1 - value)
    yield f"large {tensor.name}", {tensor.name: large}
    least, most = ENDS[tensor.dtype or "int32"]
    for name, ends in (
        (f"ends of {tensor.name}", np.choose(turns, (most, least, value))),
        (f"other ends of {tensor.name}", np.choose(turns, (least, most, value))),
    ):
        if _held(program, {**ordinary, tensor.name: ends}, sizes):
            yield name, {tensor.name: ends}


def _run_time(
    program: Program, ordinary: Mapping[str, Array], sizes: Mapping[str, int]
) -> Iterator[Named]:
    """All run-time integers as large, and as small, as launchers let through."""
    names = [p.name for p in program.params if isinstance(p, Scalar) and p.kind is Kind.INT]
    for number in (RUNTIME_MOST, -RUNTIME_MOST) if names else ():
        changed = {name: np.asarray(number, np.int64) for name in names}
        if _held(program, {**ordinary, **changed}, sizes):
            yield f"{', '.join(names)} at {number}", changed


def _held(program: Program, arrays: Mapping[str, Array], sizes: Mapping[str, int]) -> bool:
    """Whether the outputs of whole numbers can hold what the spec says."""
    domain = FloatDomain(np.float64)
    held = {name: domain.array(value) for name, value in arrays.items()}
    found = evaluate_program(program, domain, held, sizes)
    for store in program.outputs:
        least, most = ENDS.get(store.dtype or "", (-np.inf, np.inf))
        if np.any((found[store.name] < least) | (found[store.name] > most)):
            return False
    return True


def _positions(
    program: Program, ordinary: Mapping[str, Array], sizes: Mapping[str, int]
) -> Iterator[Named]:
    """Integers that are compared with positions: any position and the one after the last, and
    the same ones in ascending order."""
    random = np.random.default_rng(len(sizes))
    for name, axis in hostile.compared(program).items():
        drawn = random.integers(0, sizes[axis] + 1, ordinary[name].shape)
        yield f"{name} anywhere on {axis}", {name: drawn}
        if drawn.ndim:
            yield f"{name} ascending on {axis}", {name: np.sort(drawn, axis=-1)}
