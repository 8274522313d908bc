"""Every spec that ships, and every further one here, agrees with its independent reference."""

from __future__ import annotations

from pathlib import Path

import pytest

from superopt.loading import load
from superopt.reference import check_reference

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "specs").glob("*.py"))
FURTHER = sorted(
    p for p in Path(__file__).parent.glob("*.py") if not p.stem.startswith(("test_", "__"))
)


@pytest.mark.parametrize("file", [*SHIPPED, *FURTHER], ids=lambda p: p.stem)
@pytest.mark.parametrize("seed", [0, 1])
def test_specs_agree_with_their_references(file, seed):
    for spec in load(str(file)):
        assert spec.reference is not None, f"{spec.name} has no reference"
        check_reference(spec, seed)


@pytest.mark.parametrize("file", SHIPPED, ids=lambda p: p.stem)
def test_shipped_specs_have_a_bf16_and_an_fp32_case(file):
    for spec in load(str(file)):
        assert {c.dtype for c in spec.cases} == {"bf16", "fp32"}, spec.name


def test_the_shipped_problems():
    names = {spec.name for file in SHIPPED for spec in load(str(file))}
    assert names >= {"attention", "causal", "with_lse", "decode", "softmax", "logsumexp"}
    assert names >= {
        "layer_norm",
        "rms_norm",
        "rms_norm_linear",
        "lora",
        "linear_gelu",
        "gated_mlp",
    }
