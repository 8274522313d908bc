from __future__ import annotations

import json
import shutil

import pytest

from superopt.commands import report as module
from tests.report.sample import KERNEL
from tests.report.sample import written


@pytest.fixture
def run(tmp_path):
    return written(tmp_path / "run")


def test_both_pages_are_written_and_belong_to_the_run(run, cli):
    said = cli("report", run)
    assert (said.code, said.err) == (0, "")
    assert said.out == f"product: {run / 'report.md'}, {run / 'report.html'}\n"
    assert (run / "report.html").read_text().startswith("<!doctype html>")
    assert "Measured on NVIDIA H200" in (run / "report.md").read_text()
    files = json.loads((run / "run.json").read_text())["files"]
    assert {"report.md", "report.html", KERNEL} <= set(files)
    first = {p.name: p.read_bytes() for p in run.iterdir()}
    assert cli("report", run / KERNEL).code == 0
    assert {p.name: p.read_bytes() for p in run.iterdir()} == first


def test_a_page_elsewhere_changes_nothing_of_the_run(run, cli, tmp_path):
    before = {p.name: p.read_bytes() for p in run.iterdir()}
    assert cli("report", run, "--out", tmp_path / "page.html").code == 0
    assert {p.name: p.read_bytes() for p in run.iterdir()} == before
    assert "<svg" in (tmp_path / "page.html").read_text()
    said = cli("report", run, "--out", tmp_path / "none" / "page.html")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "page.html: cannot be written: No such file or directory" in said.err


def test_a_real_search_without_times(searched, cli, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(searched.directory, run)
    before = (run / "report.md").read_text()
    assert cli("report", run).code == 0
    assert (run / "report.md").read_text() == before
    assert "not timed: no GPU was used" in (run / "report.html").read_text()
    for name in ("run.json", "report.html"):
        assert str(tmp_path) not in (run / name).read_text()


def test_what_is_no_run_is_said(tmp_path, cli):
    said = cli("report", tmp_path / "nowhere")
    assert (said.code, said.err) == (
        2,
        f"error: {tmp_path / 'nowhere'}: no such run or kernel file\n",
    )
    assert cli("report", tmp_path).code == 2
    (tmp_path / "run.json").write_text('{"tool": "superopt", "schema": 1}')
    said = cli("report", tmp_path)
    assert said.code == 2
    assert "run.json: damaged: KeyError" in said.err


def test_a_missing_library_is_said(run, cli, monkeypatch):
    monkeypatch.setattr(module, "_NEEDS", {"json": "json", "no_such_module": "nothing"})
    said = cli("report", run)
    assert (said.code, said.err) == (
        2,
        "error: superopt report needs nothing: pip install nothing\n",
    )
