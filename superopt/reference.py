"""Whether a spec means what its author's independent reference computes, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from superopt.draws import Draw
from superopt.draws import draws
from superopt.errors import SpecError
from superopt.location import error_location
from superopt.spec import Function
from superopt.spec import Spec
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Store

Array = npt.NDArray[Any]

RELATIVE = 1e-8  # of the largest finite value of the output; float64 leaves about 1e-14


def check_reference(spec: Spec, seed: int = 0) -> None:
    """Compares ``spec`` with its reference on small random inputs of pairwise different sizes.

    A spec without a reference passes. Masks that compare positions with a constant or with
    a case's scalar (a window) are also tried at sizes past it, up to ``LARGEST_DISTANCE``.

    Raises:
        SpecError: they disagree: at which output and position, the two values and by how
            much; or the reference fails, or both are NaN everywhere.
    """
    if spec.reference is None:
        return
    given = next((c.scalars for c in spec.cases if c.scalars), {})
    defined = {s.name: False for s in spec.program.outputs}
    for draw in draws(spec.program, spec.axes, given, seed):
        algebra = evaluate_program(spec.program, FloatDomain(np.float64), draw.arrays, draw.sizes)
        peers = _run(spec, spec.reference, draw)
        for store, peer in zip(spec.program.outputs, peers, strict=True):
            own = np.asarray(algebra[store.name])
            _compare(spec, store, own, peer, draw)
            defined[store.name] |= own.size > 0 and not bool(np.isnan(_reals(own)).all())
    if never := [name for name, ok in defined.items() if not ok]:
        raise SpecError(f"{never[0]} of {spec.name} is NaN for every input tried", spec.where)


def _run(spec: Spec, reference: Function, draw: Draw) -> list[Array]:
    """The reference's outputs, in the spec's order."""
    import torch

    arguments = []
    for param in spec.program.params:
        array = draw.arrays[param.name]
        dtype = getattr(torch, param.dtype) if array.dtype.kind != "f" and param.dtype else None
        tensor = torch.from_numpy(np.array(array))
        value = tensor if dtype is None else tensor.to(dtype)
        arguments.append(value if array.ndim or hasattr(param, "order") else array.item())
    name = getattr(reference, "__name__", "reference")
    try:
        result = reference(*arguments)
    except Exception as error:  # the user's own lines: report, do not crash
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        raise SpecError(
            f"reference {name} of {spec.name} fails at {_spoken(draw)}: {text}",
            error_location(error) or spec.where,
        ) from error
    values = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(values) != len(spec.program.outputs):
        raise SpecError(
            f"reference {name} returns {len(values)} value(s), "
            f"{spec.name} has {len(spec.program.outputs)}",
            spec.where,
        )
    for value in values:
        if not isinstance(value, torch.Tensor):
            raise SpecError(
                f"reference {name} returns a {type(value).__name__}, not a tensor", spec.where
            )
    return [
        v.detach().to(torch.float64 if v.is_floating_point() else v.dtype).numpy() for v in values
    ]


def _compare(spec: Spec, store: Store, own: Array, peer: Array, draw: Draw) -> None:
    what = f"{store.name} of {spec.name}"
    if own.shape != peer.shape:
        raise SpecError(
            f"{what} has shape {own.shape} ({' '.join(store.order)!r}), the reference's has "
            f"{peer.shape}, at {_spoken(draw)}",
            spec.where,
        )
    mine, other = _reals(own), _reals(peer)
    finite = np.isfinite(mine) & np.isfinite(other)
    scale = float(np.max(np.abs(other[finite]), initial=0.0))
    with np.errstate(invalid="ignore"):
        error = np.where(finite, np.abs(mine - other), 0.0)
        same = (mine == other) | (np.isnan(mine) & np.isnan(other))
    wrong = np.where(finite, error > RELATIVE * scale, ~same)
    if not wrong.any():
        return
    strange = wrong & ~finite
    at = np.unravel_index(int(np.argmax(strange if strange.any() else error)), error.shape)
    place = ", ".join(f"{a}={int(i)}" for a, i in zip(store.order, at, strict=True))
    relative = float(error.max()) / scale if scale else float("inf")
    by = "" if strange.any() else f", off by {error[at]:.3g} ({relative:.2g} of the largest value)"
    raise SpecError(
        f"{what} disagrees with its reference at [{place}]: the spec gives {mine[at]:.9g}, the "
        f"reference {other[at]:.9g}{by}; {int(wrong.sum())} of {wrong.size} elements differ; "
        f"{draw.what} inputs, {_spoken(draw)}{_hint(mine[at], other[at], relative)}",
        spec.where,
    )


def _hint(mine: float, other: float, relative: float) -> str:
    if np.isnan(other) and not np.isnan(mine):
        return " (references follow the spec where a whole row is masked: weights are 0 there)"
    if relative < 1e-5:
        return " (a reference that rounds, by .float() for example, cannot be compared)"
    return ""


def _reals(array: Array) -> Array:
    return np.asarray(array, dtype=np.float64)


def _spoken(draw: Draw) -> str:
    return "sizes " + " ".join(f"{a}={n}" for a, n in draw.sizes.items())
