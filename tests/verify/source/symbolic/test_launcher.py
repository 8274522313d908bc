"""The launcher's own text: plans, tensors, and the launches of a graph."""

from __future__ import annotations

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
