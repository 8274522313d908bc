"""How far a kernel's outputs may be from the float64 reference, and whether they are that near.

Two measures per output: the norm of the error over the norm of the reference, and the worst
element over the norm of its row (all axes but the last are rows). Each is at most
``2 * max(E, u)``: ``u`` is the unit roundoff of the output's dtype and ``E`` the same measure of
the *unfused spec* in the arithmetic of ``domains.py``, the largest over one run in fp32 and some
with random rounding. Rows in which the spec's own errors are as large as the reference (constant
rows of a layer norm) have no digits to compare: there the absolute error is held to twice the
spec's. Infinities, NaN and exact zeros are held exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from math import prod

import numpy as np

from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import Array
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import kind_of_dtype
from superopt.ugraph.scalar import Kind
from superopt.verify.run.domains import ShakenDomain
from superopt.verify.run.domains import StorageDomain
from superopt.verify.run.hostile import has_row_mask
from superopt.verify.run.hostile import is_undefined
from superopt.verify.run.inputs import Family
from superopt.verify.run.rounding import UNIT_ROUNDOFF
from superopt.verify.run.rounding import overflow_threshold
from superopt.verify.run.rounding import rounded

FACTOR = 2.0
SHAKES = 3  # runs of the spec with roundings at random
FEW = 64  # elements of all outputs, up to which one run says little about the spec's error
SHAKES_OF_FEW = 24
_NO_DIGITS = 0.25  # relative error of the spec above which a row is compared absolutely


@dataclass(frozen=True)
class Limit:
    """The largest allowed measures (``absolute``: of an element in a row without digits)."""

    rel: float
    worst: float
    absolute: float = 0.0


@dataclass(frozen=True, eq=False)
class Expected:
    """What one output should be.

    ``want``: the float64 reference, in memory order. ``digits``: per row, whether it is compared
    relatively. ``free``: elements where NaN or an infinity, in either array, is no fault (None:
    there are none). ``alike``: NaN and the infinities are not told apart.
    """

    name: str
    dtype: str
    want: Array
    limit: Limit
    digits: Array
    free: Array | None = None
    alike: bool = False


@dataclass(frozen=True)
class Comparison:
    """How one output compares. ``exact``: NaN, infinities and zeros are where they should be."""

    ok: bool
    rel: float
    worst: float
    limit: Limit
    exact: bool
    message: str = ""

    @property
    def used(self) -> float:
        """The share of the tolerance that is used up; above 1 it fails."""
        return max(share(self.rel, self.limit.rel), share(self.worst, self.limit.worst))


def share(value: float, limit: float) -> float:
    """``value`` over ``limit``, where 0 is all of nothing and more is infinitely much."""
    return value / limit if limit > 0 else (0.0 if value == 0 else float("inf"))


def storage(store: Store, dtype: str) -> str:
    """The dtype in which ``store`` is written in a case of ``dtype``."""
    if store.dtype is not None:
        return store.dtype
    return "bool" if store.value.kind is Kind.BOOL else dtype


def reference(
    program: Program, arrays: Mapping[str, Array], sizes: Mapping[str, int]
) -> dict[str, Array]:
    """The outputs in float64."""
    domain = FloatDomain(np.float64)
    return evaluate_program(program, domain, _held(domain, arrays), sizes)


def expected(
    program: Program,
    arrays: Mapping[str, Array],
    sizes: Mapping[str, int],
    dtype: str,
    tf32: bool = False,
) -> dict[str, Expected]:
    """What each output should be for these inputs, whose values ``dtype`` can hold."""
    wants = reference(program, arrays, sizes)
    operand = "tf32" if tf32 and dtype == "fp32" else dtype
    runs = list(_spec_runs(program, arrays, sizes, operand))
    found: dict[str, Expected] = {}
    for store in program.outputs:
        kind = storage(store, dtype)
        values = [run[store.name] for run in runs]
        found[store.name] = limited(store.name, kind, wants[store.name], values)
    return found


def expected_of(
    program: Program, family: Family, sizes: Mapping[str, int], dtype: str, tf32: bool = False
) -> dict[str, Expected]:
    """What each output should be for one family of inputs.

    An output that does not depend on a planted NaN or infinity is still NaN by IEEE's rules
    where it is multiplied by the zero weight of a masked position; a kernel that never walks
    there is right, too. Under a mask that depends on the row NaN may also reach masked rows.
    If an axis is empty and the spec divides by its size, its outputs may be NaN, too.
    An infinity in an input is outside of the laws: x w + (x a) b is NaN where x (w + a b) is
    infinite. What the spec makes finite of it must be right; what is not finite must not
    become finite, but need not be the same infinity or NaN.
    """
    found = expected(program, family.claimed or family.arrays, sizes, dtype, tf32)
    if 0 in sizes.values() and is_undefined(program, family.arrays, sizes):
        return {name: replace(e, free=np.ones(e.want.shape, bool)) for name, e in found.items()}
    if not family.twins:
        return found
    first, second = (reference(program, arrays, sizes) for arrays in family.twins)
    everywhere = has_row_mask(program)
    for name, one in found.items():
        same = (first[name] == second[name]) | (np.isnan(first[name]) & np.isnan(second[name]))
        free = same & (everywhere | ~np.isfinite(one.want))
        free |= False if one.free is None else one.free
        found[name] = replace(one, free=free, alike=family.infinite)
    return found


def _spec_runs(
    program: Program, arrays: Mapping[str, Array], sizes: Mapping[str, int], operand: str
) -> Iterator[dict[str, Array]]:
    """The spec in the arithmetic that it is entitled to, several times."""
    domain: FloatDomain = StorageDomain(operand)
    yield evaluate_program(program, domain, _held(domain, arrays), sizes)
    elements = sum(prod(sizes[a] for a in s.order) for s in program.outputs)
    for seed in range(SHAKES if elements > FEW else SHAKES_OF_FEW):
        domain = ShakenDomain(operand, seed)
        yield evaluate_program(program, domain, _held(domain, arrays), sizes)


def _held(domain: FloatDomain, arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {name: domain.array(value) for name, value in arrays.items()}


def limited(name: str, kind: str, want: Array, values: Sequence[Array]) -> Expected:
    """The limits of one output of dtype ``kind`` from the values that the spec's own runs have
    for it, before they are stored."""
    outputs = [_stored(value, kind) for value in values]
    rows = _rows(want)
    if kind_of_dtype(kind) is not Kind.REAL:
        return Expected(name, kind, want, Limit(0, 0), np.ones(len(rows), bool))
    norms = _norms(_finite(rows))
    errors = [_error(rows, _rows(output)) for output in outputs]
    noise = np.max([_largest(e) for e in errors], axis=0) if errors else np.zeros(len(rows))
    digits = noise <= _NO_DIGITS * norms
    rel = max(_relative(e, rows, digits) for e in errors)
    worst = max(_worst(e, norms, digits) for e in errors)
    absolute = float(noise[~digits].max(initial=0.0))
    u = UNIT_ROUNDOFF[kind]
    limit = Limit(FACTOR * max(rel, u), FACTOR * max(worst, u), FACTOR * absolute)
    # Where the spec itself leaves the range of the dtype inside (not only when it is stored), a
    # kernel may, too: what it has then is infinite, or NaN where infinities met.
    held = np.abs(want) < overflow_threshold(kind)
    lost = held & ~np.all([np.isfinite(o) for o in outputs], axis=0)
    lost |= np.isfinite(want) & ~np.all([np.isfinite(v) for v in values], axis=0)
    return Expected(name, kind, want, limit, digits, lost if lost.any() else None)


def _stored(value: Array, kind: str) -> Array:
    """An output of the spec as it is stored, widened."""
    if kind_of_dtype(kind) is not Kind.REAL:
        return value
    return rounded(np.asarray(value, np.float64), kind)


def compare(got: Array, expected: Expected) -> Comparison:
    """Whether ``got`` (the output, widened) is near enough to what is expected."""
    want, limit = expected.want, expected.limit
    if got.shape != want.shape:
        return _failed(limit, f"shape {got.shape} instead of {want.shape}")
    if kind_of_dtype(expected.dtype) is not Kind.REAL:
        differs = (got != want) & np.isfinite(want)  # an integer holds no infinity of an empty fold
        if not differs.any():
            return Comparison(True, 0.0, 0.0, limit, True)
        return _failed(limit, f"differs {_at(differs, got, want)}")
    held = np.asarray(got, np.float64)
    if expected.free is not None:
        special = ~np.isfinite(held) | ~np.isfinite(want)
        held = np.where(expected.free & special, rounded(want, expected.dtype), held)
    if expected.alike:
        held = np.where(~np.isfinite(held) & ~np.isfinite(want), want, held)
    if message := _wrong_special(held, want, expected.dtype):
        return _failed(limit, message)
    rows, norms = _rows(want), _norms(_finite(_rows(want)))
    error = _error(rows, _rows(held))
    rel = _relative(error, rows, expected.digits)
    worst = _worst(error, norms, expected.digits)
    lost = float(_largest(error)[~expected.digits].max(initial=0.0))
    message = ""
    if rel > limit.rel or worst > limit.worst:
        bad = _rows_of(error, norms, expected.digits).reshape(want.shape)
        message = (
            f"relative error {rel:.2e} (limit {limit.rel:.2e}), worst element {worst:.2e} of its "
            f"row's norm (limit {limit.worst:.2e}), {_at(bad == bad.max(), held, want)}"
        )
    elif lost > limit.absolute:
        where = (error == lost).reshape(want.shape)
        message = f"error {lost:.2e} exceeds {limit.absolute:.2e} {_at(where, held, want)}"
    return Comparison(not message, rel, worst, limit, True, message)


def _failed(limit: Limit, message: str) -> Comparison:
    return Comparison(False, float("inf"), float("inf"), limit, False, message)


def _wrong_special(got: Array, want: Array, dtype: str) -> str:
    """Where NaN or an infinity is missing or too many, or nothing.

    Within 1 % of the dtype's overflow threshold either side of it is right.
    """
    threshold = overflow_threshold(dtype)
    with np.errstate(all="ignore"):
        infinite = np.abs(want) >= threshold * 1.01
        near = (np.abs(want) >= threshold * 0.99) & ~infinite
        pairs = (
            (np.isnan(got) != np.isnan(want)),
            (np.isposinf(got) != (infinite & (want > 0))) & ~near,
            (np.isneginf(got) != (infinite & (want < 0))) & ~near,
        )
    for wrong in pairs:
        if wrong.any():
            return _at(wrong, got, want)
    return ""


def _at(where: Array, got: Array, want: Array) -> str:
    """The first place at which ``where`` holds."""
    index = tuple(int(i) for i in np.argwhere(where)[0])
    place = f"at {list(index)}" if index else ""
    return f"{place} got {got[index]:.6g}, expected {want[index]:.6g}".strip()


def _rows(value: Array) -> Array:
    """Two dimensions: the last axis, and all others as rows."""
    if value.ndim == 0:
        return value.reshape(1, 1)
    return value.reshape(int(np.prod(value.shape[:-1])), value.shape[-1])


def _finite(rows: Array) -> Array:
    return np.where(np.isfinite(rows), rows, 0.0)


def _norms(rows: Array) -> Array:
    with np.errstate(all="ignore"):
        scale = np.abs(rows).max(axis=1, initial=0.0)
        safe = np.where(scale > 0, scale, 1.0)
        norm: Array = np.sqrt(np.sum((rows / safe[:, None]) ** 2, axis=1)) * scale
    return norm


def _error(want: Array, got: Array) -> Array:
    """Absolute errors, 0 where either is no finite number (those are compared exactly)."""
    with np.errstate(all="ignore"):
        error = np.abs(got - want)
    return np.where(np.isfinite(error), error, 0.0)


def _largest(error: Array) -> Array:
    largest: Array = error.max(axis=1, initial=0.0)
    return largest


def _relative(error: Array, want: Array, digits: Array) -> float:
    """The norm of the error over that of the reference, in the rows that have digits."""
    total = float(_norms(_norms(_finite(want))[digits][None, :])[0])
    wrong = float(_norms(_norms(error)[digits][None, :])[0])
    return share(wrong, total)


def _rows_of(error: Array, norms: Array, digits: Array) -> Array:
    """Each error over its row's norm; 0 in rows without digits or without norm."""
    usable = digits & (norms > 0)
    safe = np.where(usable, norms, 1.0)
    found: Array = np.where(usable[:, None], error / safe[:, None], 0.0)
    return found


def _worst(error: Array, norms: Array, digits: Array) -> float:
    return float(_rows_of(error, norms, digits).max(initial=0.0))
