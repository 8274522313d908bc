"""``superopt time`` from a finished run to a timed one. There is no GPU: Triton's interpreter takes
the device's place, and the figures are invented (``tests.tune.interpreted_device``)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest

from superopt.again import execute_again
from superopt.certificate import changed
from superopt.certificate import read_certificate
from superopt.commands.time import check_machine
from superopt.device import target
from superopt.errors import UserError
from superopt.report.record import read
from superopt.report.restore import run_from
from superopt.run import Stage
from superopt.tune import session
from superopt.tune.device_bench import DeviceBench
from superopt.tune.store import Store
from superopt.tune.tuner import Tuning
from superopt.verify.readings import NO_SOLVER
from superopt.verify.readings import of_memory
from superopt.verify.source.field import CLAIM
from tests.conftest import ROOT
from tests.conftest import superopt
from tests.tune.interpreted_device import invented
from tests.tune.records import MACHINE

SPEC = """
from typing import Annotated
from superopt import Case, Tensor, softmax, spec

@spec(cases=[Case("small", m=40, n=48)], dtype="fp16")
def soft(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n"]:
    return softmax(x, "n")
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A small finished search."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "spec.py").write_text(SPEC)
    said = superopt("search", folder / "spec.py", "--budget", "8", "--out", folder / "run")
    assert said.code == 0, said.err
    return folder / "run"


@pytest.fixture
def run(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "run")


@pytest.fixture
def gpu(monkeypatch):
    """A machine that would time."""
    device = partial(
        DeviceBench, "tests.tune.interpreted_device", {"TRITON_INTERPRET": "1"}, on="cpu"
    )
    monkeypatch.setattr("superopt.tune.session.DeviceBench", device)
    monkeypatch.setattr("superopt.commands.time.local", lambda device: MACHINE)
    monkeypatch.setattr("superopt.commands.time.ARCHITECTURES", ("sm_90",))  # compiling takes long


def test_a_run_is_timed_and_written_anew(run, gpu, cli):
    before = read(run / "run.json")
    said = cli("time", run, "--trials", "4", "--jobs", "2", "--quiet")
    assert said.code == 0, said.err
    assert f"timed on {MACHINE.gpu}" in said.out
    assert "small" in said.out
    assert "winner" in said.out
    record = read(run / "run.json")
    assert {k: record[k] for k in ("spec", "versions", "seed")} == {
        k: before[k] for k in ("spec", "versions", "seed")
    }
    assert record["timing"]["machine"]["gpu"] == MACHINE.gpu
    measured = record["timing"]["measured"]
    assert len(measured) == 4
    now = run_from(record, run)
    winner = now.cases[0].winner
    assert winner.stage is Stage.TIMED
    assert winner.timed.us == invented(winner.configs) == min(m["us"] for m in measured)
    kernel = run / "soft.py"
    assert changed(kernel) == []
    certificate = read_certificate(kernel)
    (row,) = [r for r in certificate.rows if r.target == "sm_90"]
    assert row.configs == winner.configs
    assert any(f"small on {MACHINE.gpu}, fp16" in text for text in certificate.executed)
    assert not any("bf16 on this GPU" in text for text in certificate.not_executed)
    assert f"measured: {winner.timed.us:.1f} us" in kernel.read_text()
    page = (run / "report.md").read_text()
    assert MACHINE.gpu in page
    steps = {f"file: {step}" for step in ("execute", "read", "prove", "certificate")}
    assert steps <= record["timing"]["seconds"].keys()
    assert "file: certificate " in page[page.rindex("Seconds of the run: ") :]
    assert sorted(record["files"]) == sorted(
        str(p.relative_to(run)) for p in run.rglob("*") if p.is_file() and p.name != "run.json"
    )
    with Store(run.parent / "timings.db") as store:
        stored = len(store.all())
    assert stored >= 4
    assert cli("verify", kernel).code == 0


def test_without_a_solver_new_tiles_have_no_proof_of_memory_and_that_is_said(
    run, gpu, cli, monkeypatch, tmp_path
):
    monkeypatch.setitem(sys.modules, "z3", None)
    (tmp_path / "z3.py").write_text("raise ImportError('there is none')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # of the processes that read
    said = cli("time", run, "--trials", "2", "--jobs", "2", "--quiet")
    assert said.code == 0, said.err
    kernel = run / "soft.py"
    assert NO_SOLVER in read_certificate(kernel).not_executed
    winner = run_from(read(run / "run.json"), run).cases[0].winner
    assert NO_SOLVER in winner.skipped
    assert CLAIM in dict(winner.evidence)
    assert not any(of_memory(claim) for claim, _ in winner.evidence)
    monkeypatch.undo()
    said = cli("verify", kernel)
    assert said.code == 0
    assert "divisors are positive" in said.out


def test_a_named_candidate_is_verified_and_timed_too(run, gpu, cli):
    before = run_from(read(run / "run.json"), run).cases[0]
    ranked = next(c for c in before.candidates if c.stage is Stage.RANKED)
    said = cli(
        "time", run, "--candidate", ranked.digest[:12], "--trials", "6", "--jobs", "2", "--quiet"
    )
    assert said.code == 0, said.err
    now = run_from(read(run / "run.json"), run).cases[0]
    (one,) = [c for c in now.candidates if c.digest == ranked.digest]
    assert one.stage is Stage.TIMED
    assert dict(one.evidence)
    timed = [c for c in now.candidates if c.stage is Stage.TIMED]
    assert len(timed) > 1  # the finalists as well
    assert now.winner.timed.us == min(c.timed.us for c in timed)
    assert [c.digest for c in now.candidates] == [c.digest for c in before.candidates]


@pytest.mark.parametrize(
    ("prefix", "why"), [("zz", "none; report.md lists them"), ("", "must be the beginning of one")]
)
def test_an_unknown_candidate_is_bad_input(run, cli, prefix, why):
    said = cli("time", run, "--candidate", prefix)
    assert said.code == 2
    assert why in " ".join(said.err.split())


def test_an_interrupt_keeps_what_was_measured(run, gpu, cli, monkeypatch):
    def stop(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Tuning, "_again", stop)
    said = cli("time", run, "--trials", "2", "--jobs", "2", "--quiet")
    assert said.code == 0
    assert "interrupted: the best until then" in said.out
    assert run_from(read(run / "run.json"), run).cases[0].winner.stage is Stage.TIMED


def while_assembling(monkeypatch, count):
    """So many requests to end come while the kernel file is executed."""

    def execute(*arguments):
        for _ in range(count):
            os.kill(os.getpid(), signal.SIGTERM)
        return execute_again(*arguments)

    monkeypatch.setattr("superopt.assemble.execute_again", execute)


def test_a_request_to_end_while_the_file_is_made_is_held_back(run, gpu, cli, monkeypatch):
    while_assembling(monkeypatch, 1)
    said = cli("time", run, "--trials", "2", "--jobs", "2", "--quiet")
    assert said.code == 0, said.err
    assert "interrupted: the best until then" in said.out
    assert run_from(read(run / "run.json"), run).cases[0].winner.stage is Stage.TIMED
    assert changed(run / "soft.py") == []


def test_the_second_one_leaves_the_run_as_it_was(run, gpu, cli, monkeypatch):
    before = (run / "run.json").read_bytes()
    while_assembling(monkeypatch, 2)
    said = cli("time", run, "--trials", "2", "--jobs", "2", "--quiet")
    assert said.code == 130, said.err
    assert f"{run} is as it was" in said.out
    assert f"what was measured is in {run.parent / 'timings.db'}" in said.out
    assert (run / "run.json").read_bytes() == before
    assert changed(run / "soft.py") == []
    assert not list(run.parent.glob("*work*"))
    with Store(run.parent / "timings.db") as store:
        assert len(store.all()) >= 2


def test_an_interrupt_before_anything_is_timed_leaves_the_run_as_it_was(run, gpu, cli, monkeypatch):
    def stop(self):
        raise KeyboardInterrupt

    before = (run / "run.json").read_bytes()
    monkeypatch.setattr(Tuning, "_explore", stop)
    said = cli("time", run, "--trials", "2", "--jobs", "2", "--quiet")
    assert said.code == 130
    assert f"{run} is as it was" in said.out
    assert (run / "run.json").read_bytes() == before


def test_without_a_gpu_the_run_stays_as_it_is(run, cli):
    before = (run / "run.json").read_bytes()
    said = cli("time", run)
    assert said.code == 1
    assert "soft: not timed: no GPU" in said.out
    assert (run / "run.json").read_bytes() == before


def test_a_gpu_of_another_architecture_is_said(monkeypatch):
    monkeypatch.setattr(session, "here", lambda: MACHINE)
    monkeypatch.setattr("torch.cuda.get_device_capability", lambda: (8, 0))
    with pytest.raises(UserError, match="is sm_80; the search was for h200, sm_90"):
        session.local(target("h200"))
    assert session.local(target("a100")) == MACHINE


def test_a_damaged_run_is_bad_input(run, cli):
    (run / "soft.py").write_text((run / "soft.py").read_text() + "#")
    said = cli("time", run)
    assert said.code == 2
    assert "soft.py, line" in said.err
    assert "is not as it was verified" in said.err
    record = json.loads((run / "run.json").read_text())
    del record["cases"][0]["counts"]
    (run / "run.json").write_text(json.dumps(record))
    assert "damaged" in cli("time", run).err
    assert cli("time", run / "nowhere").code == 2


def test_an_unknown_case_is_bad_input(run, cli):
    said = cli("time", run, "--case", "prefill")
    assert said.code == 2
    assert "no case named 'prefill'; it has small" in said.err


def test_a_run_does_not_mix_times_of_two_machines(run, gpu, cli, monkeypatch):
    found = run_from(read(run / "run.json"), run)
    entry = {"case": "large"}
    measured = (type("Entry", (), entry)(),)
    timed = replace(found, timing=replace(found.timing, machine=MACHINE, measured=measured))
    other = replace(MACHINE, driver="1")
    with pytest.raises(UserError, match="'large' was timed on another machine"):
        check_machine(timed, ("small",), other)
    check_machine(timed, ("small",), MACHINE)
    check_machine(timed, ("small", "large"), other)


def test_it_needs_neither_a_solver_nor_optuna(run):
    """All of it is imported, up to the look for a GPU."""
    script = (
        "import sys\n"
        "sys.modules.update(z3=None, optuna=None)\n"
        "from superopt.cli import main\n"
        f"sys.argv = ['superopt', 'time', {str(run)!r}]\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "not timed: no GPU" in done.stdout
