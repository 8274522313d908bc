"""``superopt discover``: a page on the output, progress beside it, exit codes; the page in docs."""

from __future__ import annotations

from pathlib import Path

import pytest

from superopt.commands import discover
from superopt.discover.compare import Standing
from superopt.rewrite.rule import RULES
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Unknown

PAGE = Path(__file__).parents[2] / "docs" / "discovered.md"


@pytest.fixture
def quick(monkeypatch):
    """No proofs of the shipped laws but what a test says."""

    def judge(verdict):
        monkeypatch.setattr(discover, "shipped", lambda: [RULES["divide_sum"]])
        monkeypatch.setattr(
            discover, "standing", lambda law, size, seed: Standing(law, verdict, "reached")
        )

    judge(Proved("z3"))
    return judge


def test_the_page_in_docs_is_what_is_found(cli, monkeypatch):
    """The shipped laws are proved in the tests of laws; here they are only looked for."""
    monkeypatch.setattr("superopt.discover.compare.prove_law", lambda _: Proved("z3"))
    said = cli("discover", "--size", "4", "--quiet")
    assert said.code == 0
    assert said.out == PAGE.read_text(), "superopt discover --quiet > docs/discovered.md"


def test_progress_is_not_in_the_page(cli, quick):
    said = cli("discover", "--size", "2")
    assert said.code == 0
    assert said.out.startswith("# Laws that were found\n")
    assert "`exp(0) = 1`" in said.out
    assert said.out == cli("discover", "--size", "2", "--quiet").out


def test_a_shipped_law_that_is_not_proved_is_exit_1(cli, quick):
    quick(Unknown("no idea"))
    said = cli("discover", "--size", "1")
    assert said.code == 1
    assert "divide_sum: unknown: no idea" in said.out


def test_an_interrupt_keeps_what_was_found(cli, quick, monkeypatch):
    search = discover.discover

    def interrupted(size, seed):
        for number, found in enumerate(search(size, seed)):
            if number == 20:
                raise KeyboardInterrupt
            yield found

    monkeypatch.setattr(discover, "discover", interrupted)
    said = cli("discover", "--size", "3")
    assert said.code == 130
    assert "Interrupted in: " in said.out
    assert "`x / x = 1`" in said.out
