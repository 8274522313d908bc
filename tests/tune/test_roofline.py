"""The least time of a case: bytes, products, and what masks leave of both."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from superopt.device import TARGETS
from superopt.loading import load
from superopt.tune.roofline import roofline
from superopt.tune.roofline import work

SPECS = Path(__file__).resolve().parents[2] / "specs"
H200 = TARGETS["h200"]


def spec_of(file, function):
    (found,) = load(f"{SPECS / file}.py:{function}")
    return found


def square(m, n, *, d=64, values=None, file="attention", function="attention"):
    sizes = {"b": 2, "h": 3, "m": m, "n": n, "d": d, "e": d}
    return work(spec_of(file, function).program, sizes, "bf16", values)


def test_products_and_bytes():
    found = square(512, 512)
    assert found.flop == 2 * 2 * (2 * 3 * 512 * 512 * 64)
    assert found.read == 3 * (2 * 3 * 512 * 64 * 2)
    assert found.written == 2 * 3 * 512 * 64 * 2


def test_a_causal_mask_leaves_half():
    whole, causal = square(512, 512), square(512, 512, function="causal")
    assert causal.flop / whole.flop == pytest.approx(513 / 1024)
    assert causal.read == whole.read


def test_keys_that_no_query_sees_are_not_read():
    found = square(256, 512, function="causal")
    assert found.read == 2 * 3 * 64 * 2 * (256 + 2 * 256)


def test_a_window_leaves_its_part():
    whole = square(4096, 4096)
    found = square(4096, 4096, file="masked_attention", function="sliding_window")
    seen = sum(min(m + 1, 1024) for m in range(4096))
    assert found.flop / whole.flop == pytest.approx(seen / 4096**2, rel=1e-3)


def test_a_mask_on_integers_needs_their_values():
    first = np.repeat(np.array([0, 128, 256, 384]), 128)[None].repeat(2, axis=0)
    names = {"file": "masked_attention", "function": "document"}
    found = square(512, 512, values={"first": first}, **names)
    assert found.flop / square(512, 512).flop == pytest.approx(129 / 1024)
    assert square(512, 512, **names).flop == square(512, 512).flop  # not known: no mask


def test_long_axes_are_sampled_evenly():
    exact = sum(range(1, 16385)) / 16384**2
    found = square(16384, 16384, function="causal").flop / square(16384, 16384).flop
    assert found == pytest.approx(exact, rel=1e-3)


def test_an_empty_axis():
    found = square(0, 16, function="causal")
    assert (found.flop, found.written) == (0, 0)


def test_rows_are_bound_by_memory():
    case = spec_of("softmax", "softmax").case("square")
    found = roofline(work(spec_of("softmax", "softmax").program, case.sizes, "bf16"), H200, "bf16")
    assert found.bound == "memory"
    assert found.us == pytest.approx(2 * 2 * 8192**2 / H200.dram * 1e6)
    assert found.unit == "GB/s"
    assert found.rate(found.us) == pytest.approx(H200.dram / 1e9)
    assert found.share(2 * found.us) == 0.5


def test_products_are_bound_by_the_matrix_units():
    found = roofline(square(4096, 4096), H200, "bf16")
    assert found.bound == "matrix"
    assert found.unit == "TFLOP/s"
    assert found.rate(found.us) == pytest.approx(H200.matrix_rate("bf16") / 1e12)
    assert roofline(square(4096, 4096), H200, "fp32").us > 5 * found.us
    tf32 = roofline(square(4096, 4096), H200, "fp32", tf32=True)
    assert tf32.us == pytest.approx(2 * found.us)


def test_a_sum_of_squares_and_a_mean_are_no_extra_reads():
    spec = spec_of("rms_norm", "rms_norm")
    found = work(spec.program, {"m": 64, "n": 128}, "bf16")
    assert found.read == 2 * (64 * 128 + 128)
    assert found.written == 2 * 64 * 128
