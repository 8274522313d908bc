"""What goes with lists in a text: the helpers do what they are taken for, and nothing else is."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from superopt.ugraph.floats import FloatDomain
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import read_text
from superopt.verify.source.machine import Machine
from superopt.verify.source.tiles import DTYPES
from superopt.verify.source.tiles import Tile
from tests.verify.source.following_text import TEXT
from tests.verify.source.test_lists import ROWS
from tests.verify.source.test_lists import SIZE
from tests.verify.source.test_lists import hostile

# How many ranks, lanes of the list, positions of a tile, rows and elements of what goes with it.
RUNS = (
    *((1, 1, 4, ROWS, 1), (1, 1, 16, 1, 4), (3, 4, 4, ROWS, 2), (5, 8, 16, 1, 2)),
    *((3, 4, 4, 1, 4), (16, 16, 8, ROWS, 1), (8, 8, 16, ROWS, 1), (3, 4, 16, 1, 64)),
)


def given():
    """Hostile rows, and payloads among which some are no numbers."""
    rng = np.random.default_rng(1)
    v = rng.standard_normal((ROWS, SIZE, 64)).astype(np.float32)
    v[3, ::3], v[4, 1::3], v[0, 5] = np.nan, np.inf, -np.inf
    arrays = hostile()
    arrays["at"][10:12] = np.arange(SIZE)  # equal keys come with equal payloads only
    return {**arrays, "v": v}


@cache
def meant(run, text=TEXT):
    count, lanes, tile, own, width = run
    arrays = given()
    arrays["v"] = np.ascontiguousarray(arrays["v"][:own, :, :width])
    found, tensors = Machine(read_text(text), FloatDomain()), []
    for name, array in arrays.items():
        dtype = DTYPES["fp32" if name in "xv" else "int32"]
        strides = tuple(s // array.itemsize for s in array.strides)
        tensor = found.host.tensor(name, array.shape, strides, dtype)
        whole, flat = dtype.name == "int32", array.ravel()
        plain, data = (flat.astype(np.int64), None) if whole else (None, flat.astype(np.float64))
        tensor.buffer.fill(Tile(found.cells, dtype, plain, data))
        tensors.append(tensor)
    shape = (ROWS, lanes, width)
    out = found.host.tensor("out_", shape, (lanes * width, width, 1), DTYPES["fp32"])
    found.call("follows", (*tensors, out, count, tile))
    return np.asarray(out.buffer.whole().lifted()).reshape(shape)


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """What Triton's interpreter makes of the same text, for every run."""
    room = tmp_path_factory.mktemp("follows")
    np.savez(room / "in.npz", runs=np.array(RUNS), **given())
    command = [sys.executable, "-m", "tests.verify.source.following_text"]
    files = [str(room / n) for n in ("in.npz", "out.npz", "follows.py")]
    done = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return np.load(room / "out.npz")


@pytest.mark.parametrize("number", range(len(RUNS)), ids=lambda n: str(RUNS[n]))
def test_helpers_do_what_they_are_taken_for(executed, number):
    """Equal in every lane, those past the count included."""
    np.testing.assert_array_equal(meant(RUNS[number]), executed[f"out{number}"])


@pytest.mark.parametrize("number", range(len(RUNS)), ids=lambda n: str(RUNS[n]))
def test_they_are_the_payloads_of_the_best(number):
    """Row by row, as plain Python sorts."""
    count, _, _, own, width = RUNS[number]
    arrays, found = given(), meant(RUNS[number])
    for row in range(ROWS):
        there = np.flatnonzero(arrays["there"][row])
        x, at = arrays["x"][row], arrays["at"][row]
        best = sorted(there, key=lambda n: (-x[n], at[n]))[:count]
        wanted = np.zeros(found[row].shape)
        if not np.isnan(x[there]).any():
            wanted[: len(best)] = arrays["v"][row if own > 1 else 0, best, :width]
        np.testing.assert_array_equal(found[row], wanted)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tl.where(new == old, -1, lanes)", "tl.where(new == old, 0, lanes)"),
        ("tl.where(here, came, -1)", "tl.where(here, came, 0)"),
        ("(left == best) & (left > least)", "(left == best)"),
    ],
)
def test_a_helper_that_was_edited_has_no_meaning(old, new):
    assert TEXT.count(old) == 1
    with pytest.raises(OutsideVocabularyError):
        meant(RUNS[2], TEXT.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("_origin(more, best, keys)", "_origin(best, more, keys)", "just then"),
        ("_origin(more, best, keys)", "_origin(more, more, keys)", "just then"),
        ("        best = more\n", "", "another list"),
        ("_among(best, keys, count)", "_among(best, keys, count - 1)", "just then"),
        ("gone = _follow(gone, origin, v)", "gone = _follow(gone, more, v)", "no list"),
        ("_goes(gone, best,", "_goes(gone, keys,", "no list"),
        ("_follow(gone, origin, v)", "_follow(gone, origin, v.to(tl.float16))", "fp16 as fp32"),
        ("WIDTH], tl.float32)", "WIDTH], tl.int32)", "kept as int32"),
        ("gone = _follow(gone,", "gone = _follow(v,", "came from nowhere"),
        (
            "tl.zeros([ROWS, LANES, WIDTH], tl.float32)",
            "tl.full([ROWS, LANES, WIDTH], 1.0, tl.float32)",
            "came from nowhere",
        ),
    ],
)
def test_what_follows_no_list_has_no_meaning(old, new, said):
    assert old in TEXT
    with pytest.raises(OutsideVocabularyError, match=said):
        meant(RUNS[2], TEXT.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("_goes(gone, best, lane[None, :], count)", "_goes(gone, best, lane[None, :], 2)", "order"),
        ("gone = tl.zeros([ROWS, LANES,", "gone = tl.zeros([ROWS, 2 * LANES,", "a list of shape"),
        ("_follow(gone, origin, v)", "_follow(gone, origin, tl.trans(v, 1, 0, 2))", "rows of 4"),
    ],
)
def test_shapes_that_do_not_fit_are_faults(old, new, said):
    assert old in TEXT
    with pytest.raises(FaultError, match=said):
        meant(RUNS[2], TEXT.replace(old, new))
