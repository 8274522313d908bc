"""How far a substitute is from the operator that was written, against the tolerance of a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from superopt.approximate.per_tile import unrounded
from superopt.ugraph.floats import Array
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input
from superopt.ugraph.node import Scalar
from superopt.ugraph.scalar import Kind
from superopt.verify.field.trials import axes_of
from superopt.verify.run.rounding import rounded
from superopt.verify.run.tolerance import compare
from superopt.verify.run.tolerance import expected
from superopt.verify.run.tolerance import reference

TILES = 8
OTHERS, POINTS = 16, 1 << 20  # positions of each other axis, and of all axes together, at most
FAMILIES = ("normal", "outliers", "uneven")
OUTLIERS, FAR = 0.002, 30.0  # how many there are, and how far out


@dataclass(frozen=True)
class Deviation:
    """Of one output for one family of inputs, as relative norms.

    ``rel``: of the substitute from the spec; ``limit``: what a kernel of the spec is allowed;
    ``used``: the share of its tolerance that is used, of the norm or of the worst element.
    ``own``, ``exact``: of the spec, and of the substitute, from the spec without its explicit
    roundings.
    """

    output: str
    family: str
    rel: float
    limit: float
    used: float
    own: float
    exact: float


def deviations(
    spec: Program, substitute: Program, axis: str, tile: int, dtype: str, seed: int = 0
) -> list[Deviation]:
    """What is measured in float64 on inputs that ``dtype`` holds, with ``TILES`` tiles of ``tile``
    positions: normal ones, some with a few that are far out, and some whose size varies along the
    axis. ``substitute`` has ``axis`` as two."""
    found: list[Deviation] = []
    others = max(1, len(axes_of(spec)) - 1)
    few = max(2, min(OTHERS, int((POINTS / (TILES * tile)) ** (1 / others))))
    sizes = {a: TILES * tile if a == axis else few for a in axes_of(spec)} | dict(spec.fixed)
    cut = {**sizes, f"{axis}_tile": TILES, f"{axis}_in": tile}
    for number, family in enumerate(FAMILIES):
        rng = np.random.default_rng([seed, number])
        arrays = {p.name: _drawn(p, sizes, axis, family, dtype, rng) for p in spec.params}
        there = {
            p.name: arrays[p.name].reshape([cut[a] for a in p.order])
            if isinstance(p, Input)
            else arrays[p.name]
            for p in substitute.params
        }
        got = reference(substitute, there, cut)
        exact = reference(unrounded(spec), arrays, sizes)
        for name, wanted in expected(spec, arrays, sizes, dtype).items():
            other = got[name].reshape(wanted.want.shape)
            compared = compare(other, wanted)
            found.append(
                Deviation(
                    name,
                    family,
                    compared.rel,
                    wanted.limit.rel,
                    compared.used,
                    _distance(wanted.want, exact[name]),
                    _distance(other, exact[name]),
                )
            )
    return found


def _distance(value: Array, exact: Array) -> float:
    return float(np.linalg.norm(value - exact) / np.linalg.norm(exact))


def _drawn(
    param: Input | Scalar,
    sizes: Mapping[str, int],
    axis: str,
    family: str,
    dtype: str,
    rng: np.random.Generator,
) -> Array:
    """One parameter; of integers few different ones, of scalars a positive one."""
    if not isinstance(param, Input):
        return np.asarray(float(rng.uniform(0.5, 1.5)))
    shape = tuple(sizes[a] for a in param.order)
    if param.kind is not Kind.REAL:
        return np.asarray(rng.integers(0, 2, shape), bool if param.kind is Kind.BOOL else np.int64)
    values = rng.standard_normal(shape)
    if family == "outliers":
        values = np.where(rng.random(shape) < OUTLIERS, FAR * values, values)
    if family == "uneven" and axis in param.order:
        along = np.exp(2 * rng.standard_normal(sizes[axis]))
        place = [sizes[axis] if a == axis else 1 for a in param.order]
        values = values * along.reshape(place)
    return rounded(values, param.dtype or dtype)
