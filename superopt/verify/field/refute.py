"""Refutation by example: both graphs in float64 at the same ordinary point."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import Array
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input
from superopt.ugraph.scalar import Kind
from superopt.verify.field.meaning import Meaning
from superopt.verify.field.meaning import outputs_of
from superopt.verify.field.trials import Trial
from superopt.verify.verdict import Refuted

THRESHOLD = 1e-6  # relative to the largest element; rounding errors are ten orders smaller
DRAWS = 3
TIED_DRAWS, SMALL = 96, 2


def counterexample(
    program: Program,
    graph: KernelGraph | Meaning,
    trial: Trial,
    integers: Mapping[str, Array],
    seed: int,
    ties: bool = False,
) -> Refuted | None:
    """A point where the graph's value is not the spec's, or None if several points show none.

    ``integers``: the values of integer and boolean parameters. ``ties``: all others are small
    whole numbers, of which many are equal. Where the spec is NaN nothing is claimed.
    """
    domain = FloatDomain()
    for draw in range(TIED_DRAWS if ties else DRAWS):
        rng = np.random.default_rng([seed, draw])
        arrays: dict[str, Array] = {}
        for param in program.params:
            if param.kind is not Kind.REAL:
                arrays[param.name] = domain.array(integers[param.name])
                continue
            order = param.order if isinstance(param, Input) else ()
            shape = tuple(trial.size[a] for a in order)
            values = rng.standard_normal(shape)
            if ties:
                values = rng.integers(-SMALL, SMALL + 1, shape).astype(np.float64)
            # A scalar parameter is most often a scale: positive.
            positive = np.maximum(np.abs(values), 1) if ties else abs(values) + 0.1
            arrays[param.name] = domain.array(values if order else positive)
        spec = evaluate_program(program, domain, arrays, trial.size)
        got = outputs_of(graph, domain, arrays, trial)
        if (found := _difference(trial, spec, got)) is not None:
            return found
    return None


def _difference(trial: Trial, spec: dict[str, Array], got: dict[str, Array]) -> Refuted | None:
    for name, value in spec.items():
        a, b = (np.asarray(x, np.float64) for x in (value, got[name]))
        claimed = ~np.isnan(a) & (a != np.inf)  # +inf may be an overflow, which no real has
        scale = max(1.0, float(np.abs(a[np.isfinite(a)]).max(initial=0.0)))
        with np.errstate(all="ignore"):
            off = claimed & (a != b) & ~(np.abs(a - b) <= THRESHOLD * scale)
        if off.any():
            where = tuple(int(i) for i in np.argwhere(off)[0])
            at = [(f"size {axis}", str(size)) for axis, size in trial.sizes]
            what = f"{name}{list(where)} is {b[where]:.9g} and should be {a[where]:.9g}"
            return Refuted(tuple(at), what)
    return None
