"""Kernels with recurrences are judged as any other: by their graph, text and repairs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from superopt.repair.apply import repair
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.check import check
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import ONE
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.scalar import Fn
from superopt.verify.field.graphs import Comparison
from superopt.verify.field.graphs import verify_graph
from superopt.verify.field.trials import trial
from superopt.verify.field.trials import trials
from superopt.verify.judge import judge
from superopt.verify.readings import CLAIM
from superopt.verify.readings import judge_file
from superopt.verify.readings import judge_text
from superopt.verify.readings import of_memory
from superopt.verify.source.load import read_text
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from tests.emit import recurrence_cases as cases
from tests.samples import add
from tests.samples import exp
from tests.samples import largest
from tests.samples import mul
from tests.samples import num
from tests.samples import rsqrt
from tests.samples import sub
from tests.samples import total

A, R = Input("a", ("n",)), Input("r", ())
K, V = Input("k", ("n", "d")), Input("v", ("n", "e"))


@cache
def delta() -> tuple[Program, KernelGraph, str]:
    """A printed delta rule: its program, its graph and its text."""
    case = cases.delta_case()
    (graph,) = case.graphs
    return case.program, graph, case.text()


def test_the_text_of_a_recurrence_is_its_program_and_keeps_to_its_memory():
    program, graph, text = delta()
    (claims,) = judge_file(text, program, [graph]).claims
    assert isinstance(dict(claims)[CLAIM], Sampled)
    assert all(isinstance(v, Proved) for c, v in claims if of_memory(c))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("range(0, n_size)", "range(1, n_size)"),
        ("range(0, n_size)", "range(0, n_size - 1)"),
        ("n_first * k_stride_n", "0 * k_stride_n"),
        ("state0 = ((", "state0 = state0 + (("),
        ("state0 = mul_", "state0 = 2 * mul_"),
    ],
)
def test_a_text_that_takes_other_steps_is_refuted(old: str, new: str):
    program, graph, text = delta()
    assert text.count(old) == 1
    broken = read_text(text.replace(old, new), program.name)
    assert isinstance(dict(judge_text(broken, program, graph))[CLAIM], Refuted)


def test_a_text_that_reads_before_its_step_is_refuted():
    program, graph, text = delta()
    lines = text.splitlines()
    (at,) = (i for i, line in enumerate(lines) if line.lstrip().startswith("state0 = (("))
    (behind,) = (i for i, line in enumerate(lines) if "tl.store(read_tile" in line)
    lines.insert(behind, lines.pop(at))
    broken = read_text("\n".join(lines) + "\n", program.name)
    assert isinstance(dict(judge_text(broken, program, graph))[CLAIM], Refuted)


@pytest.mark.parametrize("part", range(4))
def test_a_graph_with_another_step_is_refuted(part: int):
    program, graph, _ = delta()
    (block,) = graph.kernels
    (walk,) = block.walks
    (carry,) = walk.carries
    states = carry.recurrence(last=False)
    others = (ONE, cases.V, ONE, ONE)
    args = tuple(others[i] if i == part else a for i, a in enumerate(states.args))
    other = Recur("n", states.along, args)
    (store,) = walk.stores
    value = total("d", mul(cases.Q, other))
    wrong = replace(
        walk, carries=(replace(carry, term=other),), stores=(replace(store, value=value),)
    )
    made = replace(graph, kernels=(replace(block, walks=(wrong,)),))
    assert check(made) == []
    assert isinstance(verify_graph(program, graph, 0), Sampled)
    assert isinstance(verify_graph(program, made, 0), Refuted)


def test_every_position_may_bring_a_root_and_a_decay_with_a_logarithm():
    """Three positions leave enough points, eight do not; the reason is then the roots."""
    key = mul(K, rsqrt(total("d", mul(K, K))))
    decay = exp(mul(num(-1), mul(exp(R), Map(Fn.LOG, (add(num(1), exp(A)),)))))
    states = Recur("n", (("d",),), (decay, mul(key, V), mul(num(-1), key), mul(decay, key)))
    stores = (Store("out", ("d", "e"), "fp32", replace(states, last=True)),)
    program = Program("p", (A, K, R, V), stores)
    places: tuple[tuple[str, Place], ...] = (
        ("n", Loop(tiled=False)),
        ("d", Whole()),
        ("e", Grid()),
    )
    block = fuse(stores, places, (Turn("e"),), groupings(stores, ["n"])[0])
    graph = KernelGraph("p", program.params, ("out",), (block,))
    assert isinstance(verify_graph(program, graph, 0), Sampled)
    other = replace(states, args=(*states.args[:3], key), last=True)
    wrong = replace(program, outputs=(replace(stores[0], value=other),))
    assert not isinstance(verify_graph(wrong, graph, 0), Sampled)
    assert {t.size["n"] for t in trials(program, graph)} == {0, 1, 3}
    longer = trial("longer", graph, {"n": 8, "d": 2, "e": 3}, 2, 2)
    verdict = Comparison(program, graph, longer, 0, -60.0).verdict()
    assert isinstance(verdict, Unknown)
    assert "8 square roots" in verdict.why


def test_a_softmax_of_what_is_read_shares_the_walk_by_a_proved_repair():
    g, q, v = Input("g", ("n", "d")), Input("q", ("n", "d")), Input("v", ("n", "e"))
    states = Recur("n", (), (g, mul(q, v)))
    read = total("d", mul(q, states))
    value: Node = total("n", mul(exp(sub(read, largest("n", read))), v))
    stores = (Store("out", ("e",), "fp32", value),)
    program = Program("p", (g, q, v), stores)
    places: tuple[tuple[str, Place], ...] = (
        ("n", Loop(tiled=False)),
        ("d", Whole()),
        ("e", Grid()),
    )
    block, repairs = repair(fuse(stores, places, (Turn("e"),), groupings(stores, ["n"])[0]))
    assert [len(walk.carries) for walk in block.walks] == [3]
    graph = KernelGraph("p", program.params, ("out",), (block,))
    verdicts = dict(judge(program, graph, repairs, 0).verdicts)
    (equality,) = (v for v in verdicts.values() if not isinstance(v, Proved))
    assert isinstance(equality, Sampled)
    assert len(verdicts) == 8
