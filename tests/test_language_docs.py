"""What the documents say of the language is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import superopt
from superopt.draws import FEW
from superopt.draws import LARGEST_DISTANCE
from superopt.errors import SpecError
from superopt.errors import UserError
from superopt.loading import load
from superopt.reference import RELATIVE
from superopt.reference import check_reference
from superopt.tensor import LARGEST_POWER
from superopt.ugraph.node import DTYPES

DOCS = Path(__file__).parents[1] / "docs"
TUTORIAL = (DOCS / "tutorial.md").read_text()
LANGUAGE = (DOCS / "language.md").read_text()


def test_every_public_name_is_listed():
    words = set(re.findall(r"\w+", LANGUAGE))
    assert [n for n in superopt.__all__ if n not in words] == []
    assert [d for d in DTYPES if d not in words] == []


def test_figures_are_those_of_the_code():
    assert f"from -{LARGEST_POWER} to {LARGEST_POWER} but 0" in LANGUAGE
    assert f"of up to {LARGEST_DISTANCE}." in LANGUAGE
    assert f"at most {RELATIVE:.0e} of".replace("e-0", "e-") in LANGUAGE
    assert f"from 0 up to {FEW - 1}," in LANGUAGE


@pytest.fixture
def example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", TUTORIAL, re.DOTALL)

    def write(old: str = "", new: str = "") -> str:
        assert old in code
        Path("scaled_softmax.py").write_text(code.replace(old, new))
        return "scaled_softmax.py"

    return write


def test_the_tutorial_runs(example):
    (spec,) = load(example())
    check_reference(spec)


def test_the_tutorial_shows_the_true_messages(example):
    shown = [" ".join(m.split()) for m in re.findall(r"(?:^    .*\n)+", TUTORIAL, re.MULTILINE)]
    with pytest.raises(SpecError) as wrong:
        check_reference(load(example('e.sum("n")', 'e.sum("m")'))[0])
    with pytest.raises(UserError) as unknown:
        load(example('e.sum("n")', 'e.sum("k")'))
    assert str(wrong.value) in shown
    assert str(unknown.value) in shown
