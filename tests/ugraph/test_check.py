from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Move
from superopt.ugraph.check import check
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Clear
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Hole
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from tests import samples
from tests.samples import add
from tests.samples import exp
from tests.samples import mul
from tests.samples import num
from tests.samples import total

X, G = Input("x", ("m", "n")), Input("g", ("m",))
T = State("t", ("m",))
SUM = Carry("t", ("m",), Fn.ADD, X)
COUNT = State("c", (), whole=True)
CAUSAL = Map(Fn.LE, (Index("n"), Index("m")))
OUT = Store("out", ("m",), None, T)
GOOD = BlockGraph((("m", Grid()), ("n", Loop())), (Walk("n", (SUM,)),), (OUT,), (Turn("m"),))


def with_walk(**changes):
    return replace(GOOD, walks=(replace(GOOD.walks[0], **changes),))


def with_carry(**changes):
    return with_walk(carries=(replace(SUM, **changes),))


@pytest.mark.parametrize(
    "graph",
    [
        GOOD,
        samples.attention(causal=True),
        samples.rms_linear(),
        samples.online_attention(causal=True),
        samples.online_attention(split=True),
        samples.two_pass_softmax(),
        samples.rms_linear_one_walk(),
    ],
)
def test_good_graphs_have_no_problems(graph):
    assert check(graph) == []


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (replace(GOOD, places=(*GOOD.places, ("m", Whole()))), "axis 'm' is placed twice"),
        (replace(GOOD, places=GOOD.places[:1]), "axis 'n' is not placed"),
        (replace(GOOD, order=()), "programs are ordered by ''"),
        (replace(GOOD, order=(Turn("m"), Turn("m"))), "programs are ordered by 'm m'"),
        (replace(GOOD, walks=()), "reads the new state of 't', which is not known there"),
        (replace(GOOD, walks=GOOD.walks * 2), "carry 't' is defined twice"),
        (replace(GOOD, places=(("m", Grid()), ("n", Whole()))), "neither a loop nor split"),
        (
            replace(GOOD, stores=(replace(OUT, value=total("n", X)),)),
            "folded over 'n', which is not whole",
        ),
        (
            replace(GOOD, stores=(OUT, Store("s", (), None, num(0)))),
            "'s' lacks the grid axis 'm': several programs would write it",
        ),
        (
            replace(GOOD, stores=(replace(OUT, order=("m", "n"), value=X),)),
            "varies over 'n' but is not in a walk of it",
        ),
        (replace(GOOD, stores=(replace(OUT, value=X),)), "lacks axis 'n', over which its value"),
        (replace(GOOD, stores=(replace(OUT, dtype="fp8"),)), "unsupported dtype 'fp8'"),
        (replace(GOOD, stores=(replace(OUT, value=add(Hole("a"), G)),)), "belongs to laws only"),
        (
            replace(GOOD, stores=(replace(OUT, value=State("t", ("m",), old=True)),)),
            "the old state of 't'",
        ),
        (replace(GOOD, stores=(replace(OUT, value=State("t", ())),)), "over other axes"),
        (with_walk(stop=(Bound((("n", 1),), num(0)),)), "depends on 'n', which is no grid axis"),
        (with_walk(stop=(Bound((("m", 0),), num(0)),)), "coefficient 0"),
        (with_walk(stop=(Bound((), num(Fraction(1, 2))),)), "no integer"),
        (with_walk(start=(Bound((), Index("n")),)), "offset over 'n', which is neither grid nor"),
        (with_walk(stop=(Bound((), COUNT),)), "not known before the walk"),
        (with_walk(clear=Clear((num(1),))), "which is no truth value"),
        (with_walk(clear=Clear((CAUSAL,))), "drops a condition that it does not read"),
        (with_walk(clear=Clear((), (Bound((("n", 1),), num(0)),))), "which is no grid axis"),
        (with_walk(stores=(Store("y", ("m", "n"), None, mul(X, T)),)), "the new state of 't'"),
        (with_walk(stores=(Store("y", ("m",), None, G),)), "lacks that axis"),
        (
            with_walk(
                stores=(Store("y", ("m", "n"), None, X),), stop=(Bound((("m", 1),), num(0)),)
            ),
            "lost outside the limits",
        ),
        (with_carry(term=G), "does not vary over 'n'"),
        (with_carry(over=()), "not kept over 'm'"),
        (with_carry(over=("m", "n")), "kept over 'n', which is not whole"),
        (with_carry(fold=Fn.SUB), "which is no fold"),
        (with_carry(moves=(Move("t", G),), action=Fn.ADD), "add does not distribute over add"),
        (with_carry(fold=Fn.MUL, moves=(Move("t", G),)), "mul does not distribute over mul"),
        (with_carry(moves=(Move("z", G),)), "moves 'z', which is no carry"),
        (with_carry(moves=(Move("t", X),)), "varies over axes that the carry lacks"),
        (with_carry(moves=(Move("t", T),)), "a factor of carry 't' reads the new state of 't'"),
        (with_carry(term=mul(X, State("t", ("m",), old=True))), "reads the old state of 't'"),
        (with_carry(term=mul(X, State("u", ("m",)))), "reads the new state of 'u'"),
    ],
)
def test_what_is_wrong_is_said(block, message):
    problems = check(block)
    assert any(message in p for p in problems), problems


def test_premature_reads_are_refused():
    block = samples.online_attention().kernels[0]
    (walk,) = block.walks
    carries = (*walk.carries[:2], replace(walk.carries[2], moves=()))
    naive = replace(block, walks=(replace(walk, carries=carries),))
    assert check(naive) == ["carry 'o' reads the running value of 'm' and is not repaired"]
    # The final value of an earlier walk does not move.
    assert check(samples.two_pass_softmax().kernels[0]) == []


def test_a_carry_is_read_in_the_order_of_the_list():
    late = replace(SUM, name="u", term=mul(X, exp(T)), moves=(Move("u", num(1)),))
    assert check(with_walk(carries=(SUM, late))) == []
    assert check(with_walk(carries=(late, SUM))) != []


def test_splits():
    split = replace(GOOD, places=(("m", Grid()), ("n", Split())))
    assert check(split) == []
    two = replace(split, places=(*split.places, ("k", Split())))
    assert "more than one axis is split: 'n k'" in check(two)
    again = Walk("n", (replace(SUM, name="u"),))
    assert any("one walk" in p for p in check(replace(split, walks=(*split.walks, again))))
    stored = replace(split.walks[0], stores=(Store("y", ("m", "n"), None, X),))
    assert any("inside a walk that is split" in p for p in check(replace(split, walks=(stored,))))


GRAPH = KernelGraph("g", (X,), ("out",), (GOOD,))


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (replace(GRAPH, params=()), "kernel 0: Input(name='x'"),
        (replace(GRAPH, params=(X, X)), "name 'x' is given twice"),
        (replace(GRAPH, outputs=("out", "y")), "output 'y' is not written"),
        (replace(GRAPH, outputs=("out", "out")), "output 'out' is listed twice"),
        (replace(GRAPH, kernels=(GOOD, GOOD)), "name 'out' is given twice"),
        (replace(GRAPH, outputs=()), "store 'out' is no output, and no kernel reads it"),
    ],
)
def test_kernel_graphs(graph, message):
    assert any(message in p for p in check(graph)), check(graph)


def test_intermediates_are_defined_before_they_are_read():
    middle = OUT.as_input()
    last = BlockGraph((("m", Grid()),), (), (Store("y", ("m",), None, exp(middle)),), (Turn("m"),))
    good = KernelGraph("g", (X,), ("y",), (GOOD, last))
    assert check(good) == []
    assert any("is read but" in p for p in check(replace(good, kernels=(last, GOOD))))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (X, "output 'y' has axes 'm', its value 'm n'"),
        (T, "which no program may"),
        (G, "is read but is neither"),
    ],
)
def test_programs(value, message):
    program = Program("p", (X,), (Store("y", ("m",), None, value),))
    assert any(message in p for p in check(program))
