from __future__ import annotations

import pytest

from superopt.verify.verdict import Proved
from superopt.verify.verdict import Unknown


@pytest.mark.parametrize(("verdict", "code"), [(Proved("z3"), 0), (Unknown("no"), 1)])
def test_a_law_without_a_proof_is_exit_1(cli, monkeypatch, verdict, code):
    laws = [("one [law]", Proved("z3"), 0.1), ("two", verdict, 0.2)]
    monkeypatch.setattr("superopt.commands.prove.prove_all", lambda: laws)
    said = cli("prove")
    assert said.code == code
    assert f"2 laws, {code} not proved" in said.out
    assert "one [law]" in said.out
