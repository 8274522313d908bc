from __future__ import annotations

import pytest

from superopt.commands import doctor
from superopt.commands.doctor_checks import Check

GOOD = Check("a thing", "here", True)


def test_doctor_says_what_this_machine_can_do_and_what_is_missing(cli):
    """It executes and compiles a kernel, as it must, which takes some seconds."""
    said = cli("doctor")
    assert said.code == 0, said.out
    for word in ("triton", "paged", "backward", "dropout", "target auto", "sm_80, sm_90, sm_100"):
        assert word in said.out
    rows = {line.split("│")[2].strip(): line for line in said.out.splitlines() if "│" in line}
    for what in (
        "execute it in Triton's interpreter",
        "compile it ahead of time",
        "the assembler (ptxas)",
        "compile it with roles (Gluon)",
    ):
        assert rows[what].split("│")[1].strip() == "yes", rows[what]
    assert "2 of 2 calls right" in rows["execute it in Triton's interpreter"]


@pytest.mark.parametrize(
    ("check", "code"),
    [
        (Check("a GPU", "none", False, needed=False, remedy="rank"), 0),
        (Check("z3-solver", "missing", False, remedy="pip install z3-solver"), 1),
    ],
)
def test_only_what_is_needed_decides(cli, monkeypatch, check, code):
    monkeypatch.setattr(doctor, "packages", lambda: [GOOD, check])
    monkeypatch.setattr(doctor, "abilities", lambda: [GOOD])
    said = cli("doctor")
    assert said.code == code
    needed = "cannot search here: z3-solver: missing. pip install z3-solver"
    assert (needed in said.out) is (code == 1)
