"""The launcher's own text: plans, tensors, and the launches of a graph."""

from __future__ import annotations

import re

import pytest

from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import read_text
from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.formula import FALSE
from superopt.verify.source.symbolic.launcher import HostReader
from superopt.verify.source.symbolic.launcher import plans
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import atom
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.runner import Runner
from superopt.verify.source.symbolic.solve import Prover
from superopt.verify.source.symbolic.value import Address
from superopt.verify.source.symbolic.value import Opaque
from superopt.verify.source.symbolic.value import Whole
from superopt.verify.source.symbolic.vocabulary import fits
from tests.emit.cases import CASES

TEXT = CASES["rms"]().text()


def host(text=TEXT):
    return HostReader(read_text(text), Atoms(Prover()), None).read("rms_linear")


def test_tensors_have_the_shapes_and_strides_of_their_checks():
    found = host()
    x, out = found.tensors["x"], found.tensors["out"]
    m, k, n = (atom(f"{a}_size") for a in "mkn")
    assert x.shape == (m, k)
    assert x.strides == (atom("x.stride(0)"), ONE)
    assert (out.shape, out.kind, out.apart) == ((m, n), "output", True)


def test_launches_have_their_programs_and_arguments():
    text = read_text(TEXT)
    plan = plans(text)[2]
    runner = Runner(text, host(), plan.launches).read(plan.graph)
    first, second = runner.launches
    assert first.function == "rms_linear_g2_k0"
    tiles = first.programs.divided(number(3))  # in three parts
    assert tiles is not None
    assert [m for m, _ in tiles.terms] == [("quot", "quot.1")]
    assert [w.name for w in runner.workspaces] == ["part0_ss", "part0_acc"]
    assert runner.workspaces[0].shape[0] == number(3)
    assert first.arguments["k_part_size"] == Whole(number(3), 32)
    assert isinstance(second.arguments["part0_ss_ptr"], Address)
    assert first.early == FALSE
    assert second.early != FALSE


def all_launches(text):
    reader = HostReader(text, Atoms(Prover()), None).read("rms_linear")
    return [Runner(text, reader, p.launches).read(p.graph).launches for p in plans(text)]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("if tensor.dim() != len(axes):", "if False:", "does not check tensor.dim"),
        ("return size > 0 and size % tile == 0", "return size % tile == 0", "_even"),
        ("return max(least, triton.next_power_of_2(size))", "return least", "_whole"),
    ],
)
def test_a_launcher_that_is_not_understood_is_refused(old, new, words):
    assert old in TEXT
    text = read_text(TEXT.replace(old, new))
    with pytest.raises(OutsideVocabularyError, match=words):
        all_launches(text)


def test_widths():
    low, high = fits(atom("x"), 8)
    assert (str(low.poly), str(high.poly)) == ("128 + x", "127 - x")


@pytest.mark.parametrize(
    "line",
    [
        "m_size = m_size + 1",
        "x = w",
        "if m_size > 4096:\n        x = w",
        "if m_size == 4096:\n        return out",
        "sizes['m'] = (7, 'x')",
        "others = sizes.update(m=(7, 'x'))",
        "others = (m_size := 7)",
        "m_size += 1",
        "_even = _whole",
        "x.resize_(7)",
        "sizes = {'m': (7, 'x')}",
    ],
)
def test_a_statement_that_changes_what_is_launched_is_not_passed_over(line):
    """It was: with any of these the memory was proved to be that of the text without it."""
    before = "    if plan is None:\n"
    assert TEXT.count(before) == 1
    with pytest.raises(OutsideVocabularyError, match=re.escape(line.splitlines()[0])):
        host(TEXT.replace(before, f"    {line}\n{before}"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"g": g, "w": w', '"g": g'),
        ('"g": g, "w": w', '"g": g, "g": w'),
        ('others = {"x"', 'others = {} and {"x"'),
        ("    out = _output(", "    others['w'] = x\n    out = _output("),
    ],
)
def test_outputs_are_apart_from_what_they_are_compared_with(old, new):
    """They were thought to be apart from all inputs, whatever the launcher compared."""
    assert TEXT.count(old) == 1
    assert not host(TEXT.replace(old, new)).tensors["out"].apart


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('_check("w", w,', '_check("w", x,', "_check"),
        ("    if plan.graph == 0:", "    if m_size == 0:", "m_size == 0"),
        ("if programs > 0:", "if m_size != 4096:", "if m_size != 4096"),
        ("if programs > 0:", "if m_size and n_size:", "launches nothing"),
        ("if programs > 0:", "if m_size == 7:\n        n_size = 5\n    if programs > 0:", "== 7"),
    ],
)
def test_conditions_of_sizes_are_no_conditions_of_plans(old, new, words):
    assert old in TEXT
    with pytest.raises(OutsideVocabularyError, match=words):
        all_launches(read_text(TEXT.replace(old, new)))


def test_what_one_arm_makes_is_not_known_after_it():
    changed = "if m_size > 7:\n        k_size = 5\n    if programs > 0:"
    text = read_text(TEXT.replace("if programs > 0:", changed, 1))
    plan = plans(text)[0]
    (launch,) = (
        Runner(text, HostReader(text, Atoms(Prover()), None).read("rms_linear"), plan.launches)
        .read(plan.graph)
        .launches
    )
    assert launch.arguments["k_size"] == Opaque()
