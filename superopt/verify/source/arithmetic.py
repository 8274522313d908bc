"""The functions of numbers that launchers are printed with, at numbers of every sort.

A launcher calls them with what sizes and the caller's scalars make, so that a reading at a dozen
choices of sizes meets few of their branches. Each is therefore executed on its own.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.grids import GRIDS
from superopt.ugraph.scalar import Fn
from superopt.verify.source.load import KernelText
from superopt.verify.verdict import Refuted

Numbers = tuple[float, ...]

NAMES = {"_div": Fn.DIV, "_sqrt": Fn.SQRT, "_exp2": Fn.EXP2, "_log2": Fn.LOG2}
NEAREST = "_nearest"
NUMBERS = (
    0.0, 1.0, -1.0, 0.25, -0.5, 0.99, 1.01, 3.0, -7.0, 0.1, 100.3, -448.7, 1023.0, 1023.5, 1024.0,
    -1074.0, -1075.5, 65504.0, -65520.0, 3e38, 1e-8, -1e-40, 5e-324, 1e300, -1e300, math.inf,
    -math.inf, math.nan,
)  # fmt: skip
CLOSE = 4e-16  # relative: two libraries may differ in the last bit of a power


def wrong_number(text: KernelText) -> Refuted | None:
    """The first function of the file that gives another number than the one of its name, and
    where. A zero has no sign here: spec and kernel know one zero."""
    for name, node in text.functions.items():
        if name not in (*NAMES, NEAREST):
            continue
        names: dict[str, Any] = {"math": math}
        exec(compile(ast.Module([node], []), name, "exec"), names)
        for fn, numbers, also, want in _calls(name):
            got = _given(names[name], (*numbers, *also))
            if not _same(got, want):
                at = tuple((chr(ord("a") + i), repr(n)) for i, n in enumerate(numbers))
                return Refuted(at, f"{name} gives {got}, and {fn.symbol} is {want!r}")
    return None


@cache
def _calls(name: str) -> tuple[tuple[Fn, Numbers, Numbers, float], ...]:
    """The function that a name stands for, its operands, further arguments, and its value."""
    if name in NAMES:
        return tuple(_valued(NAMES[name], ()))
    rows = {fn: (g.bits, g.least, float(g.lowest), float(g.largest)) for fn, g in GRIDS.items()}
    return tuple(call for fn, row in rows.items() for call in _valued(fn, row))


def _valued(fn: Fn, also: Numbers) -> Iterator[tuple[Fn, Numbers, Numbers, float]]:
    for numbers in product(NUMBERS, repeat=2 if fn is Fn.DIV else 1):
        value = FloatDomain().apply(fn, [np.asarray(n, np.float64) for n in numbers])
        yield fn, numbers, also, float(value)


def _given(function: Callable[..., object], arguments: Numbers) -> object:
    """What the text makes of numbers; the error that it raises, if it does."""
    try:
        return function(*arguments)
    except Exception as error:  # whatever is wrong with the text is what is looked for
        return f"{type(error).__name__}: {error}"


def _same(got: object, want: float) -> bool:
    if not isinstance(got, float):
        return False
    if math.isnan(want) or math.isnan(got):
        return math.isnan(want) and math.isnan(got)
    return math.isclose(got, want, rel_tol=CLOSE, abs_tol=0.0)
