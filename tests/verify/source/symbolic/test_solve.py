"""In what order z3 is asked: briefly at every level of what is said of products, then at length."""

from __future__ import annotations

import pytest

from superopt.verify.source.symbolic import solve
from superopt.verify.source.symbolic.solve import answer

HEAD = "(set-logic QF_LIA)\n(declare-const x Int)\n(declare-const y Int)\n"
UNSAT = HEAD + "(assert (= y (* 2 x)))\n(assert (= y 3))\n(check-sat)\n"
SAT = HEAD + "(assert (= y (* 2 x)))\n(assert (= y 4))\n(check-sat)\n"


def test_what_z3_says():
    assert answer(UNSAT) == "unsat"
    assert answer(SAT) == "sat"


@pytest.mark.parametrize(
    ("brief", "long", "asked", "said"),
    [
        ("unknown unsat", "", "b1 b2", ("2", "unsat")),  # little said is long, more is short
        ("sat unsat", "", "b1 b2", ("2", "unsat")),
        ("unknown unknown", "unknown unsat", "b1 b2 a1 a2", ("2", "unsat")),
        ("unknown unknown", "unsat", "b1 b2 a1", ("1", "unsat")),
        ("sat unknown", "unknown", "b1 b2 a2", ("2", "unknown")),
        ("unsat", "", "b1", ("1", "unsat")),
    ],
)
def test_every_level_is_asked_briefly_before_one_is_asked_at_length(
    monkeypatch, brief, long, asked, said
):
    log = []

    def from_list(word, answers):
        left = answers.split()

        def ask(script):
            log.append(word + script)
            return left.pop(0)

        return ask

    monkeypatch.setattr(solve, "_briefly", from_list("b", brief))
    monkeypatch.setattr(solve, "answer", from_list("a", long))
    assert solve._asked(iter("1122")) == said  # a level that adds nothing is not asked again
    assert " ".join(log) == asked
