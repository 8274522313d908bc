from __future__ import annotations

import numpy as np
import pytest

from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Scalar
from superopt.ugraph.scalar import Fn
from superopt.verify.run import hostile
from superopt.verify.run.inputs import families
from superopt.verify.run.rounding import rounded
from tests import samples
from tests.samples import Program
from tests.samples import Store

ATTENTION = {"b": 1, "h": 2, "m": 19, "n": 35, "d": 16, "e": 20}


def by_name(program, sizes, dtype="fp32", **more):
    return {f.name: f for f in families(program, sizes, dtype, 0, **more)}


def scores(family, program, sizes):
    return hostile.value_of(hostile.scores(program)[0], program, family.arrays, sizes)


def with_length():
    """Softmax over the first ``length`` positions, of rows that hold garbage after them."""
    x, y = Input("x", ("m", "n")), Input("y", ("m", "n"))
    inside = Map(Fn.LT, (Index("n"), Scalar("length", "int32")))
    s = samples.where(inside, x, samples.NEG_INF)
    out = samples.total("n", samples.mul(samples.softmax(s, "n"), y))
    return Program("f", (x, y, Scalar("length", "int32")), (Store("out", ("m",), None, out),))


def test_what_a_program_is_sensitive_to():
    assert hostile.stabilised_axes(samples.attention()) == ["n"]
    assert hostile.stabilised_axes(samples.rms_linear()) == ["k"]
    assert hostile.stabilised_axes(samples.lora()) == []
    assert hostile.folded_axes(samples.lora()) == ["k", "r"]
    assert hostile.has_row_mask(samples.attention(causal=True))
    assert not hostile.has_row_mask(samples.attention())
    assert not hostile.has_row_mask(with_length())


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize(
    "make", [samples.attention, samples.row_softmax, samples.rms_linear, samples.lora]
)
def test_values_can_be_held_and_are_reproducible(make, dtype):
    program = make()
    sizes = {"b": 2, "h": 3, "m": 5, "n": 7, "d": 4, "e": 6, "k": 9, "r": 8}
    names = []
    for one, again in zip(
        families(program, sizes, dtype, 3), families(program, sizes, dtype, 3), strict=True
    ):
        names.append(one.name)
        for param in program.params:
            value = one.arrays[param.name]
            assert value.shape == tuple(sizes[a] for a in param.order)
            assert np.array_equal(rounded(value, dtype), value, equal_nan=True)
            assert np.array_equal(value, again.arrays[param.name], equal_nan=True)
    assert len(set(names)) == len(names) >= 10


def test_scores_pass_their_targets():
    program = samples.attention()
    found = by_name(program, ATTENTION)
    assert scores(found["scores above"], program, ATTENTION).max() > 1e4
    below = scores(found["scores below"], program, ATTENTION)
    assert below.min() < -1e6
    assert below.max() < 0


def test_scores_rise_and_fall_along_the_axis():
    program = samples.attention()
    found = by_name(program, ATTENTION)
    place = hostile.scores(program)[0].axes.index("n")
    rising = np.diff(scores(found["increasing along n"], program, ATTENTION), axis=place)
    falling = np.diff(scores(found["decreasing along n"], program, ATTENTION), axis=place)
    assert (rising >= 0).all()
    assert rising.max() > 0
    assert (falling <= 0).all()
    ties = scores(found["ties along n"], program, ATTENTION)
    assert np.ptp(ties, axis=place).max() < 1e-6


def test_the_outlier_is_last_and_alone():
    program = samples.row_softmax()
    x = by_name(program, {"m": 3, "n": 35})["late outlier on n"].arrays["x"]
    assert (x[:, -1] > 10 * np.abs(x[:, :-1]).max()).all()


def test_tiles_are_emptied():
    found = by_name(samples.row_softmax(), {"m": 3, "n": 35})
    assert not found["zero first tile of n"].arrays["x"][:, :16].any()
    assert np.isneginf(found["-inf in first tile of n"].arrays["x"][:, :16]).all()
    assert np.isneginf(found["-inf in last tile of n"].arrays["x"][:, 32:]).all()
    assert np.isfinite(found["-inf in last tile of n"].arrays["x"][:, :32]).all()


def test_one_special_value_in_each_tensor():
    found = by_name(samples.attention(), ATTENTION)
    for name in "qkv":
        for kind, test in (("nan", np.isnan), ("+inf", np.isposinf), ("-inf", np.isneginf)):
            family = found[f"{kind} in {name}"]
            assert test(family.arrays[name]).sum() == 1
            assert all(np.isfinite(t[name]).all() for t in family.twins)


def test_what_every_row_masks_holds_nan():
    found = by_name(with_length(), {"m": 4, "n": 20}, scalars={"length": 13})
    family = found["NaN where n is masked for every row"]
    for name in "xy":
        assert np.isnan(family.arrays[name][:, 13:]).all()
        assert np.isfinite(family.arrays[name][:, :13]).all()
        assert np.isfinite(family.claimed[name]).all()


def test_a_causal_mask_hides_no_position_from_every_row():
    sizes = {**ATTENTION, "m": 9, "n": 9}
    assert not [n for n in by_name(samples.attention(causal=True), sizes) if "masked" in n]


def test_tensors_that_are_compared_are_equal_at_many_places_with_all_digits():
    x, y = Input("x", ("m", "n")), Input("y", ("n",))
    kept = samples.where(Map(Fn.LE, (x, y)), x, samples.num(0))
    program = Program("f", (x, y), (Store("out", ("m", "n"), None, kept),))
    arrays = by_name(program, {"m": 19, "n": 35})["compared data equal"].arrays
    equal = arrays["x"] == arrays["y"]
    assert 0.02 < equal.mean() < 0.3
    shorter = rounded(arrays["y"], "fp16")
    assert (equal & (arrays["x"] > shorter)).any()  # a cast to fewer bits changes the answer
    moved = samples.where(Map(Fn.LE, (samples.add(x, y), y)), x, samples.num(0))
    program = Program("f", (x, y), (Store("out", ("m", "n"), None, moved),))
    assert "compared data equal" not in by_name(program, {"m": 19, "n": 35})


def test_integers_are_sorted_ids_and_truths_have_families():
    ids, keep = Input("ids", ("n",), "int32"), Input("keep", ("m", "n"), "bool")
    x = Input("x", ("m", "n"))
    same = Map(Fn.AND, (keep, Map(Fn.LE, (ids, samples.num(2)))))
    value = samples.softmax(samples.where(same, x, samples.NEG_INF), "n")
    program = Program("f", (x, ids, keep), (Store("out", ("m", "n"), None, value),))
    found = by_name(program, {"m": 4, "n": 20})
    drawn = found["ordinary"].arrays["ids"]
    assert (np.diff(drawn) >= 0).all()
    assert drawn.dtype == np.int64
    assert not found["keep all false"].arrays["keep"].any()
    assert not found["keep false in first tile of n"].arrays["keep"][:, :16].any()


def test_integers_are_also_beyond_what_fp32_holds():
    x, byte = Input("x", ("m", "n"), "int32"), Input("byte", ("n",), "int8")
    value = samples.total("n", samples.mul(x, byte))
    found = by_name(
        Program("f", (x, byte), (Store("out", ("m",), "int64", value),)), {"m": 3, "n": 5}
    )
    large = found["large x"].arrays["x"]
    assert (np.abs(large) > 2**24).all()
    assert (large < 0).any()
    assert (large.astype(np.float32) != large).any()
    assert np.abs(found["large byte"].arrays["byte"]).max() <= 127


def test_integers_compared_with_positions_are_anywhere_on_the_axis():
    x, first = Input("x", ("m", "n")), Input("first", ("m",), "int32")
    other = Input("other", ("n",), "int32")
    seen = Map(Fn.LE, (first, Index("n")))
    value = samples.where(seen, samples.mul(x, other), samples.num(0))
    program = Program("f", (x, first, other), (Store("out", ("m", "n"), None, value),))
    assert hostile.compared(program) == {"first": "n"}
    found = by_name(program, {"m": 40, "n": 30})
    drawn = found["first anywhere on n"].arrays["first"]
    assert 0 <= drawn.min() < 3
    assert 27 < drawn.max() <= 30
    assert (np.diff(drawn) < 0).any()
    assert (np.sort(drawn) == found["first ascending on n"].arrays["first"]).all()


def test_empty_sizes_have_one_family():
    assert list(by_name(samples.row_softmax(), {"m": 3, "n": 0})) == ["ordinary"]
