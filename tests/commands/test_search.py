from __future__ import annotations

import json
from dataclasses import replace

import pytest

from superopt.commands.console import line_console
from superopt.commands.search import NO_GPU_WORDS
from superopt.commands.search import code_of
from superopt.commands.search import conclude
from superopt.report.restore import run_from
from superopt.run import Run
from tests.conftest import SEARCHED
from tests.conftest import SOFTMAX
from tests.conftest import superopt


@pytest.mark.parametrize(
    ("interrupted", "kernel", "code"),
    [(False, False, 1), (True, False, 130), (True, True, 0), (False, True, 0)],
)
def test_exit_codes(tmp_path, interrupted, kernel, code):
    file = tmp_path / "k.py" if kernel else None
    assert code_of(Run("f", "h200", 0, "1", (), tmp_path, file, interrupted)) == code


def test_the_end_of_a_search_says_what_to_do_next(searched):
    out = searched.said.out
    assert "softmax / vocabulary: seen " in out
    assert f"softmax: verified kernel {searched.kernel}" in out
    assert "not timed: no GPU; ranked by the model" in out
    assert f"superopt verify {searched.kernel}" in out
    assert searched.said.err == ""


def test_the_same_seed_gives_the_same_bytes(searched, tmp_path):
    """In another directory, from another one, and with other hashes."""
    again = tmp_path / "elsewhere"
    said = superopt(*SEARCHED, "--out", again, "--jobs", "1", seed=2, cwd=tmp_path)
    assert said.code == 0, said.err
    for name in searched.record["files"]:
        assert (again / name).read_bytes() == (searched.directory / name).read_bytes(), name
    record = json.loads((again / "run.json").read_text())
    assert record.keys() == searched.record.keys()
    steps = {f"file: {step}" for step in ("execute", "read", "prove", "certificate")}
    assert (
        steps <= record["timing"]["seconds"].keys() == searched.record["timing"]["seconds"].keys()
    )
    for key in record.keys() - {"timing"}:
        assert record[key] == searched.record[key], key


def test_a_function_without_a_verified_kernel_does_not_stop_the_others(tmp_path, monkeypatch, cli):
    """And what an earlier run of the directory left is gone, but not what is the user's."""
    from superopt import pipeline
    from tests.test_pipeline import Idle
    from tests.test_pipeline import Lenient
    from tests.test_pipeline import Strict
    from tests.test_pipeline import written

    class Half(Lenient):
        """Refuses all of log_softmax."""

        def prove(self, built):
            judge = Strict if self.program.name == "log_softmax" else Lenient
            return judge.prove(self, built)

    monkeypatch.setattr(pipeline, "Runner", Idle)
    monkeypatch.setattr(pipeline, "Compiler", Idle)
    monkeypatch.setattr(pipeline, "assemble", written)
    monkeypatch.setattr(pipeline, "Examiner", Half)
    old = tmp_path / "out" / "log_softmax"
    old.mkdir(parents=True)
    (old / "run.json").write_text('{"tool": "superopt", "files": ["log_softmax.py"]}')
    (old / "log_softmax.py").write_text("the kernel of an earlier run")
    (old / "mine.txt").write_text("a note")
    said = cli("search", SOFTMAX, "--case", "short", "--out", tmp_path / "out", "--budget", "9")
    assert said.code == 1
    assert "softmax: verified kernel" in said.out
    assert "log_softmax: no verified kernel; see" in said.out
    record = json.loads((old / "run.json").read_text())
    refused = [c["reason"] for c in record["cases"][0]["candidates"] if c["stage"] == "refused"]
    assert f"  short: refused {refused.count(refused[0])}: {refused[0]}" in said.out
    assert (tmp_path / "out" / "softmax" / "softmax.py").is_file()
    assert sorted(p.name for p in old.iterdir()) == ["mine.txt", "report.md", "run.json"]
    assert record["kernel"] is None
    assert record["verified"] is False
    assert record["cases"][0]["winner"] is None
    assert {c["stage"] for c in record["cases"][0]["candidates"]} <= {"refused", "ranked"}


def test_an_interrupt_before_any_kernel_leaves_an_earlier_run_as_it_is(tmp_path, monkeypatch, cli):
    def interrupted(spec, cases, device, budget, seed, work, *rest):
        return Run(spec.name, device.name, seed, "1", (), work, None, True)

    monkeypatch.setattr("superopt.commands.search.search_function", interrupted)
    (tmp_path / "run.json").write_text('{"tool": "superopt", "files": ["softmax.py"]}')
    (tmp_path / "softmax.py").write_text("the kernel of an earlier run")
    said = cli("search", f"{SOFTMAX}:softmax", "--out", tmp_path, "--quiet")
    assert said.code == 130
    assert (tmp_path / "softmax.py").read_text() == "the kernel of an earlier run"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.json", "softmax.py"]


def test_a_winner_far_below_its_roofline_gets_a_hint(searched, capsys):
    run = run_from(searched.record, searched.directory)
    conclude(line_console(), run, NO_GPU_WORDS)
    assert "of the roofline" not in capsys.readouterr().out
    first = run.cases[0]
    winner = replace(first.winner, model_us=10 * first.winner.model_us, share=0.1)
    slow = replace(run, cases=(replace(first, winner=winner), *run.cases[1:]))
    conclude(line_console(), slow, NO_GPU_WORDS)
    assert f"  {first.case.name}: 10% of the roofline (by the model: " in capsys.readouterr().out
