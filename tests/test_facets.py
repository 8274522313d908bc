"""Every scalar function has a meaning wherever meanings are asked for: a new row of the table
fails here until each of them is written. And the meanings in numbers agree."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

from superopt.emit import scalar as printed
from superopt.emit.runtime import ARITHMETIC
from superopt.emit.torch_reference import ROUNDED
from superopt.errors import NoRepair
from superopt.repair.span import FINITE
from superopt.repair.span import POSITIVE
from superopt.repair.span import span
from superopt.repair.symbolic import Reading
from superopt.rewrite import show as words
from superopt.rewrite.show import node_text
from superopt.ugraph import floats
from superopt.ugraph.grids import GRIDS
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import State
from superopt.ugraph.scalar import BY_SYMBOL
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.text import parse
from superopt.ugraph.text import show
from superopt.verify.field import domain as field
from superopt.verify.reals import cases
from superopt.verify.reals import numeric
from superopt.verify.reals.smt import prove_equal
from superopt.verify.run import torch_domain
from superopt.verify.verdict import Proved
from tests.samples import num

FOLDS = {fn for fn in Fn if fn.is_fold}

# One row for each function.
COMPLETE = {
    "kernel text": printed.TRITON,
    "launcher text": printed.PYTHON,
    "reference text": printed.TORCH,
    "floats": floats.MEANING,
    "field": field.MEANING,
    "solver": cases.MEANING,
    "numbers of counterexamples": numeric.MEANING,
    "rounded torch": torch_domain.MEANING,
}

# One row for each fold.
FOLDING = {"kernel text": printed.FOLDS, "words": words.FOLD}


@pytest.mark.parametrize("table", COMPLETE)
def test_every_function_has_a_row(table):
    assert set(COMPLETE[table]) == set(Fn)


@pytest.mark.parametrize("table", FOLDING)
def test_every_fold_has_a_row(table):
    assert set(FOLDING[table]) == FOLDS


def test_every_constant_has_a_value():
    assert set(printed.VALUES) == set(Constant)
    assert float(printed.VALUES[Constant.LOG2E]) == 1 / math.log(2)
    assert float(printed.VALUES[Constant.LN2]) == math.log(2)
    assert float(printed.VALUES[Constant.PI]) == math.pi


X, Y = Input("x", ("m",)), Input("y", ("m",))
MOVING = State("producer", ())
NO_LAW = {Fn.TANH, Fn.SIGMOID, Fn.ERF, *GRIDS, *(fn for fn in Fn if fn.value.result is Kind.BOOL)}
LESS, NEVER = Map(Fn.LT, (X, Y)), Map(Fn.LT, (X, X))


def node_of(fn: Fn) -> Node:
    """``fn`` of leaves of the right kind."""
    if fn is Fn.WHERE:
        return Map(fn, (LESS, X, Y))
    of_truths = fn in (Fn.AND, Fn.OR, Fn.NOT)
    return Map(fn, ((LESS, NEVER) if of_truths else (X, Y))[: fn.value.arity])


@pytest.mark.parametrize("fn", Fn, ids=lambda fn: fn.symbol)
class TestEach:
    def test_the_table_is_consistent(self, fn):
        assert BY_SYMBOL[fn.symbol] is fn
        assert 1 <= fn.value.arity <= 3
        assert not fn.is_fold or fn.value.commutative
        assert not fn.value.commutative or fn.value.arity == 2
        assert fn.value.plain + fn.value.special > 0

    def test_it_is_written_and_read(self, fn):
        node = node_of(fn)
        assert parse(show(node)) is node
        assert fn.symbol in node_text(node) or fn in words.INFIX

    def test_the_solver_reads_it(self, fn):
        assert isinstance(prove_equal(node_of(fn), node_of(fn)), Proved)

    def test_repair_bounds_it(self, fn):
        assert span(node_of(fn), {X: FINITE, Y: FINITE}) is not None

    def test_repair_reads_it_and_writes_it_back_or_says_no(self, fn):
        """Of a value that mixes a moving one with the walked axis."""
        reading = Reading("m", frozenset([MOVING]), {Y: POSITIVE, MOVING: POSITIVE})
        mixed = Map(Fn.ADD, (Y, MOVING))
        less = Map(Fn.LT, (mixed, Y))
        leaves = (less, LESS) if fn in (Fn.AND, Fn.OR, Fn.NOT) else (mixed, Y)
        node = Map(fn, (LESS, mixed, Y) if fn is Fn.WHERE else leaves[: fn.value.arity])
        if fn in NO_LAW:
            with pytest.raises(NoRepair, match="no finite rank found"):
                reading.read(node)
        else:
            again = reading.write(reading.read(node))
            facts = [Map(Fn.LT, (num(0), leaf)) for leaf in (Y, MOVING)]
            assert isinstance(prove_equal(again, node, facts), Proved)

    def test_its_meanings_in_numbers_agree(self, fn):
        """Floats, counterexamples, torch, and the printed text of launcher and reference."""
        truths = fn in (Fn.AND, Fn.OR, Fn.NOT)
        for point in itertools.product((0.25, 0.75, 2.0), repeat=fn.value.arity):
            given = [v > 0.5 for v in point] if truths else list(point)
            if fn is Fn.WHERE:
                given[0] = point[0] > 0.5
            wanted = float(floats.MEANING[fn](*map(np.asarray, given)))
            found = [
                numeric.MEANING[fn](*(np.asarray(float(v)) for v in given)),
                run(printed.TORCH[fn], [torch.tensor(v, dtype=kind(v)) for v in given]),
                run(printed.PYTHON[fn], given),
            ]
            assert [float(f) for f in found] == pytest.approx([wanted] * len(found))


@pytest.mark.parametrize("fn", sorted(FOLDS, key=lambda f: f.symbol), ids=lambda fn: fn.symbol)
def test_a_fold_starts_at_its_unit(fn):
    meaning = floats.MEANING[fn]
    for value in (-1.5, 0.0, 3.0):
        assert float(meaning(np.float64(fn.unit), np.float64(value))) == value
    assert Reduce(fn, "m", X).axes == ()


def kind(value):
    return torch.bool if isinstance(value, bool) else torch.float64


def printed_function(text):
    scope = {"torch": torch, "math": math}
    exec(text, scope)
    return next(scope[name] for name in ("_nearest", "_rounded") if name in scope)


def run(pattern, values):
    """What a printed pattern computes from ``values``."""
    names = "abc"[: len(values)]
    scope = {
        "torch": torch,
        "math": math,
        "_div": lambda a, b: a / b,
        "_exp2": lambda a: 2.0**a,
        "_nearest": printed_function(ARITHMETIC["_nearest"]),
        "_rounded": printed_function(ROUNDED),
        "_log2": math.log2,
        "_sqrt": math.sqrt,
        "LOG2E": type("C", (), {"value": 1 / math.log(2)}),
        "LN2": type("C", (), {"value": math.log(2)}),
        **dict(zip(names, values, strict=True)),
    }
    return eval(pattern.format(*names), scope)
