from __future__ import annotations

import json
import os

import pytest

from superopt.errors import UserError
from superopt.report.directory import FILE
from superopt.report.directory import check_directory
from superopt.report.directory import check_parent
from superopt.report.directory import claim
from superopt.report.directory import discard
from superopt.report.directory import files_of
from superopt.report.directory import kernel_of
from superopt.report.directory import publish
from superopt.report.directory import start_work

NOBODY = 2**22 + 7  # above the largest process number of Linux


def finish(directory, *names, claimed=None):
    """A run that leaves ``names``."""
    work = start_work(directory)
    for name in names:
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text(f"new {name}")
    files = files_of(work)
    record = {"tool": "superopt", "files": files if claimed is None else claimed}
    (work / FILE).write_text(json.dumps(record))
    publish(work, files)


def tree(directory):
    return sorted(p.relative_to(directory).as_posix() for p in directory.rglob("*") if p.is_file())


def test_a_run_takes_the_place_of_an_earlier_one(tmp_path):
    directory = tmp_path / "a" / "b"
    check_directory(directory)
    assert not directory.exists()
    finish(directory, "old.py", "both.py", "candidates/c.py")
    (directory / "notes.txt").write_text("mine")
    check_directory(directory)
    finish(directory, "both.py", "report.md")
    assert tree(directory) == ["both.py", "notes.txt", "report.md", FILE]
    assert not (directory / "candidates").exists()
    assert (directory / "both.py").read_text() == "new both.py"


def test_a_search_that_ends_without_results_changes_nothing(tmp_path):
    finish(tmp_path, "old.py")
    before = tree(tmp_path)
    work = start_work(tmp_path)
    (work / "half.py").write_text("")
    discard(work)
    assert tree(tmp_path) == before
    fresh = tmp_path / "fresh"
    discard(start_work(fresh))
    assert not fresh.exists()


def test_what_a_killed_search_left_goes_with_the_next(tmp_path):
    (tmp_path / f".superopt-{NOBODY}").mkdir()
    check_directory(tmp_path)
    finish(tmp_path, "new.py")
    assert tree(tmp_path) == ["new.py", FILE]


def test_two_searches_at_once_are_refused(tmp_path):
    (tmp_path / f".superopt-{os.getppid()}").mkdir()
    with pytest.raises(UserError, match="another process works there"):
        check_directory(tmp_path)
    with pytest.raises(UserError, match="another process works there"):  # timing does not ask first
        start_work(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [f".superopt-{os.getppid()}"]


def test_a_claim_to_files_elsewhere_is_ignored(tmp_path):
    (tmp_path / "precious").write_text("mine")
    directory = tmp_path / "run"
    finish(directory, "a.py", claimed=["../precious", str(tmp_path / "precious"), "", 3])
    finish(directory, "b.py")
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.parametrize("text", ["{}", "not json", '{"tool": "other"}', "[]"])
def test_a_run_json_of_another_tool_is_foreign(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(UserError, match=r"not empty, and not the directory of an earlier run"):
        check_directory(tmp_path)


def test_several_functions_share_a_directory_of_runs_only(tmp_path):
    check_parent(tmp_path / "new")
    finish(tmp_path / "out" / "one", "one.py")
    (tmp_path / "out" / "empty").mkdir()
    check_parent(tmp_path / "out")
    with pytest.raises(UserError, match="not empty"):
        check_directory(tmp_path / "out")
    with pytest.raises(UserError, match=r"it holds 'one\.py'"):  # the run of a single function
        check_parent(tmp_path / "out" / "one")
    (tmp_path / "out" / "other").mkdir()
    (tmp_path / "out" / "other" / "x").write_text("")
    with pytest.raises(UserError, match="it holds 'other', which is no run"):
        check_parent(tmp_path / "out")


def test_a_file_that_was_made_later_goes_with_the_run(tmp_path):
    finish(tmp_path, "a.py")
    (tmp_path / "report.html").write_text("")
    claim(tmp_path, "report.html", "a.py")
    claim(tmp_path, "report.html")
    assert json.loads((tmp_path / FILE).read_text())["files"] == ["a.py", "report.html"]
    finish(tmp_path, "b.py")
    assert tree(tmp_path) == ["b.py", FILE]


def test_the_kernel_of_a_run(tmp_path):
    file = tmp_path / "f.py"
    assert kernel_of(file) == file  # also if it is not there: who reads it says so
    with pytest.raises(UserError, match="holds no run of superopt"):
        kernel_of(tmp_path)
    (tmp_path / FILE).write_text(json.dumps({"tool": "superopt", "kernel": None}))
    with pytest.raises(UserError, match=r"no verified kernel; .*report\.md says why"):
        kernel_of(tmp_path)
    (tmp_path / FILE).write_text(json.dumps({"tool": "superopt", "kernel": "f.py"}))
    assert kernel_of(tmp_path) == file
