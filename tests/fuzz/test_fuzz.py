"""Random specs end with a verified kernel or a reason; those that once did not, stay here.

The same line, with more of them: ``python -m tests.fuzz.run --count 500 --seed 0``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from superopt.verify.run.execute import Runner
from tests.fuzz.line import Outcome
from tests.fuzz.line import follow
from tests.fuzz.line import shared_processes
from tests.fuzz.run import drawn
from tests.fuzz.run import shape

FOUND = sorted(p for p in (Path(__file__).parent / "found").glob("*.py") if p.stem != "__init__")
COUNT, SEED = 30, 1


@pytest.fixture(scope="module")
def processes():
    with shared_processes():
        yield


@pytest.mark.parametrize("number", range(COUNT))
def test_a_random_spec_ends_in_order(number, processes, tmp_path):
    text = drawn(COUNT, SEED)[number]
    file = tmp_path / "fuzzed.py"
    file.write_text(text)
    found = follow(file, tmp_path)
    assert not found.suspect, (text, found)


@pytest.mark.parametrize("file", FOUND, ids=lambda p: p.stem)
def test_what_was_found_is_mended(file, processes, tmp_path):
    found = follow(file, tmp_path)
    assert (found.end, found.doubts) == ("verified", ())


def test_texts_are_the_same_for_the_same_seed():
    assert drawn(20, 3) == drawn(20, 3)
    assert len(set(drawn(20, 3))) == 20
    assert drawn(20, 3) != drawn(20, 4)


def test_a_crash_is_seen(monkeypatch, tmp_path):
    def broken(*arguments: object) -> None:
        raise ZeroDivisionError("inside")

    monkeypatch.setattr("tests.fuzz.line.search_function", broken)
    found = follow(FOUND[0], tmp_path)
    assert found.end == "crashed"
    assert found.suspect
    assert shape(found.why) == "ZeroDivisionError: inside"


def test_a_wrong_kernel_is_seen(monkeypatch, processes, tmp_path):
    """Kernels that print a wrong sign are refused by the executions, which is no good end."""
    run = Runner.run

    def wrong(self, file, function, trial):
        result = run(self, file, function, trial)
        for value in result.outputs.values():
            value *= -1
        return result

    monkeypatch.setattr(Runner, "run", wrong)
    found = follow(FOUND[0], tmp_path)
    assert found.end == "refused"
    assert found.suspect
    assert found.doubts[0].startswith("floats: ")


def test_silence_and_doubts_are_looked_at():
    assert Outcome("refused").suspect
    assert not Outcome("refused", "for a reason").suspect
    assert Outcome("verified", doubts=("floats: nan",)).suspect
