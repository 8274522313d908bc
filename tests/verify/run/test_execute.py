"""The runner on a kernel written by hand, and on copies of it with one fault each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from superopt.verify.run.calls import trial_of
from superopt.verify.run.checks import check_floats
from superopt.verify.run.execute import Runner
from superopt.verify.run.execute import execute
from superopt.verify.run.inputs import families
from superopt.verify.run.sizes import small_configs
from superopt.verify.run.trial import PERMUTED
from tests import samples

KERNEL = Path(__file__).parent / "kernels" / "row_softmax.py"
PROGRAM = samples.row_softmax()
GRAPH = samples.two_pass_softmax()
SIZES = {"m": 19, "n": 35}


@pytest.fixture(scope="module")
def runner():
    with Runner(seconds=20) as shared:
        yield shared


def ordinary_trial(**more):
    family = next(families(PROGRAM, SIZES, "fp32", 0))
    return trial_of(PROGRAM, family, SIZES, "fp32", 0, small_configs(GRAPH, SIZES), **more)


def with_fault(tmp_path, old, new):
    text = KERNEL.read_text()
    assert old in text
    file = tmp_path / "kernel.py"
    file.write_text(text.replace(old, new))
    return file


def test_the_kernel_is_within_tolerance_everywhere(runner):
    config = samples_config(128, 256)
    report = check_floats(
        KERNEL, "row_softmax", PROGRAM, [GRAPH], runner=runner, tuned=[(0, config)]
    )
    assert report.failures == ()
    assert report.ok
    assert {f.dtype for f in report.figures} == {"fp32", "fp16"}
    assert report.worst("fp32").used > 0
    sizes = {dict(f.sizes)["n"] for f in report.figures}
    assert {0, 1, 15, 16, 17, 35} <= sizes
    assert any("strided" in f.label for f in report.figures)
    assert any("no out=" in f.label for f in report.figures)


def samples_config(m, n):
    from superopt.ugraph.levels import Config

    return (Config((("m", m), ("n", n))),)


# name: (what is changed, into what, a family that must show it)
FAULTS = {
    "maximum starts at 0": (
        "top = tl.full([TILE_M], EMPTY, tl.float32)",
        "top = tl.full([TILE_M], 0.0, tl.float32)",
        "scores below",
    ),
    "no guard for an empty tile": (
        "kept = tl.where(top == EMPTY, 1.0, kept)",
        "kept = tl.exp2((top - new) * LOG2E)",
        "-inf in first tile of n",
    ),
    "no rescaling": (
        "total = total * kept + tl.sum(e, 1)",
        "total = total + tl.sum(e, 1)",
        "ordinary",
    ),
    "padding enters the fold": (
        "v = tl.where((n < N)[None, :], v, EMPTY)",
        "v = v",
        "ordinary",
    ),
    "the state in fp16": (
        "        top = new\n",
        "        total = total.to(tl.float16).to(tl.float32)\n        top = new\n",
        "ordinary",
    ),
    "stores past the end": (
        "y.to(out.dtype.element_ty), mask=mask)",
        "y.to(out.dtype.element_ty), mask=(m < M)[:, None] & (n <= N)[None, :])",
        "ordinary, strided",
    ),
    "the last tile is missing": (
        "for start in range(0, N, TILE_N)",
        "for start in range(0, N // TILE_N * TILE_N, TILE_N)",
        "ordinary",
    ),
    "writes its input": (
        "    return out\n",
        "    x.view(-1)[:1].fill_(0) if M and N and x.is_contiguous() else None\n    return out\n",
        "ordinary",
    ),
}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_each_fault_is_found(tmp_path, runner, fault):
    old, new, family = FAULTS[fault]
    file = with_fault(tmp_path, old, new)
    report = check_floats(file, "row_softmax", PROGRAM, [GRAPH], runner=runner, dtypes=("fp32",))
    failed = {f.label for f in report.failures}
    assert family in failed


def test_a_race_is_found(tmp_path, runner):
    file = with_fault(
        tmp_path,
        "    return out\n",
        "    out += torch.rand(()) * 1e-3 if M and N else 0\n    return out\n",
    )
    (result,) = execute(file, "row_softmax", [ordinary_trial(repeats=2)], runner)
    assert "two runs differ" in result.message


def test_errors_are_messages(tmp_path, runner):
    broken = with_fault(tmp_path, "total = tl.full", "total = tl.fill")
    result = runner.run(broken, "row_softmax", ordinary_trial())
    assert "fill" in result.message
    assert "\n" not in result.message
    assert "no_such" in runner.run(KERNEL, "no_such", ordinary_trial()).message
    assert not runner.run(tmp_path / "missing.py", "row_softmax", ordinary_trial()).ran
    (tmp_path / "text.py").write_text("this is no Python")
    assert "SyntaxError" in runner.run(tmp_path / "text.py", "f", ordinary_trial()).message


def test_a_crash_and_a_hang_cost_one_trial_each(tmp_path):
    crash = with_fault(
        tmp_path, "    if M and N:\n", "    import os\n    os.abort()\n    if M and N:\n"
    )
    with Runner(seconds=10) as own:  # the first trial of a process imports for seconds
        died = own.run(crash, "row_softmax", ordinary_trial())
        assert "SIGABRT" in died.message
        hang = with_fault(tmp_path, "    if M and N:\n", "    while True:\n        M = M\n")
        assert "within 10 s" in own.run(hang, "row_softmax", ordinary_trial()).message
        assert own.run(KERNEL, "row_softmax", ordinary_trial()).ran


def test_wrong_shape_and_dtype_are_messages(tmp_path, runner):
    file = with_fault(tmp_path, "    return out\n", "    return out.half() if plan else out\n")
    assert "dtype" in runner.run(file, "row_softmax", ordinary_trial(out=False)).message
    file = with_fault(tmp_path, "    return out\n", "    return out[1:]\n")
    assert "shape" in runner.run(file, "row_softmax", ordinary_trial(out=False)).message


def test_a_changed_file_is_loaded_again(tmp_path, runner):
    file = with_fault(tmp_path, "    return out\n", "    return out[1:]\n")
    assert not runner.run(file, "row_softmax", ordinary_trial(out=False)).ran
    file.write_text(KERNEL.read_text())
    assert runner.run(file, "row_softmax", ordinary_trial(out=False)).ran


def test_layouts_give_the_same_numbers(runner):
    plain = runner.run(KERNEL, "row_softmax", ordinary_trial())
    strided = runner.run(KERNEL, "row_softmax", ordinary_trial(layout=PERMUTED))
    assert np.array_equal(plain.outputs["out"], strided.outputs["out"])
