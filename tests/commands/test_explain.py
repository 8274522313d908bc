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
