"""Recurrences: what their states are, in a walk and outside, and how parts of them are joined."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.errors import IllTyped
from superopt.errors import NoFusion
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.check import check
from superopt.ugraph.evaluate import evaluate_kernels
from superopt.ugraph.evaluate import evaluate_node
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Clear
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import ONE
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import State
from superopt.ugraph.recurrence import step
from superopt.ugraph.recurrence import work
from superopt.ugraph.scalar import Fn
from superopt.ugraph.text import parse
from superopt.ugraph.text import show
from superopt.ugraph.walk import topo
from tests.samples import mul
from tests.samples import num
from tests.samples import total

Array = npt.NDArray[np.float64]
A, B = Input("a", ("n", "d")), Input("b", ("n", "d", "e"))
OUT, INTO, Q = Input("u", ("n", "d")), Input("w", ("n", "d")), Input("q", ("n", "d"))
FIRST = Input("s", ("e", "d"))
PARAMS = (A, B, OUT, INTO, Q, FIRST)
STATES = Recur("n", (("d",),), (A, B, OUT, INTO), first=FIRST)
LAST = replace(STATES, last=True)
READ = total("d", mul(Q, STATES))
STORES = (Store("read", ("n", "e"), None, READ), Store("end", ("d", "e"), None, LAST))
PROGRAM = Program("p", PARAMS, STORES)
DOMAIN = FloatDomain(np.float64)


def data(n: int, d: int, e: int, seed: int) -> dict[str, Array]:
    """Small whole numbers, with which floats compute exactly."""
    rng = np.random.default_rng(seed)
    sizes = {"n": n, "d": d, "e": e}
    return {
        p.name: rng.integers(-2, 3, [sizes[a] for a in p.order]).astype(np.float64) for p in PARAMS
    }


def walked(given_: dict[str, Array]) -> Array:
    """All states, by the definition."""
    a, b, u, w = (given_[name] for name in "abuw")
    states = [given_["s"].T]
    for i in range(len(a)):
        states.append(a[i, :, None] * states[-1] + b[i] + np.outer(u[i], w[i] @ states[-1]))
    return np.stack(states)


def block(place: Place | None = None, stores: tuple[Store, ...] = STORES) -> BlockGraph:
    """The fusion with the fewest walks."""
    places = (("n", place or Loop(tiled=False)), ("d", Whole()), ("e", Grid()))
    return fuse(stores, places, (Turn("e"),), groupings(stores, ["n"])[0])


@given(st.integers(0, 6), st.integers(1, 3), st.integers(0, 3), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_states_follow_one_another_in_a_program_and_in_its_kernel(
    n: int, d: int, e: int, seed: int
):
    given_, sizes = data(n, d, e, seed), {"n": n, "d": d, "e": e}
    states = walked(given_)
    want = evaluate_program(PROGRAM, DOMAIN, given_, sizes)
    np.testing.assert_array_equal(want["end"], states[-1])
    np.testing.assert_array_equal(want["read"], np.einsum("nd,nde->ne", given_["q"], states[1:]))
    graph = KernelGraph("p", PARAMS, ("read", "end"), (block(),))
    got = evaluate_kernels(graph, DOMAIN, given_, sizes, [Config((("d", 4), ("e", 2)))])
    for name, value in want.items():
        np.testing.assert_array_equal(got[name], value)


@given(st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_the_term_of_a_step_is_the_step(seed: int):
    given_, sizes = data(1, 3, 2, seed), {"n": 1, "d": 3, "e": 2}
    before = np.random.default_rng(seed).integers(-3, 4, (3, 2)).astype(np.float64)
    old = State("s", ("d", "e"), old=True)
    assert FIRST not in topo([step(STATES, old)])
    known: dict[Node, Array] = {
        p: given_[p.name].reshape([sizes[a] for a in p.axes]) for p in PARAMS
    }
    found = evaluate_node(step(STATES, old), DOMAIN, {**known, old: before}, sizes)
    a, b, u, w = (given_[name][0] for name in "abuw")
    at = step(STATES, old).axes.index("n")
    want = a[:, None] * before + b + np.outer(u, w @ before)
    np.testing.assert_array_equal(found.take(0, axis=at), want)


def test_a_step_says_nothing_that_changes_nothing():
    old = State("s", ("d",), old=True)
    kept = Recur("n", (), (ONE, A))
    assert step(kept, old) is Map(Fn.ADD, (old, A))
    assert step(Recur("n", (), (A, ZERO)), old) is mul(A, old)
    assert step(Recur("n", (("d",),), (ZERO, ZERO, A, ONE)), old) is mul(A, total("d", old))
    assert work(kept) == (1, ())
    assert work(STATES) == (4, (2,))


# Parts of a recurrence are maps (A, B), of which the first acts first: (A, B)(A', B') is the
# map s -> A'(A s + B) + B', with a unit and in any bracketing.

Pair = tuple[Array, Array]


def pair(given_: dict[str, Array], position: int) -> Pair:
    """What one position does to a state, as a whole matrix and what is added."""
    a, b, u, w = (given_[name][position] for name in "abuw")
    return np.diag(a) + np.outer(u, w), b


def joined(first: Pair, second: Pair) -> Pair:
    return second[0] @ first[0], second[0] @ first[1] + second[1]


def tree(pairs: list[Pair], unit: Pair) -> Pair:
    if len(pairs) < 2:
        return pairs[0] if pairs else unit
    middle = len(pairs) // 2
    return joined(tree(pairs[:middle], unit), tree(pairs[middle:], unit))


@given(st.lists(st.integers(0, 3), max_size=4), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_parts_are_joined_in_any_bracketing(lengths: list[int], seed: int):
    given_ = data(sum(lengths), 2, 3, seed)
    unit = (np.eye(2), np.zeros((2, 3)))
    ends = np.cumsum([0, *lengths])
    parts = [
        reduce(joined, [pair(given_, i) for i in range(first, stop)], unit)
        for first, stop in pairwise(ends)
    ]
    left = reduce(joined, parts, unit)
    right = reduce(lambda after, before: joined(before, after), reversed(parts), unit)
    for found in (left, right, tree(parts, unit)):
        np.testing.assert_array_equal(found[0], left[0])
        np.testing.assert_array_equal(found[0] @ given_["s"].T + found[1], walked(given_)[-1])


def test_one_carry_keeps_the_state_for_all_readers():
    (walk,) = block().walks
    (carry,) = walk.carries
    assert (carry.term, carry.stepwise, carry.unit) == (STATES, True, Const(Fraction(0)))
    assert carry.update("n", walk.components) is LAST
    assert [s.name for s in walk.stores] == ["read"]
    assert check(block()) == []
    (alone,) = block(stores=STORES[:1]).walks
    assert [c.term for c in alone.carries] == [STATES]
    assert check(block(stores=STORES[:1])) == []


def test_graphs_with_recurrences_are_text_and_back():
    graph = KernelGraph("p", PARAMS, ("read", "end"), (block(),))
    assert parse(show(graph)) == graph
    assert parse(show(PROGRAM)) == PROGRAM
    several = Recur("n", (("d", "e"), ("d",)), (ONE, B, A, ONE, A, B))
    for node in (STATES, LAST, several, Recur("n", (), (A, B), True, num(2))):
        assert parse(show(node)) is node


@pytest.mark.parametrize("place", [Loop(), Split(), Whole(), Grid()])
def test_positions_are_walked_one_by_one(place: Place):
    with pytest.raises(NoFusion, match="recurrence along 'n' is walked position by position"):
        block(place, STORES[1:])
    wrong = replace(block(), places=tuple((a, place if a == "n" else p) for a, p in block().places))
    assert "a recurrence along 'n', which is not walked position by position" in check(wrong)


def test_graphs_that_take_other_steps_are_refused():
    made = block()
    (walk,) = made.walks
    (carry,) = walk.carries

    def problems(**changed: object) -> list[str]:
        return check(replace(made, walks=(replace(walk, **changed),)))  # type: ignore[arg-type]

    cut = replace(made, places=(("n", Loop(tiled=False)), ("d", Grid()), ("e", Grid())))
    assert "a step sums over 'd', which is not whole in the tile" in check(cut)
    assert problems(reverse=True) == ["a scan along 'n', whose tiles come in another order"]
    assert any("no recurrence" in p for p in problems(carries=(replace(carry, fold=Fn.MAX),)))
    wider = replace(carry, over=("d",))
    assert any("no recurrence" in p for p in problems(carries=(wider,)))
    alike = "carry 'state0' takes all steps alike, but its walk has limits"
    assert problems(clear=Clear()) == [alike]
    moving = total("n", mul(STATES, Map(Fn.ADD, (Index("n"), num(1)))))
    assert check(block(stores=(*STORES, Store("sum", ("d", "e"), None, moving)))) == []


def test_what_a_step_reads_is_final_before_the_walk():
    mean = mul(A, total("n", A))
    moving = Recur("n", (), (mean, B), last=True)
    stores = (Store("end", ("d", "e"), None, moving),)
    assert [len(passes) for passes in groupings(stores, ["n"])] == [2]


@pytest.mark.parametrize(
    ("along", "args", "why"),
    [
        (("d",), (A, B), "a pair for each of its sums"),
        ((), (ONE, Input("b", ("d",))), "depends on its axis 'n'"),
        ((("n",),), (A, B, OUT, INTO), "over 'n', which its state lacks"),
        (((),), (A, B, OUT, INTO), "which its state lacks"),
        ((), (Map(Fn.LT, (A, OUT)), B), "numbers"),
    ],
)
def test_what_is_no_recurrence_is_no_node(along, args, why):
    with pytest.raises(IllTyped, match=why):
        Recur("n", along, args)


def test_a_recurrence_begins_before_its_positions():
    with pytest.raises(IllTyped, match="begins before any of its positions"):
        Recur("n", (), (A, B), first=A)
    wide = Recur("n", (), (ONE, A), first=Input("z", ("z",)))
    assert wide.state == ("d", "z")
    sizes = {"n": 0, "d": 2, "z": 3}
    values: dict[Node, Array] = {A: np.zeros((2, 0)), wide.first: np.arange(3.0)}
    found = evaluate_node(replace(wide, last=True), DOMAIN, values, sizes)
    np.testing.assert_array_equal(found, [[0, 1, 2]] * 2)
