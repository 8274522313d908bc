from __future__ import annotations

import ast
import sys

import pytest

from superopt.commands import doctor_kernel as kernel
from superopt.emit.dialect import Dialect
from superopt.verify.readings import judge_file
from superopt.verify.run.run_kernel import load

pytestmark = pytest.mark.filterwarnings("ignore:torch.ops.superopt.product remains")


@pytest.mark.parametrize("dialect", Dialect)
def test_the_file_has_what_is_tried_on_a_device(tmp_path, dialect):
    file = load(str(kernel.write(tmp_path, dialect)), upstream=True)
    asked = [p.name for p in file.PLANS if p.launches[0].consumers]
    assert asked == ["roles"]
    names = {n.attr for n in ast.walk(ast.parse(kernel.WITH_ROLES)) if isinstance(n, ast.Attribute)}
    assert {"PLANS", "TAKEN", "product"} <= names & set(vars(file))
    assert "product_g0_k0" in vars(file)
    assert "TAKEN['product_g0_k0']" in ast.unparse(ast.parse(kernel.WITH_ROLES))


@pytest.mark.parametrize("dialect", Dialect)
def test_its_text_is_right(tmp_path, dialect):
    program, graph = kernel.parsed()
    read = judge_file(kernel.write(tmp_path, dialect).read_text(), program, [graph])
    assert read.wanting() == []
    assert read.open == ()


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("print('ok   a'); print('FAIL b')", (True, ["ok   a", "FAIL b"])),
        ("raise SystemExit(3)", (False, ["exit code 3"])),
        ("print('ok   a'); raise ValueError('no')", (False, ["ValueError: no"])),
    ],
)
def test_what_a_process_says(code, found):
    ok, lines = kernel._ran([sys.executable, "-c", code], {})
    assert (ok, lines[-len(found[1]) :]) == found


def test_a_process_without_an_end_is_stopped(monkeypatch):
    monkeypatch.setattr(kernel, "SECONDS", 0.2)
    ok, lines = kernel._ran([sys.executable, "-c", "import time; time.sleep(60)"], {})
    assert (ok, lines) == (False, ["no end after 0 s"])


def test_failing_calls_are_counted(monkeypatch, tmp_path):
    said = (False, ["ok   graph 0", "FAIL graph 0"])
    monkeypatch.setattr(kernel, "_ran", lambda command, more: said)
    assert kernel.self_tested(tmp_path, device=True) == kernel.Tried(False, "1 of 2 calls right")
    assert kernel.with_roles(tmp_path) == kernel.Tried(False, "FAIL graph 0")
    monkeypatch.setattr(kernel, "_ran", lambda command, more: (True, ["the device is no sm_90"]))
    assert kernel.with_roles(tmp_path) == kernel.Tried(False, "the device is no sm_90")
