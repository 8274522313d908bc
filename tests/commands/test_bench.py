"""``superopt bench``: what it refuses, and how its table reads. No GPU is needed, or used."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from superopt.certificate import Certificate
from superopt.certificate import write_certificate
from superopt.commands import bench as command
from superopt.emit.module import MARKER
from superopt.emit.plan import Row
from superopt.loading import load
from superopt.tune.bench_process import run
from superopt.ugraph.levels import Config
from tests.samples import two_pass_softmax
from tests.tune.fakes import StepClock

TUNE = Path(__file__).resolve().parents[1] / "tune"
KERNEL = TUNE / "plain_kernel.py"
SPEC = f"{TUNE / 'row_sum.py'}:row_sum"
PEERS = TUNE / "row_peers.py"
MACHINE = {"gpu": "a test", "driver": "1", "torch": "2", "triton": "3", "superopt": "0"}


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.fixture
def fake_gpu(monkeypatch):
    """The answers of real processes of cases, but on the CPU and with a clock that counts."""
    monkeypatch.setattr(command, "_gpu", lambda: MACHINE)
    asked = []

    def answer(job, seconds):
        asked.append((job, seconds))
        return {**run(job, "cpu", StepClock()), "problem": "", "seconds": 0.1}

    monkeypatch.setattr(command, "in_process", answer)
    return asked


def test_without_a_gpu_it_says_so(cli, no_gpu):
    said = cli("bench", KERNEL, "--spec", SPEC, "--against", "eager")
    assert said.code == 1
    assert "no GPU" in said.err
    assert said.out == ""


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--against", "other"], "no such peer; there are eager, compile, max-autotune"),
        (["--case", "huge"], "row_sum has no such case; it has small, other"),
        (["--mode", "lazy"], "graph, eager or both"),
        (["--peers", "nothing.py"], "no file 'nothing.py'"),
        (["--out", "no/such/directory/x.json"], "no directory"),
        (["--out", "specs"], "is a directory"),
        (["--spec", "specs/softmax.py"], "it holds softmax, log_softmax; name one"),
    ],
)
def test_wrong_input_is_named(cli, options, why):
    said = cli("bench", KERNEL, "--spec", SPEC, *options)
    assert said.code == 2
    assert why in said.err


def test_a_kernel_in_the_words_of_flagtree_is_timed_by_nothing_else(cli, tmp_path):
    kernel = tmp_path / "kernel.py"
    kernel.write_text("import triton.experimental.tle.language as tle\n")
    said = cli("bench", kernel, "--spec", SPEC)
    assert (said.code, "needs FlagTree, which is not here" in said.err) == (2, True)


def test_a_kernel_without_certificate_or_spec(cli, tmp_path):
    said = cli("bench", KERNEL)
    assert said.code == 2
    assert "no certificate beside it; give --spec FILE:FUNCTION" in said.err
    said = cli("bench", tmp_path / "nothing.py")
    assert "no such run or kernel file" in said.err


@pytest.fixture
def certified(tmp_path):
    """The kernel with a certificate of two rows for one case, as for two targets, and of two cases
    whose scalars differ."""
    kernel = tmp_path / "row_sum.py"
    kernel.write_text(f"{MARKER}\n{KERNEL.read_text()}")
    (spec,) = load(SPEC)
    case = spec.case("small")
    config = Config((("m", 16), ("n", 16)))
    row = Row("small", 0, (config,), tuple(case.sizes.items()), "bf16", False, "sm_90")
    rows = (row, replace(row, target="sm_80"))
    graphs = (two_pass_softmax(),)
    claims = Certificate(
        spec.program, graphs, ((),), rows, (), {}, 0, cases=spec.cases, derivations=((),)
    )
    write_certificate(kernel, claims)
    return kernel


def test_a_certificate_gives_algebra_and_cases(certified):
    found = command.from_certificate(certified)
    assert found.function == "row_sum"
    assert found.cases == load(SPEC)[0].cases
    assert len({tuple(c.scalars.items()) for c in found.cases}) == 2
    assert not found.has_reference


def test_without_a_spec_the_algebra_of_the_certificate_is_the_reference(cli, certified, fake_gpu):
    said = cli("bench", certified, "--against", "right", "--peers", PEERS)
    assert said.code == 0, said.err
    assert "right" in said.out
    said = cli("bench", certified, "--against", "eager")
    assert said.code == 2
    assert "give --spec FILE:FUNCTION" in said.err


def test_all_figures_are_written(cli, fake_gpu, tmp_path):
    out = tmp_path / "bench.json"
    names = "eager,right,rounded,failing,copy"
    options = ["--against", names, "--peers", PEERS, "--mode", "both", "--rounds", "4"]
    said = cli("bench", KERNEL, "--spec", SPEC, "--case", "small", *options, "--out", out)
    assert said.code == 0, said.err
    record = json.loads(out.read_text())
    assert record["machine"] == MACHINE
    assert record["rounds"] == 4
    (case,) = record["cases"]
    assert case["case"] == "small"
    rows = {(r["mode"], r["name"]): r for r in case["rows"]}
    assert set(rows) == {
        (m, n) for m in ("graph", "eager") for n in ("superopt", *names.split(","))
    }
    assert rows["graph", "right"]["ratio"] == 1.0
    assert "WRONG" in said.out
    assert "yardstick" in said.out
    assert "failed: RuntimeError: not for small" in said.out
    ((job, seconds),) = fake_gpu
    assert (job.modes, job.rounds, seconds) == (("graph", "eager"), 4, 300.0)


def test_a_kernel_that_fails_its_check_shows_no_time(cli, fake_gpu, tmp_path):
    wrong = tmp_path / "kernel.py"
    wrong.write_text(KERNEL.read_text().replace("n < length", "n <= length"))
    said = cli("bench", wrong, "--spec", SPEC, "--case", "small")
    assert said.code == 1
    assert "no times: the kernel fails its check on the device" in said.out
    assert "median" not in said.out


def test_clocks_are_optional(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert command.clocks() == {}


def test_clocks_are_read(monkeypatch, tmp_path):
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho '1980, 41, [N/A]'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert command.clocks() == {"sm_mhz": 1980.0, "celsius": 41.0}
