"""The arguments of a search. What is wrong with files and directories: ``tests/test_cli.py``."""

from __future__ import annotations

from pathlib import Path

import pytest

from superopt.budget import Budget
from superopt.commands.asked import asked_for
from superopt.commands.asked import parse_budget
from superopt.errors import UserError
from tests.conftest import SOFTMAX


def test_what_arguments_mean(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = asked_for(f"{SOFTMAX}:softmax", ("short", "fp32"), "auto", "20", None)
    ((spec, cases),) = asked.chosen
    assert (spec.name, [c.name for c in cases]) == ("softmax", ["short", "fp32"])
    assert asked.directories == [Path("runs/softmax")]
    assert asked.budget == Budget(20, 0.0, "20")


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("400", Budget(400, 0.0, "400")),
        ("30s", Budget(400, 30.0, "30s")),
        ("5m", Budget(400, 300.0, "5m")),
        ("2h", Budget(400, 7200.0, "2h")),
    ],
)
def test_budgets(text, budget):
    assert parse_budget(text) == budget


@pytest.mark.parametrize("text", ["", "0", "0s", "-1", "5d", "1.5m", "m", "9" * 30, "٣"])
def test_what_is_no_budget(text):
    with pytest.raises(UserError, match="--budget"):
        parse_budget(text)
