from __future__ import annotations

import sys

import pytest

from superopt.errors import UserError
from superopt.loading import load
from superopt.loading import split_target

GOOD = """
from typing import Annotated
from superopt import *
from neighbour import helper, borrowed

@spec(cases=[Case("c", m=4)])
def second(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
    return helper(x)

@spec(cases=[Case("c", m=4)])
def first(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
    return second(x) + 1

alias = first
plain = lambda x: x
number = 3
"""
NEIGHBOUR = """
from typing import Annotated
from superopt import *

def helper(x):
    return x * 2

@spec(cases=[Case("c", m=4)])
def borrowed(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
    return x
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "neighbour.py").write_text(NEIGHBOUR)
    (tmp_path / "empty.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("neighbour", None)


def test_a_file_gives_its_own_specs_in_order(folder):
    assert [s.name for s in load("good.py")] == ["second", "first"]
    assert [s.name for s in load(str(folder / "good.py"))] == ["second", "first"]


def test_a_function_gives_that_spec(folder):
    (one,) = load("good.py:first")
    assert (one.name, one.where) == ("first", "good.py:11")
    assert one.source_text.startswith("@spec(cases=")
    assert load("good.py:borrowed")[0].name == "borrowed"  # asked for by name


def test_loading_leaves_nothing_behind(folder):
    path = list(sys.path)
    load("good.py")
    assert sys.path == path
    assert not (folder / "__pycache__" / "good.cpython-311.pyc").exists()


def test_a_changed_file_is_read_again(folder):
    (old,) = load("good.py:first")
    (folder / "good.py").write_text(GOOD.replace("+ 1", "+ 2"))
    (new,) = load("good.py:first")
    assert new.program.outputs != old.program.outputs
    assert "+ 2" in new.source_text


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nowhere.py", "no file 'nowhere.py'"),
        ("nowhere.py:first", "no file 'nowhere.py'"),
        (".", "cannot read '.'"),
        ("", "cannot read ''"),
        ("empty.py", "empty.py holds no spec; a spec is a function under @spec"),
        ("empty.py:f", "empty.py has no 'f'; it holds no spec"),
        ("good.py:third", "good.py has no 'third'; it has borrowed, second, first"),
        ("good.py:", "good.py has no ''"),
        ("good.py:plain", "good.py:15: 'plain' is no spec"),
        ("good.py:number", "good.py: 'number' is no spec"),
    ],
)
def test_what_cannot_be_loaded_is_said(folder, target, message):
    with pytest.raises(UserError, match="^" + message.replace(".", "[.]")) as error:
        load(target)
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_text(folder):
    (folder / "binary.py").write_bytes(b"x = 1\0")
    with pytest.raises(UserError, match=r"binary\.py"):
        load("binary.py")
    (folder / "latin.py").write_bytes(b"x = '\xe9'\n")
    with pytest.raises(UserError, match=r"latin.py:\d+: syntax error"):
        load("latin.py")


def test_a_file_whose_name_holds_a_colon(folder):
    (folder / "odd:name").write_text(GOOD)
    assert split_target("odd:name") == ("odd:name", None)
    assert split_target("odd:name:first") == ("odd:name", "first")
    assert len(load("odd:name")) == 2
