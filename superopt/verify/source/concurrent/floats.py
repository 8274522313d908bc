"""The values of a text in float64 beside those of its spec, on ordinary inputs."""

from __future__ import annotations

import numpy as np

from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import Array
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input
from superopt.ugraph.scalar import Kind
from superopt.verify.field.trials import Trial
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.meaning import SCALAR
from superopt.verify.source.meaning import TextMeaning
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown

RELATIVE = 1e-6  # to the largest element; rounding errors of float64 are orders smaller


def read_floats(
    program: Program, meaning: TextMeaning, trial: Trial, seed: int
) -> Refuted | Unknown | None:
    """What is wrong at one input; None if nothing is, which is seen and no proof."""
    arrays = {
        p.name: _drawn(p.kind, [trial.size[a] for a in getattr(p, "order", ())], seed + number)
        for number, p in enumerate(program.params)
    }
    for param in program.params:
        if not isinstance(param, Input) and param.kind is Kind.REAL:
            arrays[param.name] = np.asarray(SCALAR)
    domain = FloatDomain()
    at = tuple((f"size {a}", str(n)) for a, n in trial.sizes)
    try:
        found = meaning.outputs(domain, arrays, trial)
    except FaultError as fault:
        return Refuted((*fault.at, *at), fault.what)
    except OutsideVocabularyError as outside:
        return Unknown(f"the concurrent reading has no meaning for {outside}")
    for name, wanted in evaluate_program(program, domain, arrays, trial.size).items():
        off = ~np.isclose(
            np.asarray(found[name], np.float64),
            np.asarray(wanted, np.float64),
            RELATIVE,
            RELATIVE * float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)),
            equal_nan=True,
        )
        if off.any():
            place = tuple(int(i) for i in np.argwhere(off)[0])
            said = f"{found[name][place]:.9g} and should be {wanted[place]:.9g}"
            return Refuted(at, f"{name}{list(place)} is {said}")
    return None


def _drawn(kind: Kind, shape: list[int], seed: int) -> Array:
    rng = np.random.default_rng(seed)
    if kind is Kind.BOOL:
        return np.asarray(rng.integers(0, 2, shape) == 1)
    if kind is Kind.INT:
        return np.asarray(rng.integers(0, 4, shape), np.int64)
    return rng.standard_normal(shape)
