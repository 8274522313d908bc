from __future__ import annotations

import shutil

import pytest

from superopt.certificate import certificate_path
from superopt.certificate import questions_path
from superopt.certificate import seal
from superopt.certificate import seal_path
from superopt.emit.dialect import Dialect
from superopt.report.directory import earlier_run
from superopt.reprint import Reprinted

WHOLE = (certificate_path, questions_path, seal_path)


@pytest.fixture
def run(searched, tmp_path):
    """A copy of a run."""
    return shutil.copytree(searched.directory, tmp_path / "run")


def test_the_files_become_those_of_the_run(cli, run, searched, monkeypatch):
    """What is printed is the matter of ``tests/test_reprint.py``."""

    def copied(kernel, claims, out, jobs, tell):
        assert (claims.dialect, jobs) == (Dialect.FLAGTREE, 2)
        for path in (lambda k: k, *WHOLE):
            shutil.copy(path(kernel), path(out))
        tell("executing")
        return Reprinted(out, told=("it was checked",))

    monkeypatch.setattr("superopt.commands.print_kernel.reprint", copied)
    said = cli("print", run, "--dialect", "flagtree")
    assert said.code == 0, said.out + said.err
    assert said.err == "executing\n"  # a log has a line for each step
    kernel = run / "softmax_flagtree.py"
    assert f"verified kernel {kernel}\n  it was checked\n" in said.out
    names = {kernel.name, *(path(kernel).name for path in WHOLE)}
    assert names <= set(earlier_run(run)["files"])
    back = cli("print", kernel, "--dialect", "flagtree", "--out", run / "again.py")
    assert "again.py" in back.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--dialect", "cuda"), "--dialect 'cuda': one of triton, flagtree"),
        (("--dialect", "flagtree", "--level", "raw"), "--level 'raw': one of auto, lite"),
        (
            ("--dialect", "triton", "--out", "{run}/softmax.py"),
            "is the kernel that is printed anew",
        ),
        (("--dialect", "triton", "--out", "{run}/notes.py"), "exists and is no kernel file"),
        (("--dialect", "triton", "--out", "{run}/no/x.py"), "there is no directory"),
        (("--dialect", "triton", "--out", "{run}/softmax.txt"), "a kernel file is Python"),
        (("--dialect", "triton", "--out", "{run}/softmax"), "a kernel file is Python"),
    ],
)
def test_what_is_asked_must_make_sense(cli, run, arguments, says):
    (run / "notes.py").write_text("notes\n")
    said = cli("print", run, *(a.replace("{run}", str(run)) for a in arguments))
    assert said.code == 2
    assert says in said.err


def test_a_kernel_that_was_changed_is_not_printed(cli, run, searched):
    kernel = run / searched.kernel.name
    kernel.write_text(kernel.read_text() + "# more\n")
    said = cli("print", kernel, "--dialect", "flagtree")
    assert (said.code, "is not as it was verified" in said.err) == (2, True)


def test_a_certificate_of_another_file_is_not_printed(cli, run, searched):
    """They are sealed together, so none was changed; its spec stood above the other's graphs."""
    kernel = run / searched.kernel.name
    kernel.write_text(kernel.read_text().replace("softmax", "softmin"))
    seal(kernel)
    said = cli("print", kernel, "--dialect", "flagtree")
    assert (said.code, "is about another file" in said.err) == (2, True)


def test_a_check_that_fails_is_told(cli, run, monkeypatch):
    monkeypatch.setattr(
        "superopt.commands.print_kernel.reprint", lambda *of: Reprinted(None, "executed: it is off")
    )
    said = cli("print", run, "--dialect", "flagtree")
    assert (said.code, said.out) == (1, "FAILED: softmax in flagtree: executed: it is off\n")
