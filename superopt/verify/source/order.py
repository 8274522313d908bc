"""The text in float64 with true comparisons, on inputs that doubtful stabilisers do not survive.

A field has no order: an accumulator of a maximum that begins at 0 is an identity over the reals,
and a difference of exponents may have either sign there. Here both show.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import Array
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Best
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import topo
from superopt.verify.field.domain import LARGEST_INT
from superopt.verify.field.domain import SMALLEST_INT
from superopt.verify.field.trials import Trial
from superopt.verify.run.hostile import below
from superopt.verify.run.hostile import scores
from superopt.verify.run.hostile import stabilised_axes
from superopt.verify.source.cells import OrderDomain
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import KernelText
from superopt.verify.source.load import read_text
from superopt.verify.source.meaning import SCALAR
from superopt.verify.source.meaning import TextMeaning
from superopt.verify.source.trials import text_trials
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown

RELATIVE = 1e-6  # rounding errors of float64 are three orders smaller, at scores that large
ROUNDED = 8  # times the rounding error of the spec itself, which another order of sums may have
LARGE = 1e6  # scores, whose exponentials float64 does not hold
HIGHEST = 1e-6  # an exponent that is 0 but for roundings
TRIALS = ("remainder", "programs", "parts")

# (name, sign of the first tensor that scores are made of, sign of all others, course)
FAMILIES: tuple[tuple[str, float, float, str], ...] = (
    ("ordinary", 0.0, 0.0, ""),
    ("scores far above", 1.0, 1.0, ""),
    ("scores far below", -1.0, 1.0, ""),
    ("ascending", 1.0, 1.0, "up"),
    ("descending", 1.0, 1.0, "down"),
    ("one outlier", 0.0, 0.0, "outlier"),
    ("ties", 1.0, 1.0, "ties"),
)


@dataclass(frozen=True)
class Seen:
    """Nothing wrong at ``points`` inputs of these ``families``: that is seen, and no proof.

    ``exponents``: at how many of them every exponential whose result matters was of a number
    that is not above 0, as in the spec.
    """

    points: int
    families: tuple[str, ...]
    exponents: int


def read_order(
    source: KernelText | Path | str,
    program: Program,
    graph: KernelGraph,
    index: int = 0,
    seed: int = 0,
    function: str | None = None,
) -> Seen | Refuted | Unknown:
    """Whether the text agrees with ``program`` in float64, finite where it is, on hostile inputs.

    ``Refuted`` where it differs by more than ``RELATIVE``, and where its result depends on the
    exponential of a positive number though the spec's does not.
    """
    text = source if isinstance(source, KernelText) else read_text(source)
    meaning = TextMeaning(text, program, function or program.name, index, "fp32")
    points = exponents = 0
    for trial in text_trials(program, graph, longer=True):
        if trial.label not in TRIALS:
            continue
        for number, (name, first, others, course) in enumerate(FAMILIES):
            arrays = {
                p.name: _values(program, p, trial, (first, others), course, seed * 100 + number)
                for p in program.params
            }
            where = (("inputs", name), *((f"size {a}", str(n)) for a, n in trial.sizes))
            domain = OrderDomain(HIGHEST)
            found = _compared(program, meaning, trial, arrays, domain)
            if found is not True or domain.above:  # else the rule has changed no number
                plain = _compared(program, meaning, trial, arrays, FloatDomain())
                found = found if plain is True else plain
            if isinstance(found, Refuted):
                return Refuted((*found.at, *where), found.what)
            if isinstance(found, Unknown):
                return found
            exponents += found and domain.exponentials > 0
            points += 1
    return Seen(points, tuple(f[0] for f in FAMILIES), exponents)


def _compared(
    program: Program,
    meaning: TextMeaning,
    trial: Trial,
    arrays: Mapping[str, Array],
    domain: FloatDomain,
) -> Refuted | Unknown | bool:
    """What is wrong at one input; False: the spec itself breaks the rule of the domain."""
    plain = evaluate_program(program, FloatDomain(), arrays, trial.size)
    spec = plain
    if isinstance(domain, OrderDomain):
        spec = evaluate_program(program, domain, arrays, trial.size)
        if any((np.isnan(spec[n]) & ~np.isnan(plain[n])).any() for n in spec):
            return False
    try:
        got = meaning.outputs(domain, arrays, trial)
    except FaultError as fault:
        return Refuted(fault.at, fault.what)
    except OutsideVocabularyError as outside:
        return Unknown(f"the order reading has no meaning for {outside}")
    for name, wanted in spec.items():
        found = np.asarray(got[name], np.float64)
        off = _off(np.asarray(wanted, np.float64), found)
        if off.any():
            off &= _off(np.asarray(wanted, np.float64), found, _noise(program, arrays, trial)[name])
        if off.any():
            at = tuple(int(i) for i in np.argwhere(off)[0])
            said = f"{name}{list(at)} is {got[name][at]:.9g} and should be {wanted[at]:.9g}"
            if isinstance(domain, OrderDomain):
                said = f"{name}{list(at)} depends on the exponential of a positive number"
            return Refuted((), said)
    return True


def _noise(program: Program, arrays: Mapping[str, Array], trial: Trial) -> dict[str, float]:
    """By output, how far float64 is from what the spec means: what nearly cancels is rounding."""
    longer = {n: a.astype(np.longdouble) if a.dtype == np.float64 else a for n, a in arrays.items()}
    plain = evaluate_program(program, FloatDomain(), arrays, trial.size)
    found: dict[str, float] = {}
    for name, wanted in evaluate_program(
        program, FloatDomain(np.longdouble), longer, trial.size
    ).items():
        both = np.isfinite(wanted) & np.isfinite(plain[name])
        with np.errstate(all="ignore"):
            apart = np.abs(np.asarray(wanted - plain[name], np.float64))
        found[name] = float(apart[both].max(initial=0.0))
    return found


def _off(wanted: Array, got: Array, noise: float = 0.0) -> Array:
    """Where two results differ; where the spec is NaN nothing is claimed. ``noise``: the error of
    the spec's own evaluation."""
    finite = np.isfinite(wanted)
    scale = float(np.abs(wanted[finite]).max(initial=0.0))
    with np.errstate(all="ignore"):
        near = np.abs(wanted - got) <= RELATIVE * (np.abs(wanted) + scale) + ROUNDED * noise
    same = (wanted == got) | (finite & near)
    off: Array = ~np.isnan(wanted) & ~same
    return off


def _values(
    program: Program,
    param: Input | Scalar,
    trial: Trial,
    signs: tuple[float, float],
    course: str,
    seed: int,
) -> Array:
    """One parameter of one family."""
    rng = np.random.default_rng([seed, *param.name.encode()])
    order = param.order if isinstance(param, Input) else ()
    shape = tuple(trial.size[a] for a in order)
    if param.kind is Kind.BOOL:
        return np.asarray(rng.integers(0, 2, shape) == 1)
    if param.kind is Kind.INT:
        return np.asarray(rng.integers(SMALLEST_INT, LARGEST_INT + 1, shape), np.int64)
    if not order:
        return np.asarray(SCALAR)
    values = rng.standard_normal(shape)
    made_of = [
        p.name for p in program.params if p.name in below([*scores(program), *_listed(program)])
    ]
    if param.name not in made_of or not shape:
        return values
    size = LARGE ** (1 / len(made_of))
    sign = signs[0] if param.name == made_of[0] else signs[1]
    if sign:
        values = sign * size * (1 + 0.01 * rng.standard_normal(shape))
    stabilised = dict.fromkeys([*stabilised_axes(program), *(b.axis for b in _lists(program))])
    along = [order.index(a) for a in stabilised if a in order]
    for axis in along:
        values = COURSES.get(course, _same)(values, size, axis)
    return values


def _lists(program: Program) -> list[Best]:
    return [n for n in topo([s.value for s in program.outputs]) if isinstance(n, Best)]


def _listed(program: Program) -> list[Node]:
    """The values that are ranked in lists of the best."""
    return [value for node in _lists(program) for value in node.args[::2]]


def _same(values: Array, size: float, axis: int) -> Array:
    return values


def _ramp(values: Array, size: float, axis: int) -> Array:
    count = values.shape[axis]
    steps = np.linspace(-1, 1, count) if count > 1 else np.ones(count)
    return values * steps.reshape([count if a == axis else 1 for a in range(values.ndim)])


def _outlier(values: Array, size: float, axis: int) -> Array:
    """The last position is far above all others."""
    last = (np.arange(values.shape[axis]) == values.shape[axis] - 1).astype(float)
    shape = [values.shape[axis] if a == axis else 1 for a in range(values.ndim)]
    return np.asarray(values + size * last.reshape(shape))


COURSES: dict[str, Callable[[Array, float, int], Array]] = {
    "up": _ramp,
    "down": lambda values, size, axis: -_ramp(values, size, axis),
    "outlier": _outlier,
    "ties": lambda values, size, axis: np.full_like(values, size),
}
