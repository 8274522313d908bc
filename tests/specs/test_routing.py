"""Routing on hostile rows: ties, masked positions, rows with nothing left; and by order alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from superopt.loading import load
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.names import canonical
from superopt.ugraph.node import Best
from superopt.ugraph.node import Input
from superopt.ugraph.walk import topo

FILE = Path(__file__).parents[2] / "specs" / "routing.py"
SPECS = {spec.name: spec for spec in load(str(FILE))}
ROWS = 7


def hostile(length: int) -> np.ndarray:
    """Ties, ascending and descending scores, masked halves, one score left, and none."""
    rng = np.random.default_rng(0)
    x = rng.choice([-1.0, 0.0, 0.5, 3.0], (ROWS, length))
    x[1], x[2], x[3] = 1.0, np.arange(length), -np.arange(length)
    x[4, length // 2 :] = -np.inf
    x[5] = -np.inf
    x[6, 1:] = -np.inf
    return x


@pytest.mark.parametrize("length", [1, 5, 9, 70])
@pytest.mark.parametrize("name", SPECS)
def test_hostile_rows_agree_with_the_reference(name, length):
    """The algebra as it is written, and ranked by what its order depends on."""
    spec = SPECS[name]
    program, names = canonical(spec.program)
    params = [p for p in spec.program.params if isinstance(p, Input)]
    arrays = {p.name: hostile(length) + i for i, p in enumerate(params)}
    sizes = {**dict.fromkeys(spec.axes, length), "m": ROWS, **dict(spec.program.fixed)}
    peers = spec.reference(*(torch.from_numpy(arrays[p.name]) for p in params))
    peers = peers if isinstance(peers, tuple) else (peers,)
    forms = (spec.program, names.back(program))
    for form in forms:
        found = evaluate_program(form, FloatDomain(), arrays, sizes)
        for store, peer in zip(form.outputs, peers, strict=True):
            mine = np.asarray(found[store.name], np.float64)
            there = np.ones(mine.shape, np.bool_)
            there[5] = name != "candidates"  # -inf less -inf: NaN there, and in the reference
            np.testing.assert_allclose(mine[there], peer.numpy()[there], rtol=1e-12)


def test_experts_are_ranked_by_their_scores():
    """No maximum and no sum is known where the list is made, and rounding makes no ties."""
    program, _ = canonical(SPECS["gating"].program)
    (logits,) = program.params
    lists = [n for n in topo([s.value for s in program.outputs]) if isinstance(n, Best)]
    assert lists
    assert all(n.args[0] is logits for n in lists)
