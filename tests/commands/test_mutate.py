"""The command: a table, the survivors with their diff, and the exit code."""

from __future__ import annotations

import pytest

from superopt.mutate.judge import EQUIVALENT
from superopt.mutate.judge import Outcome
from superopt.mutate.outcome import FIELD
from superopt.mutate.outcome import SURVIVED


@pytest.mark.parametrize(("by", "code"), [(FIELD, 0), (EQUIVALENT, 0), (SURVIVED, 1)])
def test_a_survivor_is_exit_1_and_shown(cli, monkeypatch, tmp_path, by, code):
    kernel = tmp_path / "kernel.py"
    kernel.with_suffix(".cert.json").write_text("{}")

    class Claims:
        graphs = (None,)

    found = [Outcome("cast", FIELD, "said", ""), Outcome("mask", by, "why", "-old\n+new")]
    monkeypatch.setattr("superopt.commands.mutate.read_certificate", lambda _: Claims())
    monkeypatch.setattr("superopt.commands.mutate._outcomes", lambda *_: iter(found))
    said = cli("mutate", str(kernel))
    assert said.code == code
    assert f"2 mutants, {code} survived" in said.out
    assert ("+new" in said.out) == (by != FIELD)
    assert "| mask | 1 |" in said.out


def test_a_missing_file_is_bad_input(cli, tmp_path):
    assert cli("mutate", str(tmp_path / "none.py")).code == 2
