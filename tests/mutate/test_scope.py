"""What a graph executes, and which names may be mistaken for each other."""

from __future__ import annotations

import pytest

from superopt.mutate.scope import scopes
from superopt.mutate.scope import sort_of
from superopt.verify.source.load import read_text
from tests.emit.cases import CASES


def functions(name, index):
    case = CASES[name]()
    return scopes(read_text(case.text()), case.program.name, index)


def test_the_launcher_the_kernels_and_their_helpers_are_in_scope():
    found = {s.function.name: s.compiled for s in functions("attention", 1)}
    assert found["_run_g1"] is False
    assert found["attention_g1_k0"] is found["attention_g1_k1"] is found["_max"] is True
    assert "_even" in found
    assert not any(name.startswith("attention_g0") for name in found)


@pytest.mark.parametrize(
    ("name", "sort"),
    [("m_size", "_size"), ("q_stride_h", "_stride_"), ("TILE_M", "TILE_"), ("sum_1", "")],
)
def test_names_have_the_sort_of_what_they_stand_for(name, sort):
    assert sort_of(name) == sort


def test_a_family_is_of_one_sort_and_without_the_name_itself():
    (kernel,) = [s for s in functions("softmax", 0) if s.function.name == "softmax_g0_k0"]
    assert kernel.family("m_size") == ("n_size",)
    assert kernel.family("pid") == ()
