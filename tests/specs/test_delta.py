"""The delta rule at the ends of its gates and rates, and what it is known to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import torch

from superopt.loading import load_one
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.node import Input

FILE = Path(__file__).parents[2] / "specs" / "recurrent.py"
GATED, PLAIN = (load_one(f"{FILE}:{name}") for name in ("gated_delta_rule", "delta_rule"))
INF = float("inf")
Arrays = dict[str, npt.NDArray[np.float64]]


def drawn(n: int, **fixed: float) -> tuple[Arrays, dict[str, int]]:
    """Random tensors of the gated rule; those that are ``fixed`` have one value everywhere."""
    rng, sizes = np.random.default_rng(n), {"b": 1, "h": 2, "n": n, "d": 3, "e": 4}
    arrays: Arrays = {}
    for p in GATED.program.params:
        assert isinstance(p, Input)
        shape = [sizes[a] for a in p.order]
        arrays[p.name] = (
            np.full(shape, fixed[p.name]) if p.name in fixed else rng.normal(size=shape)
        )
    return arrays, sizes


def meant(spec, arrays: Arrays, sizes: dict[str, int]) -> list[npt.NDArray[np.float64]]:
    given = {p.name: arrays[p.name] for p in spec.program.params}
    return list(evaluate_program(spec.program, FloatDomain(np.float64), given, sizes).values())


@pytest.mark.parametrize("n", [0, 1, 2, 40])
@pytest.mark.parametrize("gate", [None, 0.0, -INF, -1e4, 1e4])
@pytest.mark.parametrize("rate", [None, 0.0, 1.0, -1e4, 1e4])
def test_gates_and_rates_reach_their_ends(n: int, gate: float | None, rate: float | None):
    """Of 0 and 1, beyond which they do not go, and of no position and one."""
    fixed = {k: v for k, v in {"gate": gate, "rate": rate}.items() if v is not None}
    arrays, sizes = drawn(n, **fixed)
    read, state = meant(GATED, arrays, sizes)
    wanted = GATED.reference(*(torch.from_numpy(arrays[p.name]) for p in GATED.program.params))
    np.testing.assert_allclose(read, wanted[0].numpy(), 1e-9, 1e-12)
    np.testing.assert_allclose(state, wanted[1].numpy(), 1e-9, 1e-12)
    if n == 0 or (rate is not None and rate <= 0 and gate is not None and gate >= 0):
        np.testing.assert_array_equal(state, arrays["state"])  # it neither learns nor forgets
    if n and gate == -INF and rate is not None and rate <= 0:
        assert not state.any()
    if gate is not None and gate >= 0:  # nothing is forgotten
        arrays["state"][:] = 0
        for found, plain in zip(
            meant(GATED, arrays, sizes), meant(PLAIN, arrays, sizes), strict=True
        ):
            np.testing.assert_array_equal(found, plain)


def test_at_rate_one_the_value_of_a_key_is_the_last_one():
    """Householder-like: what was known of a key is replaced, what lies across it stays."""
    arrays, sizes = drawn(6, gate=0.0, rate=1.0)
    keys = np.eye(3)[[0, 1, 2, 0, 1, 1]]
    arrays["k"] = np.broadcast_to(5 * keys, arrays["k"].shape).copy()
    _, state = meant(GATED, arrays, sizes)
    np.testing.assert_allclose(state, arrays["v"][:, :, [3, 5, 2]], 1e-12)
