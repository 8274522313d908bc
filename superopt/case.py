"""The sizes for which a spec is searched."""

from __future__ import annotations

import re
from collections.abc import Collection
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import Any

from superopt.errors import SpecError
from superopt.integers import Integers
from superopt.integers import read_integers
from superopt.location import user_location
from superopt.ugraph.node import FLOAT_DTYPES

LARGEST_SIZE = 2**31 - 1


@dataclass(frozen=True, init=False)
class Case:
    """One set of sizes, by name of axis, at which an operator is used.

    ``dtype``: the storage dtype of tensors that name none; None means the spec's, and a case
    of a ``Spec`` always has one. ``tf32``: fp32 matrix products may round their operands to
    tf32. ``scalars``: values of run-time scalars; the search uses them for its counts. They
    are written like sizes (``Case("long", n=4096, scale=0.125)``), the spec tells them apart.
    ``integers``: how the numbers of integer tensors are drawn where the case is run
    (``first=Segments(8)``).
    """

    name: str
    sizes: Mapping[str, int]
    dtype: str | None = None
    tf32: bool = False
    scalars: Mapping[str, int | float] = field(default_factory=dict)
    integers: Mapping[str, Integers] = field(default_factory=dict)
    where: str | None = field(default=None, compare=False, repr=False)

    def __init__(
        self,
        name: str,
        /,
        *,
        dtype: str | None = None,
        tf32: bool = False,
        **values: int | float | Integers,
    ) -> None:
        where = user_location()
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
            raise SpecError(f"case name {name!r} must be made of letters, digits, _ . -", where)
        if dtype is not None:
            check_float_dtype(dtype, where)
        if not isinstance(tf32, bool):
            raise SpecError(f"tf32 is True or False, got {tf32!r}", where)
        rules = {k: v for k, v in values.items() if isinstance(v, Integers)}
        numbers = {k: v for k, v in values.items() if not isinstance(v, Integers)}
        for key, value in numbers.items():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
                raise SpecError(f"case {name!r}: {key}={value!r} is no number", where)
        self._set(name=name, sizes=numbers, dtype=dtype, tf32=tf32, where=where)
        self._set(scalars={}, integers=rules)

    @property
    def storage(self) -> str:
        """The storage dtype of tensors that name none; a case without one stores bf16."""
        return self.dtype or "bf16"

    def _set(self, **values: object) -> None:
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def __hash__(self) -> int:
        return hash((self.name, tuple(self.sizes.items())))


def bind(
    case: Case,
    axes: tuple[str, ...],
    scalars: Mapping[str, str],
    dtype: str,
    tensors: Collection[str] = (),
    fixed: tuple[tuple[str, int], ...] = (),
) -> Case:
    """``case`` with its numbers sorted into sizes (in the order of ``axes``) and scalars.

    ``scalars``: name -> dtype of the run-time scalars; their values may be left out.
    ``tensors``: the integer tensors, whose numbers a case may say how to draw.
    ``fixed``: axes that the spec itself makes, with their sizes.

    Raises:
        SpecError: a size is missing, a name is unknown, or a value is none of its kind.
    """
    label = f"case {case.name!r}"
    for axis, size in fixed:
        if case.sizes.get(axis, size) != size:
            what = f"{label}: {axis}={case.sizes[axis]}, but the spec says {size}"
            raise SpecError(what, case.where)
    axes = (*axes, *(a for a, _ in fixed))
    given = {**case.sizes, **dict(fixed)}
    if missing := [a for a in axes if a not in given]:
        raise SpecError(f"{label} does not bind {_listed('size', missing)}", case.where)
    if unknown := [n for n in given if n not in axes and n not in scalars]:
        raise SpecError(
            f"{label} binds {', '.join(map(repr, unknown))}, which the spec does not have; "
            f"it has {', '.join(map(repr, [*axes, *scalars]))}",
            case.where,
        )
    for axis in axes:
        if not isinstance(given[axis], int) or not 0 <= given[axis] <= LARGEST_SIZE:
            raise SpecError(
                f"{label}: size {axis}={given[axis]!r} must be a whole number "
                f"from 0 to {LARGEST_SIZE}",
                case.where,
            )
    for name, kind in scalars.items():
        if name in given and kind == "int32" and not isinstance(given[name], int):
            raise SpecError(f"{label}: {name}={given[name]!r} must be a whole number", case.where)
    for name, rule in case.integers.items():
        if name not in tensors:
            have = ", ".join(map(repr, tensors)) or "none"
            raise SpecError(
                f"{label}: {name}={rule!r} is for an integer tensor with axes; there is {have}",
                case.where,
            )
    bound = Case(case.name, dtype=case.dtype or dtype, tf32=case.tf32)
    bound._set(
        integers=dict(case.integers),
        sizes={a: given[a] for a in axes},
        scalars={n: given[n] for n in scalars if n in given},
        where=case.where,
    )
    return bound


def case_record(case: Case) -> dict[str, Any]:
    """A bound case as JSON."""
    return {
        "name": case.name,
        "sizes": dict(case.sizes),
        "scalars": dict(case.scalars),
        "integers": {name: str(rule) for name, rule in case.integers.items()},
        "dtype": case.dtype,
        "tf32": case.tf32,
    }


def case_from(record: Mapping[str, Any]) -> Case:
    """The bound case that ``record`` holds.

    Raises:
        KeyError, TypeError, ValueError, AttributeError, SpecError: it holds none.
    """
    rules = {n: read_integers(text) for n, text in record["integers"].items()}
    scalars = record["scalars"]
    given = Case(
        record["name"],
        dtype=record["dtype"],
        tf32=record["tf32"],
        **record["sizes"],
        **scalars,
        **rules,
    )
    kinds = {n: "int32" if isinstance(value, int) else "fp32" for n, value in scalars.items()}
    return bind(given, tuple(record["sizes"]), kinds, given.storage, tuple(rules))


def check_float_dtype(dtype: object, where: str | None) -> None:
    """Raises a ``SpecError`` unless ``dtype`` can store the float tensors of a case."""
    if dtype not in FLOAT_DTYPES:
        raise SpecError(
            f"unsupported dtype {dtype!r}; a case or a spec has {', '.join(FLOAT_DTYPES)}", where
        )


def _listed(what: str, names: list[str]) -> str:
    return f"{what}{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))}"
