"""The vocabulary of tiles with layouts."""

from __future__ import annotations

from superopt.emit.struct.dialect import spelled
from superopt.emit.struct.dialect import used


def test_functions_of_tiles_are_found_in_the_other_module():
    assert spelled("tl.exp2(x.to(tl.float32))") == "gl.exp2(x.to(gl.float32))"
    assert spelled("stl.exp2(x)") == "stl.exp2(x)"


def test_what_that_module_lacks_stays():
    text = "tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)"
    assert spelled(text) == "gl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)"
    assert spelled("tl.swizzle2d(i, j)") == "tl.swizzle2d(i, j)"


def test_identifiers_are_whole_words():
    assert used("a_1 + b.c(2)") == {"a_1", "b", "c"}
