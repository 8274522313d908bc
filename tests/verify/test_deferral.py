"""A difference of deferred sums cancels where the mean is far above the spread: it is gated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from superopt.loading import load
from superopt.repair.guard import Regions
from superopt.report.repairs import fusions
from superopt.rewrite.forms import forms
from superopt.ugraph.evaluate import evaluate_kernels
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.verify.field.trials import trials
from superopt.verify.magnitude import judge_range
from superopt.verify.obligations import judge_repair
from superopt.verify.run.torch_domain import TorchDomain
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Unknown

SPECS = Path(__file__).parents[2] / "specs"
NAME = f"{SPECS / 'scaled_linear.py'}:layer_norm_linear"
SIZES = {"m": 3, "k": 5, "n": 4}

(SPEC,) = load(NAME)
(FUSION,) = (f for f in fusions(SPEC.program) if f.axis == "k" and f.block is not None)


def rows(kind: str) -> dict[str, torch.Tensor]:
    rng = np.random.default_rng(0)
    spread = rng.standard_normal((3, 5)) * (0 if kind == "constant" else 1e-2)
    x = torch.tensor(100.5 + spread, dtype=torch.float32)
    return {"x": x, "w": torch.tensor(rng.standard_normal((5, 4)), dtype=torch.float32)}


def outputs(program: Program, dtype: torch.dtype, kind: str, graph: KernelGraph | None = None):
    domain = TorchDomain("cpu", dtype)
    names = [p.name for p in program.params]
    arrays = dict(zip(names, (t.to(dtype) for t in rows(kind).values()), strict=True))
    if graph is None:
        (value,) = evaluate_program(program, domain, arrays, SIZES).values()
    else:
        configs = next(trials(program, graph)).configs
        (value,) = evaluate_kernels(graph, domain, arrays, SIZES, configs).values()
    return torch.as_tensor(value).to(torch.float64)


def error(kind: str, program: Program = SPEC.program, graph: KernelGraph | None = None) -> float:
    wanted = outputs(SPEC.program, torch.float64, kind)
    return float((outputs(program, torch.float32, kind, graph) - wanted).abs().max())


@pytest.mark.parametrize("kind", ["constant", "narrow"])
def test_no_form_cancels(kind):
    found = [f.program for f in forms(SPEC.program, 12)]
    assert len(found) > 1
    limit = 4 * max(error(kind), 1e-4)
    assert [e for p in found if (e := error(kind, p)) > limit] == []


@pytest.mark.parametrize("kind", ["constant", "narrow"])
def test_the_one_walk_is_as_exact_as_the_spec(kind):
    assert FUSION.block is not None
    graph = KernelGraph("k", SPEC.program.params, ("out",), (FUSION.block,))
    assert error(kind, graph=graph) <= 4 * max(error(kind), 1e-4)


def test_the_difference_of_deferred_sums_would_not_be():
    """r (p - mean q), which is equal over the reals."""
    x, w = rows("constant").values()
    mean, q = x.mean(1, keepdim=True), w.sum(0, keepdim=True)
    r = torch.rsqrt(((x - mean) ** 2).mean(1, keepdim=True) + 1e-5)
    deferred = r * (x @ w - mean * q)
    wanted = outputs(SPEC.program, torch.float64, "constant")
    assert not wanted.any()
    assert error("constant") == 0
    assert float((deferred - wanted).abs().max()) > 4e-4


def test_the_centred_repair_is_the_one_that_is_derived():
    assert FUSION.block is not None
    assert [(r.rank, r.deferred) for r in FUSION.repairs] == [(3, False), (2, False)]
    for found in FUSION.repairs:
        claims = dict(judge_repair(found, FUSION.block))
        assert isinstance(claims["range"], Proved)


def test_the_range_obligation_gates_the_deferred_one():
    _, found = FUSION.repairs
    still = tuple(replace(c, moves=()) for c in found.components)
    deferred = replace(found, components=still)
    assert deferred.deferred
    verdict = judge_range(deferred, Regions(found.producers, ()))
    assert isinstance(verdict, Unknown)
    assert "cancel" in verdict.why
