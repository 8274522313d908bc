"""Lists of the best in a text: their helpers do what they are taken for, and nothing else is."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from superopt.tune.printed import text_of
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.names import canonical
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.field import read_field
from superopt.verify.source.load import read_text
from superopt.verify.source.machine import Machine
from superopt.verify.source.order import Seen
from superopt.verify.source.order import read_order
from superopt.verify.source.symbolic.read import read_symbolic
from superopt.verify.source.tiles import DTYPES
from superopt.verify.source.tiles import Tile
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import accepted
from tests.catalogue import Pattern
from tests.catalogue import kernels
from tests.verify.source.ranking_text import TEXT

ROWS, SIZE, END = 32, 16, 99
# How many ranks, how many may come in at a time, lanes of the list, positions of a tile.
RUNS = ((1, 1, 1, 4), (3, 3, 4, 4), (8, 8, 8, 4), (5, 5, 8, 16), (5, 2, 8, 8), (3, 0, 4, 4))


def hostile():
    """Rows with ties, zeros of both signs, infinities, NaN, and lanes that are none."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((ROWS, SIZE)).astype(np.float32)
    x[:16] = rng.choice(np.float32([-np.inf, -1e-40, -0.0, 0.0, 1.5, 3e38, np.inf]), (16, SIZE))
    x[1], x[2], x[3], x[4] = 1.0, -np.inf, np.arange(SIZE), -np.arange(SIZE)
    for row in (5, 6, 7, 20):
        x[row, rng.integers(0, SIZE, 2)] = np.nan
    at = np.argsort(rng.random((ROWS, SIZE)), axis=1).astype(np.int32)
    there = rng.random((ROWS, SIZE)) < 0.6
    there[1:5] = True
    x[10:12], at[10:12] = x[10:12, :1], np.arange(SIZE) // 4  # equal keys in a tile
    there[8], there[9, 1:], there[7] = False, False, ~np.isnan(x[7])
    return {"x": x, "at": at, "there": there.astype(np.int32)}


def machine(arrays, text=TEXT):
    """The text with tensors of float64 and whole numbers."""
    found = Machine(read_text(text), FloatDomain())
    tensors = []
    for name, array in arrays.items():
        dtype = DTYPES["fp32" if name == "x" else "int32"]
        tensor = found.host.tensor(name, array.shape, (SIZE, 1), dtype)
        flat = array.ravel()
        whole = dtype.name == "int32"
        plain, data = (flat.astype(np.int64), None) if whole else (None, flat.astype(np.float64))
        tensor.buffer.fill(Tile(found.cells, dtype, plain, data))
        tensors.append(tensor)
    return found, tensors


def meant(arrays, run, text=TEXT):
    count, few, lanes, tile = run
    found, tensors = machine(arrays, text)
    for name, dtype in (("values", "fp32"), ("places", "int32")):
        tensors.append(found.host.tensor(name, (ROWS, lanes), (lanes, 1), DTYPES[dtype]))
    results = found.call("ranks", (*tensors, count, few, END, tile))
    return [np.asarray(r.buffer.whole().lifted()).reshape(ROWS, lanes) for r in results]


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """What Triton's interpreter makes of the same text, for every run."""
    room = tmp_path_factory.mktemp("ranks")
    np.savez(room / "in.npz", runs=np.array(RUNS), end=np.array(END), **hostile())
    command = [sys.executable, "-m", "tests.verify.source.ranking_text"]
    files = [str(room / n) for n in ("in.npz", "out.npz", "ranks.py")]
    done = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return np.load(room / "out.npz")


@pytest.mark.parametrize("number", range(len(RUNS)), ids=lambda n: str(RUNS[n]))
def test_helpers_do_what_they_are_taken_for(executed, number):
    """Equal in every lane, those past the count included."""
    values, places = meant(hostile(), RUNS[number])
    np.testing.assert_array_equal(values, executed[f"values{number}"])
    np.testing.assert_array_equal(places, executed[f"places{number}"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0x7FFFFFFF - places)", "places)"),  # of equal values the last place
        ("best > least), best", "best >= least), best"),
        ("lanes - 0x7FFFFFFFFFFFFFFF,", "lanes - 0x7FFFFFFFFFFFFFF0,"),
        ("bits < -0x7F800001", "bits < -0x7F800000"),
    ],
)
def test_a_helper_that_was_edited_has_no_meaning(old, new):
    assert TEXT.count(old) == 1
    with pytest.raises(OutsideVocabularyError):
        meant(hostile(), RUNS[1], TEXT.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0x7FFFFFFFFFFFFFFF - 1)\n        best", "0x7FFFFFFFFFFFFFFF)\n        best", "a choice"),
        ("tl.load(at_ptr + here))", "tl.load(at_ptr + here) - 1)", "places from -1"),
        ("_keys(x, ", "_keys(x.to(tl.float16), ", "keys of fp16"),
        ("_among(best, keys, few)", "_among(keys, best, few)", "come into no list"),
        ("_ranked(best, lane[None, :],", "_ranked(best, lane[None, :] + 1,", "count from 0"),
    ],
)
def test_what_no_key_holds_has_no_meaning(old, new, said):
    """Each is another whole number for the compiler, and may still be right."""
    assert old in TEXT
    with pytest.raises(OutsideVocabularyError, match=said):
        meant(hostile(), RUNS[1], TEXT.replace(old, new))


def test_equal_keys_of_one_tile_come_in_once():
    """As the text has it; parts hold -inf at the end where they have no candidate."""
    arrays = hostile()
    arrays["x"][:, SIZE // 2 :], arrays["at"][:, SIZE // 2 :] = -np.inf, END
    values, places = meant(arrays, (8, 8, 8, SIZE))
    assert ((places < END) | (values == -np.inf) | np.isnan(values)).all()
    with pytest.raises(OutsideVocabularyError, match="equal keys"):
        meant(arrays, (8, 8, 8, 4))


@pytest.mark.parametrize("change", ["count - 1", "count + 1"])
def test_lanes_of_a_list_have_no_order(change):
    wrong = TEXT.replace("lane[None, :], count, end)", f"lane[None, :], {change}, end)")
    assert wrong != TEXT
    with pytest.raises(FaultError, match="whose lanes have no order"):
        meant(hostile(), RUNS[1], wrong)


# Of every spec with lists one kernel; the walked axis, and whether it is split.
PRINTED = (
    ("routing.py:gating", "e", "split"),
    ("routing.py:top_k_softmax", "e", "rolling"),
    ("routing.py:candidates", "n", "rolling"),
    ("routing.py:greedy", "n", "split"),
    ("routing.py:chosen", "n", "rolling"),
    ("nearest.py:neighbours", "n", "split"),
)


@pytest.mark.parametrize(("name", "axis", "mode"), PRINTED, ids=[p[0] for p in PRINTED])
def test_kernels_of_specs_with_lists_pass_all_readings(name, axis, mode):
    pattern = Pattern(name, name, axis, ())
    program, names = canonical(pattern.loaded.program)
    program = names.back(program)  # lists are ranked by scores, and not by softmaxes of them
    graph = dict(kernels(pattern))[mode]
    graph = replace(graph, fixed=program.fixed)
    text = text_of(program, graph, pattern.loaded.case("fp32"))
    assert isinstance(read_field(text, program, graph), Sampled)
    assert isinstance(read_order(text, program, graph), Seen)
    assert all(accepted(verdict) for _, verdict in read_symbolic(text, program.name).claims)
