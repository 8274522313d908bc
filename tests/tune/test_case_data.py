"""What a call writes is compared at sampled positions, and bit for bit with a second run."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from superopt.loading import load as load_specs
from superopt.tune.case_data import CaseData
from superopt.tune.case_data import poison
from superopt.verify.run.run_kernel import load
from superopt.verify.run.run_kernel import same_bits

HERE = Path(__file__).parent
(SPEC,) = load_specs(str(HERE / "row_sum.py"))
row_sum = load(str(HERE / "plain_kernel.py")).row_sum


@pytest.fixture
def data():
    """Three sets; the reference has room for a few of the six rows."""
    return CaseData(SPEC.program, SPEC.case("small"), "cpu", 0, lambda size: 3, most=60)


def test_sets_are_drawn_one_by_one(data):
    assert len(data.sets) == 3
    assert not torch.equal(data.sets[0]["x"], data.sets[1]["x"])
    for call, held in zip(data.calls(row_sum), data.sets, strict=True):
        assert call() is held["out"]


def test_a_right_call_uses_a_part_of_its_tolerance(data):
    found = data.checked(data.calls(row_sum)[0])
    assert found.problem == ""
    seen, limit = found.error
    assert 0 <= seen <= limit


def test_a_row_that_is_not_sampled_has_to_be_written(data):
    (sampled,) = data.at.values()
    assert 0 < len(sampled) < 6

    def some_rows(x, length, *, out, plan):
        out[sampled] = row_sum(x, length, out=torch.empty_like(out))[sampled]
        return out

    found = data.checked(data.calls(some_rows)[0])
    assert found.problem == (
        "output 'out': two runs differ: a race, or an element that is never written"
    )


def test_outputs_of_its_own_are_refused(data):
    def elsewhere(x, length, *, out, plan):
        return row_sum(x, length, out=torch.empty_like(out))

    with pytest.raises(ValueError, match="did not write into the outputs"):
        data.checked(data.calls(elsewhere)[0])


def test_a_check_says_what_is_no_output(data):
    assert data.check([]).problem == "0 outputs instead of 1"
    assert "(5,) instead of shape (6,)" in data.check([torch.zeros(5)]).problem
    assert "float instead of shape" in data.check([1.0]).problem


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int8", "int64", "bool"])
def test_two_poisons_differ_in_every_dtype(dtype):
    kind = getattr(torch, dtype)
    first, second = (torch.full((4,), poison(kind, f), dtype=kind) for f in (math.nan, 113.0))
    assert not same_bits(first, second)
    assert first.isnan().all() == kind.is_floating_point
