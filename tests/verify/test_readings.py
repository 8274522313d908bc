"""Which claims a printed text gets, and that none is timed or shipped without them."""

from __future__ import annotations

import sys

import pytest

from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.verify import readings
from superopt.verify.readings import judge_file
from superopt.verify.readings import judge_text
from superopt.verify.readings import of_memory
from superopt.verify.readings import together
from superopt.verify.run.sizes import small_configs
from superopt.verify.run.sizes import small_sizes
from superopt.verify.source.load import read_text
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import accepted
from tests import samples

PROGRAM = samples.row_softmax()
GRAPHS = (samples.two_pass_softmax(),) * 2


def printed(graphs=GRAPHS):
    rows = []
    for index, graph in enumerate(graphs):
        sizes = small_sizes(graph)
        configs = small_configs(graph, sizes)
        rows.append(Row(f"case{index}", index, configs, tuple(sizes.items()), "fp16", False))
    return emit(PROGRAM, graphs, rows, Header())


TEXT = printed()


def broken(old, new):
    assert old in TEXT
    return TEXT.replace(old, new)


def test_every_graph_gets_its_own_claims():
    found = judge_file(TEXT, PROGRAM, GRAPHS)
    assert found.wanting() == []
    assert found.solver
    for index, claims in enumerate(found.claims):
        assert claims[0][0] == readings.CLAIM
        assert isinstance(claims[0][1], Sampled)
        assert any("in float64" in fact for fact in claims[0][1].facts)
        memory = [(c, v) for c, v in claims if of_memory(c)]
        assert all(isinstance(v, Proved) for _, v in memory)
        assert all(f"_g{index}_k" in c or f"graph {index}" in c for c, _ in memory)
        assert any("in bounds" in c for c, _ in memory)
    assert {q.answer for q in found.questions} == {"unsat"}
    assert all(q.smt2.endswith("(check-sat)\n") for q in found.questions)


@pytest.mark.parametrize(
    ("old", "new", "claim", "kind"),
    [
        ("tl.exp2(", "tl.exp(", readings.CLAIM, Refuted),
        ("float('-inf')", "0.0", readings.ORDER, Refuted),
        ("tl.maximum(", "tl.hypot(", readings.CLAIM, Unknown),
    ],
)
def test_a_wrong_text_lacks_a_claim(old, new, claim, kind):
    old = old if old in TEXT else old.replace("'", '"')
    text = read_text(broken(old, new), PROGRAM.name)
    found = dict(judge_text(text, PROGRAM, GRAPHS[1], 1))
    assert isinstance(found[claim], kind)
    assert not all(map(accepted, found.values()))


def test_wrong_memory_is_a_claim_of_its_graph():
    wrong = broken("mask=m_in", "mask=m_at <= m_size")
    found = judge_file(wrong, PROGRAM, GRAPHS)
    claims = [claim for claims in found.claims for claim in claims]
    assert any(of_memory(claim) and not accepted(verdict) for claim, verdict in claims)
    assert found.wanting()


def test_without_a_solver_nothing_is_said_of_memory(monkeypatch):
    monkeypatch.setitem(sys.modules, "z3", None)
    found = judge_file(TEXT, PROGRAM, GRAPHS)
    assert not found.solver
    assert found.questions == ()
    assert [len(claims) for claims in found.claims] == [1, 1]


def test_a_claim_about_the_whole_file_is_one_about_every_graph():
    assert list(readings._graphs_of("softmax: memory", 3)) == [0, 1, 2]
    assert list(readings._graphs_of("softmax, graph 2: launches", 3)) == [2]
    assert list(readings._graphs_of("softmax_g1_k0_desc: loads of x in bounds", 3)) == [1]


def test_a_graph_that_nobody_judges_is_none_to_dispatch_to():
    """Its kernels would be in no claim at all."""
    read = judge_file(TEXT, PROGRAM, GRAPHS[:1])
    why = Unknown("the file dispatches to graph 1, too")
    assert read.wanting() == [(0, (readings.PLANNED, why))]


def test_equal_verdicts_on_one_function_are_told_together():
    same, other = Proved("z3"), Unknown("why")
    claims = [("graph equals spec", same), ("loop limits of n", same), ("f_g0_k0: a", same)]
    claims += [("f_g0_k0: b", same), ("f_g0_k0: c", other), ("f_g0_k1: c", other)]
    assert list(together(claims)) == [
        ("graph equals spec", same),
        ("loop limits of n", same),
        ("f_g0_k0: a, b", same),
        ("f_g0_k0: c", other),
        ("f_g0_k1: c", other),
    ]
