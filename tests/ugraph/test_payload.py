"""What goes with lists of the best: the law that brings it there, its merges, and what is none."""

from __future__ import annotations

from itertools import pairwise
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.errors import IllTyped
from superopt.ugraph.evaluate import evaluate_node
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Best
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.parse import parse
from superopt.ugraph.payload import read_at
from superopt.ugraph.payload import with_payloads
from superopt.ugraph.scalar import Fn
from superopt.ugraph.text import show
from superopt.ugraph.walk import topo
from tests import samples as s

X, V = Input("x", ("m", "n"), "fp32"), Input("v", ("m", "n"), "fp32")
TABLE, LABEL = Input("table", ("n", "e"), "fp32"), Input("label", ("n",), "int32")
N = Index("n")
PLACES = Best("n", "t", "n", (X, N), at=True)
FIRST = Reduce(Fn.MAX, "t", PLACES)  # as ``argmax`` reads it, where there is one rank
NUMBERS = st.sampled_from([-np.inf, -2.0, -1.0, -0.0, 0.0, 1.0, 1.0, 3.0, np.nan])


def at(value: Node, place: Node) -> Node:
    """``value`` at a place, as ``gather`` writes it."""
    return s.total("n", s.where(s.eq(N, place), value, s.num(0)))


def spec(value: Node, place: Node, ranks: int = 1) -> Program:
    read = at(value, place)
    params = tuple(n for n in topo([read]) if isinstance(n, Input))
    return Program("p", params, (Store("out", read.axes, None, read),), (("t", ranks),))


def lists(program: Program) -> list[Best]:
    return [n for n in topo([s.value for s in program.outputs]) if isinstance(n, Best)]


SHIFTED = s.exp(s.sub(V, s.largest("n", V)))
READ = {
    "values": V,
    "a table": TABLE,
    "whole numbers": LABEL,
    "positions": N,
    "a function of them": s.add(s.mul(V, V), N),
    "what a walk folds": s.div(SHIFTED, s.total("n", SHIFTED)),
    "a choice by what a walk folds": s.where(s.eq(V, s.largest("n", V)), TABLE, s.mul(V, V)),
}


@pytest.mark.parametrize("name", READ)
@settings(max_examples=25, deadline=None)
@given(
    row=st.lists(NUMBERS, min_size=1, max_size=6), ranks=st.integers(1, 3), seed=st.integers(0, 9)
)
def test_what_is_read_at_places_goes_with_the_list(name, row, ranks, seed):
    """Ties, rows of -inf and of NaN, and payloads that are no numbers where nobody asks."""
    program = spec(READ[name], FIRST if ranks == 1 else PLACES, ranks)
    made = with_payloads(program)
    assert not any(
        isinstance(n, Reduce) and n.axis == "n" and n.fn is Fn.ADD and N in topo([n])
        for n in topo([made.outputs[0].value])
    )
    rng = np.random.default_rng(seed)
    arrays = {
        "x": np.array([row]),
        "v": rng.choice(
            [-1.0, 0.5, 2.0, np.inf, np.nan], (1, len(row)), p=[0.3, 0.3, 0.3, 0.05, 0.05]
        ),
        "table": rng.standard_normal((len(row), 2)),
        "label": rng.integers(0, 9, len(row)),
    }
    sizes = {"m": 1, "n": len(row), "t": ranks, "e": 2}
    arrays = {p.name: arrays[p.name] for p in program.params}
    (want,) = evaluate_program(program, FloatDomain(), arrays, sizes).values()
    (got,) = evaluate_program(made, FloatDomain(), arrays, sizes).values()
    np.testing.assert_array_equal(got, want)


def test_payloads_read_nothing_that_the_same_walk_folds():
    for name in ("what a walk folds", "a choice by what a walk folds"):
        taken = [n for n in lists(with_payloads(spec(READ[name], FIRST))) if n.taken]
        assert {n.payloads for n in taken} <= {(V,), (TABLE,), (s.mul(V, V),)}
        assert taken


def test_the_position_itself_is_where_the_list_says():
    (found,) = lists(with_payloads(spec(N, PLACES, 3)))
    assert found is PLACES


def test_of_several_ranks_none_is_the_only_one():
    """The largest place of three is no place of one rank."""
    program = spec(V, FIRST, 3)
    assert with_payloads(program) == program


OTHER = Best("n", "t", "n", (X, Index("m")), at=True)
LEFT = {
    "values of a list": (at(V, Best("n", "t", "n", (X, N))), {}),
    "other places": (at(V, Reduce(Fn.MAX, "t", OTHER)), {"t": 1}),
    "a place plus one": (at(V, s.add(PLACES, s.num(1))), {}),
    "all the same": (at(s.num(3), PLACES), {}),
    "by rank": (at(s.mul(V, Index("t")), PLACES), {}),
    "another axis": (
        s.total("e", s.where(s.eq(Index("e"), PLACES), TABLE, s.num(0))),
        {},
    ),
    "not nothing": (s.total("n", s.where(s.eq(N, PLACES), V, s.num(1))), {}),
    "another fold": (s.largest("n", s.where(s.eq(N, PLACES), V, s.num(0))), {}),
    "no size": (at(V, FIRST), {}),
    "several ranks": (at(V, FIRST), {"t": 2}),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_no_payload_stays(name):
    node, fixed = LEFT[name]
    assert read_at(node, fixed) is node


def test_truth_values_are_read_as_what_they_are_made_of():
    above = Map(Fn.LT, (s.largest("n", V), V))
    node = at(s.where(above, V, s.num(2)), PLACES)
    (taken,) = [n for n in topo([read_at(node, {})]) if isinstance(n, Best) and n.taken]
    assert taken.payloads == (V,)
    flag = Input("flag", ("n",), "bool")
    unread = at(s.where(flag, s.sub(V, s.largest("n", V)), s.num(2)), PLACES)
    assert read_at(unread, {}) is unread


def listed(row, places, count, end, payloads):
    """Values, places and payloads of the best, as plain Python sorts."""
    if any(v != v for v in row):
        return [float("nan")] * count, [end] * count, [0.0] * count
    found = sorted(zip(row, places, payloads, strict=True), key=lambda one: (-one[0], one[1]))
    found += [(-np.inf, end, 0.0)] * count
    return tuple([one[side] for one in found[:count]] for side in range(3))


def merge(*parts):
    """The list of several lists, by the evaluator."""
    v, p = Input("v", ("part", "t"), "fp32"), Input("p", ("part", "t"), "int64")
    w = Input("w", ("part", "t"), "fp32")
    sides = [
        *(Best("part", "t", "n", (v, p), at) for at in (False, True)),
        Best("part", "t", "n", (v, p, w), taken=True),
    ]
    known = dict(zip((v, p, w), (np.array(side) for side in zip(*parts, strict=True)), strict=True))
    sizes = {"part": len(parts), "t": len(parts[0][0]), "n": 99}
    return tuple(evaluate_node(side, FloatDomain(), known, sizes).tolist() for side in sides)


@settings(max_examples=60, deadline=None)
@given(st.lists(NUMBERS, min_size=0, max_size=9), st.integers(1, 4))
def test_every_bracketing_of_parts_gives_the_payloads_of_the_whole(row, count):
    """They are those of the places that stand there, whatever was joined first: a merge takes a
    candidate as a whole."""
    values = [10.0 + n for n in range(len(row))]
    cuts = [0, len(row) // 3, len(row) // 2, len(row)]
    pieces = [range(a, b) for a, b in pairwise(cuts)]
    a, b, c = (
        listed([row[i] for i in piece], piece, count, 99, [values[i] for i in piece])
        for piece in pieces
    )
    nothing = listed([], [], count, 99, [])
    whole = listed(row, range(len(row)), count, 99, values)
    found = [merge(merge(a, b), c), merge(a, merge(b, c)), merge(a, b, c)]
    found += [merge(nothing, whole), merge(whole, nothing), merge(c, b, a)]
    for _, places, payloads in found:
        assert payloads == whole[2]
        assert payloads == [values[p] if p < 99 else 0.0 for p in places]


def test_torch_takes_what_numpy_takes():
    torch = pytest.importorskip("torch")
    from superopt.verify.run.torch_domain import TorchDomain

    rng = np.random.default_rng(0)
    choices = [-np.inf, -1.0, 0.0, 2.0, np.nan]
    for count, length in product((1, 3, 6), (0, 1, 5)):
        values = rng.choice(choices, (8, length), p=[0.2, 0.3, 0.2, 0.25, 0.05])
        places = np.broadcast_to(np.arange(length), values.shape).copy()
        for goes in (rng.standard_normal(values.shape), rng.integers(0, 9, values.shape)):
            mine = FloatDomain().best(values, places, count, length, False, goes)
            given_ = [torch.from_numpy(a) for a in (values, places, goes)]
            other = TorchDomain("cpu").best(*given_[:2], count, length, False, given_[2]).numpy()
            assert mine.dtype.kind == other.dtype.kind == goes.dtype.kind
            np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("payload", [V, LABEL])
def test_text_reads_back_to_the_same_node(payload):
    node = Best("n", "t", "n", (X, N, payload), taken=True)
    assert parse(show(node)) is node
    assert node.kind is payload.kind
    assert node.list_of() is Best("n", "t", "n", (X, N))
    assert node.list_of(at=True) is PLACES


@pytest.mark.parametrize(
    ("message", "args", "at"),
    [
        ("pairs", (X, N), False),
        ("one side", (X, N, V), True),
        ("not truth values", (X, N, s.eq(V, s.num(0))), False),
        ("no axis 'n'", (Input("y", ("m",)), Index("m"), V), False),
    ],
)
def test_what_goes_with_no_list_is_refused(message, args, at):
    with pytest.raises(IllTyped, match=message):
        Best("n", "t", "n", args, at, taken=True)


def test_prefixes_go_with_a_list_as_they_are():
    prefix = s.total("m", Scan(Fn.ADD, "n", V))
    (taken,) = [n for n in topo([read_at(at(prefix, PLACES), {})]) if isinstance(n, Best)]
    assert taken.payloads == (prefix,)


def test_a_table_is_read_by_lists_that_are_made_once_for_all_of_its_columns():
    asked = []

    class Watched(FloatDomain):
        def best(self, values, places, count, end, at, taken=None):
            asked.append((values.shape, None if taken is None else taken.shape))
            return super().best(values, places, count, end, at, taken)

    program = with_payloads(spec(TABLE, PLACES, 2))
    arrays = {"x": np.arange(12.0).reshape(3, 4), "table": np.arange(20.0).reshape(4, 5)}
    sizes = {"m": 3, "n": 4, "t": 2, "e": 5}
    (found,) = evaluate_program(program, Watched(), arrays, sizes).values()
    assert asked == [((1, 3, 4), (5, 1, 4))]
    assert found.shape == (5, 3, 2)
    np.testing.assert_array_equal(found[:, 0], arrays["table"][[3, 2]].T)
