from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest

from superopt.rewrite.forms import Form
from superopt.rewrite.forms import forms
from superopt.rewrite.rank import contraction
from superopt.rewrite.rule import RULES
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
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import topo
from superopt.ugraph.walk import transform
from tests import samples
from tests.samples import div
from tests.samples import exp
from tests.samples import largest
from tests.samples import mul
from tests.samples import sub
from tests.samples import total

PROGRAMS = {
    "attention": samples.attention,
    "causal": lambda: samples.attention(causal=True),
    "softmax": samples.row_softmax,
    "rms_linear": samples.rms_linear,
    "lora": samples.lora,
}


def found(program: Program, limit: int = 8) -> list[Form]:
    return forms(canonical(program)[0], limit)


def folds_inside(node: Node) -> list[Reduce]:
    return [n for n in topo([node]) if isinstance(n, Reduce)]


@pytest.mark.parametrize("causal", [False, True])
def test_the_division_of_softmax_is_delayed(causal: bool) -> None:
    wanted = canonical(samples.attention_delayed(causal))[0]
    met = found(samples.attention(causal))
    assert wanted in [f.program for f in met]
    assert met[0].passes == 2
    assert next(f for f in met if not f.steps).passes == 3


def test_the_division_is_also_delayed_without_guards() -> None:
    s = samples.scores()
    e = exp(sub(s, largest("n", s)))
    out = total("n", mul(div(e, total("n", e)), samples.V))
    program = Program(
        "plain", (samples.Q, samples.K, samples.V), (Store("out", ("b", "h", "m", "e"), None, out),)
    )
    best = found(program)[0]
    assert best.passes == 2
    assert [s.law for s in best.steps] == ["divide_sum_guarded"]


def test_the_scale_of_a_norm_moves_behind_the_matmul() -> None:
    best = found(samples.rms_linear())[0]
    (store,) = best.program.outputs
    assert best.passes == 1
    assert isinstance(store.value, Map)
    assert store.value.fn is Fn.MUL
    fold = next(a for a in store.value.args if isinstance(a, Reduce))
    assert contraction(fold) is not None
    assert not [n for n in topo([fold.arg]) if isinstance(n, Reduce)]


def test_a_rounding_moves_past_an_extremum_and_nowhere_else() -> None:
    x = Input("x", ("m", "n"))
    rounded = Map(Fn.ROUND_E4M3, (x,))
    for fold, law in ((Fn.MAX, "round_e4m3_out_of_maximum"), (Fn.ADD, None)):
        store = Store("out", ("m",), None, Reduce(fold, "n", rounded))
        met = found(Program("plain", (x,), (store,)))
        assert {s.law for f in met for s in f.steps} == ({law} if law else set())


def test_both_associations_of_a_low_rank_update() -> None:
    programs = [f.program for f in found(samples.lora())]
    x_first = [p for p in programs if _has_low_rank(p)]
    merged = [p for p in programs if not _has_low_rank(p)]
    assert x_first
    assert any(isinstance(p.outputs[0].value, Reduce) for p in merged)


def _has_low_rank(program: Program) -> bool:
    """Whether some value has the axes of x @ a (a row of x by the rank)."""
    x, _, a, _ = program.params
    assert isinstance(x, Input)
    assert isinstance(a, Input)
    axes = tuple(sorted((x.order[0], a.order[1])))
    return any(n.axes == axes for n in folds_inside(program.outputs[0].value))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("limit", [1, 3, 8])
def test_what_was_written_is_among_the_forms(name: str, limit: int) -> None:
    program = canonical(PROGRAMS[name]())[0]
    met = forms(program, limit)
    assert len(met) <= limit
    assert program in [f.program for f in met]
    assert len({f.program for f in met}) == len(met)
    ranks = [(f.passes, f.work, f.read) for f in met]
    assert ranks == sorted(ranks) or met[-1].program == program


@pytest.mark.parametrize("name", PROGRAMS)
def test_forms_keep_values(name: str) -> None:
    program = canonical(PROGRAMS[name]())[0]
    rng = np.random.default_rng(0)
    domain = FloatDomain(np.float64)
    met = forms(program, 12)
    names = sorted({a for n in topo(s.value for s in program.outputs) for a in n.axes})
    for first in (2, 1):
        sizes = {a: first + i for i, a in enumerate(names)}
        arrays = {
            p.name: rng.normal(size=[sizes[a] for a in p.order])
            for p in program.params
            if isinstance(p, Input)
        }
        want = evaluate_program(program, domain, arrays, sizes)
        for form in met:
            got = evaluate_program(form.program, domain, arrays, sizes)
            for key, value in want.items():
                np.testing.assert_allclose(got[key], value, rtol=1e-9, atol=1e-12)


def test_a_mean_over_nothing_does_not_reach_the_result() -> None:
    """The scale is undefined for k = 0; behind the matmul it is guarded."""
    program = canonical(samples.rms_linear())[0]
    sizes = {"a0": 2, "a1": 0, "a2": 3}
    arrays = {"t0": np.zeros((2, 0)), "t1": np.zeros(0), "t2": np.zeros((0, 3))}
    for form in forms(program, 4):
        got = evaluate_program(form.program, FloatDomain(np.float64), arrays, sizes)
        assert np.array_equal(next(iter(got.values())), np.zeros((2, 3)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_operand_order_does_not_matter(name: str) -> None:
    program = PROGRAMS[name]()
    turned = transform([s.value for s in program.outputs], _turn)
    other = Program(
        program.name,
        program.params,
        tuple(Store(s.name, s.order, s.dtype, turned[s.value]) for s in program.outputs),
    )
    assert other != program
    assert [f.program for f in found(other)] == [f.program for f in found(program)]
    assert [f.steps for f in found(other)] == [f.steps for f in found(program)]


def _turn(node: Node) -> Node:
    if isinstance(node, Map) and node.fn.value.commutative:
        return Map(node.fn, node.args[::-1])
    return node


@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_name_laws(name: str) -> None:
    for form in found(PROGRAMS[name]()):
        for step in form.steps:
            assert step.law in RULES
            assert step.before != step.after


def test_forms_are_found_in_two_seconds() -> None:
    for make in PROGRAMS.values():
        program = canonical(make())[0]
        start = time.process_time()
        forms(program, 8)
        assert time.process_time() - start < 2.0


def test_sizes_decide_between_forms() -> None:
    """A small rank pays only while x has few rows."""
    program = canonical(samples.lora())[0]
    m, k, n, r = "a0", "a1", "a2", "a3"
    few = forms(program, 1 + 8, sizes={m: 1, k: 4096, n: 4096, r: 4096})
    assert _has_low_rank(few[0].program)
    many = forms(program, 1 + 8, sizes={m: 65536, k: 256, n: 256, r: 256})
    assert not _has_low_rank(many[0].program)


def test_a_spec_that_divides_by_a_size_says_so() -> None:
    (form, *_) = found(samples.attention())
    assert form.assumes == ("a3",)
    assert found(samples.lora())[0].assumes == ()


@pytest.mark.parametrize("fold", [Fn.ADD, Fn.MAX, Fn.MUL])
def test_whole_numbers_that_were_made_real_stay_real(fold: Fn) -> None:
    whole = Input("i", ("m", "n"), "int32")
    real = div(whole, Const(Fraction(1)))
    for term in (real, mul(real, Const(Fraction(3))), mul(real, real)):
        program = Program("p", (whole,), (Store("out", ("m",), "fp32", Reduce(fold, "n", term)),))
        for form in forms(program, 8):
            folds = [n for n in topo([form.program.outputs[0].value]) if isinstance(n, Reduce)]
            assert all(n.kind is Kind.REAL for n in folds)
