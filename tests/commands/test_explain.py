from __future__ import annotations


def test_a_run_and_a_kernel_are_explained(searched, cli):
    said = cli("explain", searched.directory)
    assert said.code == 0
    for word in ("case vocabulary", "derivation:", "repair:", "evidence:", "walk n", "seen"):
        assert word in said.out
    assert cli("explain", searched.kernel).out == said.out


def test_what_is_no_run_is_said(tmp_path, cli):
    said = cli("explain", tmp_path / "nowhere")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "no such run or kernel file" in said.err
    assert cli("explain", tmp_path).code == 2
    (tmp_path / "run.json").write_text('{"tool": "superopt", "schema": 1}')
    said = cli("explain", tmp_path)
    assert said.code == 2
    assert "run.json: damaged: KeyError" in said.err


def test_repairs_of_specs_are_a_page(cli, tmp_path):
    said = cli("explain", "--repairs", "specs/logsumexp.py", "specs/lora.py")
    assert said.code == 0
    assert "| logsumexp | n, 1 | sum0 | 1 |" in said.out
    assert "| lora |  |  |  | nothing to repair |" in said.out
    assert "proved 7 | rolling, split |" in said.out
    timed = cli("explain", "--repairs", "--times", "specs/logsumexp.py:logsumexp")
    assert "modes | seconds |" in timed.out


def test_what_is_no_spec_is_said(cli, tmp_path):
    said = cli("explain", "--repairs", tmp_path)
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "no spec file (*.py) in this folder" in said.err
    assert "no file" in cli("explain", "--repairs", tmp_path / "x.py").err
    said = cli("explain", "--times", "runs")
    assert (said.code, "for --repairs" in said.err) == (2, True)
    assert "for --repairs" in cli("explain", "a", "b").err
