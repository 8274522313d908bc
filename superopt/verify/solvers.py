"""Stored questions asked again, of z3 or of a second solver that shares no code with it.

Both are bounded by counts of their own work, not by time, so that answers are repeatable.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable

from superopt.errors import UserError
from superopt.verify.questions import UNSAT
from superopt.verify.questions import Question

Asks = Callable[[str], str]  # a script -> unsat, sat or unknown

Z3 = "z3"
CVC5 = "cvc5"
Z3_LIMIT = 8_000_000  # twice what a search allows: texts are not simplified as terms are
CVC5_LIMIT = 400_000
SUBSTITUTES = ("simplify", "solve-eqs", "lia2card", "simplify")


def again(questions: Iterable[Question], ask: Asks) -> list[tuple[Question, str]]:
    """The questions that were answered by unsat and are not any more, each with the answer now."""
    found = []
    for question in questions:
        if question.answer == UNSAT and (answer := ask(question.smt2)) != UNSAT:
            found.append((question, answer))
    return found


def solver_of(name: str) -> Asks:
    """What answers a script by unsat, sat or unknown.

    Raises:
        UserError: there is no such solver, or it is not installed.
    """
    known = {Z3: _z3, CVC5: _cvc5}
    if name not in known:
        raise UserError(f"--solver {name}: there are {', '.join(known)}")
    try:
        return known[name]()
    except ModuleNotFoundError as error:
        raise UserError(f"--solver {name}: is not installed: pip install {error.name}") from error


def substituted(smt2: str, rlimit: int) -> str:
    """What z3 says of a script of linear arithmetic once what is equal is substituted and what has
    a few values (which consumer it is) is a choice between them. That settles at once much that
    it searches long for without. (The solver that z3 would choose limits its steps by time.)"""
    import z3

    context = z3.Context()
    goal = z3.Goal(ctx=context)
    goal.add(z3.parse_smt2_string(smt2, ctx=context))
    (left,) = z3.Then(*SUBSTITUTES, ctx=context)(goal)
    solver = z3.SimpleSolver(ctx=context)
    solver.set("ctrl_c", False)
    solver.set("rlimit", rlimit)
    solver.add(left)
    return str(solver.check())


def _z3() -> Asks:
    import z3

    def ask(smt2: str) -> str:
        linear = "(set-logic QF_LIA)" in smt2
        if linear and (said := substituted(smt2, Z3_LIMIT)) == UNSAT:
            return said
        context = z3.Context()  # its own, so that no earlier question matters
        solver = z3.SimpleSolver(ctx=context) if linear else z3.Solver(ctx=context)
        solver.set("ctrl_c", False)
        solver.set("rlimit", Z3_LIMIT)
        solver.from_string(smt2)
        return str(solver.check())

    return ask


def _cvc5() -> Asks:
    import cvc5

    def ask(smt2: str) -> str:
        solver = cvc5.Solver()
        solver.setOption("rlimit", str(CVC5_LIMIT))
        parser = cvc5.InputParser(solver)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, smt2, "question")
        symbols = parser.getSymbolManager()
        answer = "unknown"
        while not (command := parser.nextCommand()).isNull():
            answer = next(iter(str(command.invoke(solver, symbols)).split()), answer)
        return answer

    return ask
