from __future__ import annotations

import tomllib

import pytest

from superopt.commands import doctor_checks as checks
from superopt.commands.doctor_kernel import Tried
from superopt.errors import UserError
from superopt.versions import MISSING
from tests.conftest import ROOT


def test_the_limits_are_those_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]["dev"]
    wanted = {*project["dependencies"], *(d for d in optional if d.startswith("cvc5"))}
    ours = {
        f"{name}>={least}" + (f",<{below}" if below else "")
        for name, (least, below, _) in checks.PACKAGES.items()
    }
    assert ours == wanted
    assert project["requires-python"] == f">={'.'.join(map(str, checks.PYTHON))}"


@pytest.mark.parametrize(
    ("version", "good", "needed", "said"),
    [
        ("3.6.0", True, True, ""),
        ("3.7.1+git1", True, True, ""),
        ("3.5.1", False, True, ", which is too old"),
        ("3.8.0", False, False, ", newer than superopt was ever run with"),
        ("4", False, False, ", newer than superopt was ever run with"),
    ],
)
def test_a_version_is_compared_by_its_numbers(version, good, needed, said):
    """With one that is too new, what is tried with a kernel decides."""
    found = checks.package("triton", version, "3.6", "3.8", "* the compiler")
    assert (found.good, found.needed, found.found) == (good, needed, version + said)
    assert found.remedy == "pip install 'triton>=3.6,<3.8'"


@pytest.mark.parametrize(
    ("triton", "numpy", "remedy"),
    [
        ("3.6.0", "2.4.6", "which numpy 2.4.6 refuses: pip install 'numpy<2.4' (or triton 3.7)"),
        ("3.6.0", "2.3.5", "is triton whole?"),
        ("3.7.1", "2.4.6", "is triton whole?"),
    ],
)
def test_an_interpreter_that_does_not_go_with_its_numpy(triton, numpy, remedy):
    assert checks._interpreter_remedy(triton, numpy).endswith(remedy)


def test_what_is_missing_has_a_remedy():
    found = checks.package("optuna", MISSING, "4", "", "tuning")
    assert (found.good, found.needed, found.remedy) == (False, False, "pip install 'optuna>=4'")


def fails(error):
    def attempt():
        raise error

    return attempt


@pytest.mark.parametrize(
    ("attempt", "said"),
    [
        (lambda: Tried(False, "no"), "no"),
        (fails(UserError("no driver")), "no driver"),
        (fails(RuntimeError("it broke")), "RuntimeError: it broke"),
    ],
)
def test_a_check_that_fails_says_why(attempt, said):
    found = checks.guarded("a thing", attempt, remedy="mend it")
    assert (found.good, found.found, found.remedy) == (False, said, "mend it")


def test_a_gpu_without_a_row_gets_the_default(monkeypatch, tmp_path):
    """A fake, for no machine of the tests has such a GPU."""
    monkeypatch.setattr(checks, "gpu", lambda: "GPU Zero")
    monkeypatch.setattr(checks, "capability", lambda: "sm_120")
    monkeypatch.setattr(checks, "driver", lambda: "999.1.2")
    monkeypatch.setattr(
        checks.doctor_kernel, "self_tested", lambda file, device: Tried(False, "0 of 3 calls right")
    )
    found = {c.what: c for c in checks._on_gpu(tmp_path)}
    assert found["a GPU"].found == "GPU Zero, sm_120"
    assert found["what the model knows of it"].remedy.startswith("searches take the row 'h200'")
    assert found["its driver"].found == "999.1.2"
    assert not found["run the kernel on it"].good
    assert found["run the kernel on it"].needed


def test_roles_are_run_where_the_gpu_has_them(monkeypatch, tmp_path):
    """A fake of the one architecture that runs them."""
    monkeypatch.setattr(checks, "gpu", lambda: "NVIDIA H200")
    monkeypatch.setattr(checks, "capability", lambda: "sm_90")
    monkeypatch.setattr(checks, "driver", lambda: "580.1.2")
    for name in ("self_tested", "with_roles"):
        monkeypatch.setattr(checks.doctor_kernel, name, lambda *of, **how: Tried(True, "ok"))
    assert [c.what for c in checks._on_gpu(tmp_path)][-1] == "run it with roles"
    monkeypatch.setattr(checks.stand_in, "flagtree", lambda: True)
    found = list(checks._flagtree(tmp_path))
    assert [c.what for c in found] == [
        "FlagTree",
        "run its kernel on the GPU",
        "run its kernel with roles",
    ]
    assert all(c.good for c in found)


@pytest.mark.gpu
@pytest.mark.skipif(not checks.gpu(), reason="needs a GPU")
def test_on_a_gpu_the_kernel_runs(tmp_path):
    file = checks.doctor_kernel.write(tmp_path)
    assert [c for c in checks._on_gpu(file) if not c.good and c.needed] == []
