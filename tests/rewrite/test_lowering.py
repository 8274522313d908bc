from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from superopt.rewrite.forms import forms
from superopt.rewrite.lowering import LOG2E
from superopt.rewrite.lowering import lower
from superopt.rewrite.lowering import lowered
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.names import canonical
from superopt.ugraph.node import Const
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo
from tests import samples
from tests.samples import add
from tests.samples import exp
from tests.samples import finite
from tests.samples import largest
from tests.samples import sub
from tests.samples import total

ZERO, LOWEST = Const(Fraction(0)), Const(-INF)


def equal(a: Node, b: Node) -> Node:
    return Map(Fn.EQ, (a, b))


def lse() -> Program:
    s = samples.scores()
    m = finite(largest("n", s))
    value = add(m, Map(Fn.LOG, (total("n", exp(sub(s, m))),)))
    return Program("lse", (samples.Q, samples.K), (Store("lse", ("b", "h", "m"), "fp32", value),))


def sink() -> Program:
    s, extra = samples.scores(True), Input("extra", ("h",), "fp32")
    m = Map(Fn.MAX, (largest("n", s), extra))
    value = add(total("n", exp(sub(s, m))), exp(sub(extra, m)))
    return Program(
        "sink", (samples.Q, samples.K, extra), (Store("z", ("b", "h", "m"), None, value),)
    )


PROGRAMS = {
    "sink": sink,
    "attention": samples.attention,
    "causal": lambda: samples.attention(True),
    "delayed": samples.attention_delayed,
    "softmax": samples.row_softmax,
    "lse": lse,
    "rms_linear": samples.rms_linear,
}


def nodes(program: Program) -> list[Node]:
    return topo(s.value for s in program.outputs)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_stay_and_natural_exponentials_go(name: str) -> None:
    program = PROGRAMS[name]()
    rng = np.random.default_rng(1)
    sizes = {"b": 2, "h": 1, "m": 3, "n": 4, "d": 2, "e": 3, "k": 5}
    arrays = {
        p.name: rng.normal(size=[sizes[a] for a in p.order])
        for p in program.params
        if isinstance(p, Input)
    }
    domain = FloatDomain(np.float64)
    for written in (program, *(f.program for f in forms(program, 4))):
        made = lower(written)
        assert not [n for n in nodes(made) if isinstance(n, Map) and n.fn in (Fn.EXP, Fn.LOG)]
        want = evaluate_program(program, domain, arrays, sizes)
        got = evaluate_program(made, domain, arrays, sizes)
        for key, value in want.items():
            np.testing.assert_allclose(got[key], value, rtol=1e-10)


@pytest.mark.parametrize("name", ["attention", "causal", "delayed", "lse", "sink"])
def test_no_product_an_element_is_added(name: str) -> None:
    program = PROGRAMS[name]()

    def products(p: Program) -> int:
        return sum(
            isinstance(n, Map) and n.fn is Fn.MUL and {"m", "n"} <= set(n.axes) for n in nodes(p)
        )

    assert products(lower(program)) == products(program)


def test_no_fold_is_doubled() -> None:
    for program in (lse(), samples.attention_delayed(), canonical(samples.attention(True))[0]):

        def folds(p: Program) -> int:
            return sum(isinstance(n, Reduce) for n in nodes(p))

        assert folds(lower(program)) == folds(program)


def test_lowering_is_idempotent() -> None:
    once = lower(samples.attention_delayed())
    assert lower(once) == once


def test_a_lowered_form_says_so_and_one_without_exponentials_stays() -> None:
    program, _ = canonical(samples.attention())
    for form in forms(program, 4):
        found = lowered(form)
        assert found.program == lower(form.program)
        assert [s.law for s in found.steps[len(form.steps) :]] == ["exponentials in base two"]
        assert lowered(found) == found
    (plain, *_) = forms(canonical(samples.rms_linear())[0], 4)
    assert lowered(plain) is plain


def test_a_difference_without_a_scale_of_its_own_is_scaled_as_a_whole() -> None:
    """Its terms may be large where it is small; scaled apart, each would be rounded."""
    nodes = topo(s.value for s in lower(samples.row_softmax()).outputs)
    (power,) = {n for n in nodes if isinstance(n, Map) and n.fn is Fn.EXP2}
    (product,) = power.args
    assert isinstance(product, Map)
    assert {a.fn for a in product.args if isinstance(a, Map)} == {Fn.SUB}


def test_a_difference_without_a_scale_is_scaled_as_a_whole() -> None:
    """Two scaled numbers far above their spread would lose what tells them apart."""
    lowered_ = lower(samples.row_softmax())
    powers = [n for n in nodes(lowered_) if isinstance(n, Map) and n.fn is Fn.EXP2]
    assert powers
    for power in powers:
        (scaled,) = power.args
        assert isinstance(scaled, Map)
        assert scaled.fn is Fn.MUL
        assert any(isinstance(a, Map) and a.fn is Fn.SUB for a in scaled.args)


def test_what_is_rounded_keeps_its_maxima() -> None:
    """A maximum in other units is another one to what shows every difference."""
    scores = Map(Fn.MUL, (Input("s", ("m",)), Input("x", ("m", "n"))))
    weights = exp(sub(scores, largest("n", scores)))

    def scaled_below_maxima(value: Node) -> bool:
        program = lower(Program("p", (), (Store("out", ("m", "n"), None, value),)))
        maxima = [n for n in nodes(program) if isinstance(n, Reduce)]
        return LOG2E in topo(maxima)

    assert scaled_below_maxima(weights)
    assert not scaled_below_maxima(Map(Fn.ROUND_E4M3, (weights,)))


@pytest.mark.parametrize(("number", "asked"), [(50, True), (-50, False), (0, False)])
def test_what_a_number_above_zero_scales_is_asked_itself_whether_it_is_infinite(number, asked):
    """Then masked tiles of a softmax whose scale stands behind the maximum have no effect."""
    m = largest("n", samples.scores(True))
    scaled = Map(Fn.MUL, (m, Const(Fraction(number))))
    value = Map(Fn.EXP, (sub(scaled, Map(Fn.WHERE, (equal(scaled, LOWEST), ZERO, scaled))),))
    lowered_ = lower(Program("p", (samples.Q, samples.K), (Store("o", m.axes, None, value),)))
    (test,) = (n for n in nodes(lowered_) if isinstance(n, Map) and n.fn is Fn.EQ)
    assert any(isinstance(a, Reduce) for a in test.args) is asked
