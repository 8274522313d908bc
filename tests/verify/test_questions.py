from __future__ import annotations

import gzip

import pytest
import z3

from superopt.verify.questions import INTEGERS
from superopt.verify.questions import Question
from superopt.verify.questions import about
from superopt.verify.questions import asked
from superopt.verify.questions import kept
from superopt.verify.questions import packed
from superopt.verify.questions import unpacked
from superopt.verify.solvers import again
from superopt.verify.solvers import solver_of

X = z3.Int("size x")


def solver(*facts):
    made = z3.Solver()
    made.add(*facts)
    return made


def test_questions_are_kept_with_what_they_are_about():
    asked(solver(X > 0), INTEGERS)  # nobody wants it
    with kept() as found:
        with about("graph 0"), about("walks of kernel 1"):
            assert asked(solver(X > 0, X < 1), INTEGERS) == z3.unsat
            assert asked(solver(X > 0, X < 1), INTEGERS) == z3.unsat
        assert asked(solver(X > 0), INTEGERS) == z3.sat
    asked(solver(X > 1), INTEGERS)
    first, second = found.values()
    assert first.claim == "graph 0, walks of kernel 1"
    assert first.smt2.startswith("(set-logic QF_LIA)\n(declare-fun |size x| () Int)\n")
    assert first.smt2.endswith("(check-sat)\n")
    assert (first.answer, second.answer) == ("unsat", "sat")
    assert second.claim == ""


def test_a_file_of_questions_holds_them_all_and_is_the_same_each_time():
    script = "(set-logic QF_LIA)\n(declare-const |a b| Int)\n(assert (> |a b| 0))\n(check-sat)\n"
    questions = (Question("f_g0_k0: loads, once", script, "sat"), Question("", script, "unsat"))
    assert unpacked(packed(questions)) == questions
    assert packed(questions) == packed(list(questions))
    assert unpacked(packed(())) == ()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"plain",
        gzip.compress(b"other", mtime=0),
        packed(())[:-9],
        gzip.compress(b"\xff", mtime=0),
    ],
)
def test_what_is_no_such_file_is_refused(data):
    with pytest.raises(ValueError, match=r"file|codec"):
        unpacked(data)


def test_a_script_is_one_for_any_solver():
    with kept() as found:
        asked(solver(z3.Or(X < 0, X > 3), X >= 0, X <= 3), INTEGERS)
        asked(solver(X * 2 == 3), INTEGERS)
    for name in ("z3", "cvc5"):
        assert again(found.values(), solver_of(name)) == []


@pytest.mark.parametrize("name", ["z3", "cvc5"])
def test_an_answer_that_is_another_now_is_told(name):
    with kept() as found:
        asked(solver(X > 0), INTEGERS)
    (question,) = found.values()
    ask = solver_of(name)
    assert ask(question.smt2) == "sat"
    assert again([question], ask) == []  # it was no proof
    claimed = Question("c", question.smt2, "unsat")
    assert again([claimed], ask) == [(claimed, "sat")]


@pytest.mark.parametrize("name", ["z3", "cvc5"])
def test_a_hard_question_ends_in_unknown(name):
    text = "(set-logic QF_NIA)\n(declare-const a Int)(declare-const b Int)(declare-const c Int)\n"
    text += "(assert (= (+ (* a a a) (* b b b) (* c c c)) 114))\n(check-sat)\n"
    assert solver_of(name)(text) == "unknown"
