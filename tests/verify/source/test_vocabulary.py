"""The vocabulary knows its words and names the others."""

from __future__ import annotations

import pytest

from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.scalar import Fn
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.memory import Clock
from superopt.verify.source.tiles import DTYPES
from superopt.verify.source.tiles import FP32
from superopt.verify.source.vocabulary import Grid
from superopt.verify.source.vocabulary import Vocabulary


@pytest.mark.parametrize("path", ["tl", "tl.math", "tl.extra.cuda", "tl.PropagateNan"])
def test_unknown_words_are_named(path):
    value = Vocabulary(FloatDomain(), Clock()).namespace()
    for name in path.split(".")[1:]:
        value = getattr(value, name)
    with pytest.raises(OutsideVocabularyError, match=rf"^{path}\.atomic_add$"):
        _ = value.atomic_add


def test_programs_have_as_many_axes_as_their_grid():
    words = Vocabulary(FloatDomain(), Clock())
    words.grid = Grid((1, 2), (3, 4))
    found = [(int(words.program_id(a)), int(words.num_programs(a))) for a in range(3)]
    assert found == [(1, 3), (2, 4), (0, 1)]


def test_loops_and_quotients_on_the_compilers_numbers():
    words = Vocabulary(FloatDomain(), Clock())
    assert [int(i) for i in words.range(1, 7, 2, num_stages=2)] == [1, 3, 5]
    assert words.cdiv(7, 2) == 4
    assert int(words.cdiv(words.program_id(0) + 7, 2)) == 4


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
def test_no_sum_and_no_function_is_of_16_bits(dtype):
    """Triton sums in the dtype of what is summed, and knows exponentials of fp32 alone."""
    words = Vocabulary(FloatDomain(), Clock())
    tile = words.full([2], 1.0, FP32)
    assert words.fold(Fn.ADD, tile, 0).data.tolist() == 2.0
    assert words.fold(Fn.MAX, tile.to(DTYPES[dtype]), 0).data.tolist() == 1.0
    language = words.namespace()
    for lossy in (
        lambda x: words.fold(Fn.ADD, x, 0),
        lambda x: words.scan(Fn.ADD, x, 0),
        language.exp2,
        language.sqrt,
    ):
        lossy(tile)
        with pytest.raises(OutsideVocabularyError, match=f"in {dtype}, which loses digits"):
            lossy(tile.to(DTYPES[dtype]))
