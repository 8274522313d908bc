"""The command: a table, the survivors with their diff, and the exit code."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from superopt.certificate import read_certificate
from superopt.commands import mutate
from superopt.errors import INTERRUPTED
from superopt.mutate.judge import EQUIVALENT
from superopt.mutate.judge import NOT_JUDGED
from superopt.mutate.judge import Outcome
from superopt.mutate.outcome import FIELD
from superopt.mutate.outcome import SURVIVED
from tests.test_certificate import copied

SPEC = """
from typing import Annotated
from superopt import Case, Tensor, spec

@spec(cases=[Case("small", m=64, n=128)])
def scaled(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n"]:
    return x / (1 + x.max("n"))
"""


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """A file with a certificate of one graph; ``kernel(outcomes)`` says what is judged of it."""
    file = tmp_path / "kernel.py"
    file.with_suffix(".cert.json").write_text("{}")
    monkeypatch.setattr(mutate, "read_certificate", lambda _: SimpleNamespace(graphs=(None,)))

    def judged(outcomes):
        work = mutate.Work("kernel", 0, 70, 9, 2, outcomes)
        monkeypatch.setattr(mutate, "_work", lambda *_: work)
        return str(file)

    return judged


@pytest.mark.parametrize(
    ("by", "code"), [(FIELD, 0), (EQUIVALENT, 0), (NOT_JUDGED, 0), (SURVIVED, 1)]
)
def test_a_survivor_is_exit_1_and_shown(cli, kernel, by, code):
    found = [Outcome("cast", FIELD, "said", ""), Outcome("mask", by, "why", "-old[0]\n+new[:]")]
    said = cli("mutate", kernel(iter(found)))
    assert said.code == code
    assert "kernel, graph 0: 2 mutants of 70 of the text and 9 of the graph" in said.out
    assert f"2 mutants, {code} survived" in said.out
    assert (", 1 not judged" in said.out) == (by == NOT_JUDGED)
    assert ("-old[0]\n+new[:]" in said.out) == (by != FIELD)
    assert "| mask | 1 |" in said.out


def test_an_interrupt_keeps_what_was_judged(cli, kernel):
    def outcomes():
        yield Outcome("cast", FIELD, "said", "")
        raise KeyboardInterrupt

    said = cli("mutate", kernel(outcomes()))
    assert said.code == INTERRUPTED
    assert "1 mutants, 0 survived" in said.out


def test_as_many_as_are_asked_for_of_the_kernel_of_a_search(cli, searched, tmp_path, monkeypatch):
    """The search's own lines name files that are gone: they are not printed."""
    file = tmp_path / "scaled.py"
    file.write_text(SPEC)

    def search(*given):
        (work,) = (g for g in given if isinstance(g, Path))
        return SimpleNamespace(kernel=copied(searched.kernel, work))

    monkeypatch.setattr("superopt.pipeline.search_function", search)
    said = cli("mutate", str(file), "--count", "5")
    graphs = len(read_certificate(searched.kernel).graphs)
    assert said.out.count(" mutants of ") == graphs
    assert f"{max(1, 5 // graphs) * graphs} mutants, 0 survived" in said.out
    assert said.code == 0
    assert str(tmp_path) not in said.out


def test_a_spec_without_a_kernel_is_said(cli, tmp_path, monkeypatch):
    file = tmp_path / "scaled.py"
    file.write_text(SPEC)
    none = SimpleNamespace(kernel=None)
    monkeypatch.setattr("superopt.pipeline.search_function", lambda *_: none)
    said = cli("mutate", str(file))
    assert said.code == 1
    assert said.out == "scaled: no kernel was verified\n"


def test_a_missing_file_is_bad_input(cli, tmp_path):
    assert cli("mutate", str(tmp_path / "none.py")).code == 2
