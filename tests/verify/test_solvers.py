"""A second solver, which shares no code with the first, proves what is stored; what it cannot is
listed here, and the list is exact."""

from __future__ import annotations

import pytest

from superopt.certificate import read_questions
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.verify.judge import judge
from superopt.verify.questions import kept
from superopt.verify.readings import judge_file
from superopt.verify.run.sizes import small_configs
from superopt.verify.run.sizes import small_sizes
from superopt.verify.solvers import again
from superopt.verify.solvers import solver_of
from superopt.verify.solvers import substituted
from tests import samples

KERNELS = {
    "causal attention": (samples.attention(True), samples.online_attention(True)),
    "norm and product": (samples.rms_linear(), samples.rms_linear_one_walk()),
}

# What cvc5 does not know within its limit of a kernel from a search: claim, and why.
WIDE = "integers of large coefficients (tiles of 16384) keep its simplex branching"
OPEN = {
    "softmax_g0_k0: loads of x in bounds": WIDE,
    "softmax_g0_k0: stores of out in bounds": WIDE,
}


def questions_of(program, graph):
    sizes = small_sizes(graph)
    row = Row("case", 0, small_configs(graph, sizes), tuple(sizes.items()), "fp16", False)
    text = emit(program, [graph], [row], Header())
    with kept() as found:
        assert judge(program, graph).accepted
    read = judge_file(text, program, [graph])
    assert not read.wanting()
    return [*found.values(), *read.questions]


@pytest.mark.parametrize("name", KERNELS)
def test_cvc5_proves_what_z3_proved(name):
    questions = questions_of(*KERNELS[name])
    assert sum(q.answer == "unsat" for q in questions) > 20
    assert again(questions, solver_of("cvc5")) == []


def test_cvc5_proves_what_a_search_stored_but_for_the_listed(searched):
    failed = again(read_questions(searched.kernel), solver_of("cvc5"))
    assert {answer for _, answer in failed} == {"unknown"}
    assert {q.claim for q, _ in failed} == set(OPEN)


@pytest.mark.parametrize(
    ("second", "answer"), [("(= y 3)", "unsat"), ("(= y 4)", "sat"), ("(> y 4)", "sat")]
)
def test_what_is_equal_may_be_substituted_first(second, answer):
    head = "(set-logic QF_LIA)\n(declare-const x Int)\n(declare-const y Int)\n"
    script = f"{head}(assert (= y (* 2 x)))\n(assert {second})\n(check-sat)\n"
    assert substituted(script, 1_000_000) == answer
