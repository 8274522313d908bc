"""What a certificate lacks is named; ``tests/commands/test_verify.py`` asks it of whole files."""

from __future__ import annotations

from dataclasses import replace

from superopt.again import NO_PROOFS
from superopt.again import Proofs
from superopt.certificate import Certificate
from superopt.complete import lacking
from superopt.emit.module import plans
from superopt.emit.plan import Row
from superopt.ugraph.levels import Config
from superopt.verify.questions import SAT
from superopt.verify.questions import UNSAT
from superopt.verify.questions import Question
from superopt.verify.readings import NO_SOLVER
from superopt.verify.readings import FileReading
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Sampled
from tests.emit.cases import CASES

CASE = CASES["softmax"]()
GRAPH = CASE.graphs[1]
BOUND = next(iter(CASE.sizes))
EQUAL, TEXT, MEMORY = "graph equals spec", "text equals spec", "softmax_g0_k0: loads of x in bounds"
SEEN, PROVED = Sampled(16, -80.0), Proved("z3")
ROWS = tuple(
    Row("one", 0, (Config((("n", tile),)),), tuple(BOUND.items()), target=target)
    for tile, target in ((64, "sm_90"), (32, "sm_80"))
)
PROOFS = Proofs(
    (((EQUAL, SEEN),),),
    (("law swap", PROVED),),
    (Question("law swap", "a", UNSAT), Question("law swap", "b", UNSAT), Question("c", "d", SAT)),
)
READ = FileReading((((TEXT, SEEN), (MEMORY, PROVED)),), (Question(MEMORY, "e", UNSAT),))
STORED = tuple(q for q in (*PROOFS.questions, *READ.questions) if q.answer == UNSAT)


class Named:
    """As much of a case as is asked for."""

    def __init__(self, name: str) -> None:
        self.name = name


def whole(**changes) -> Certificate:
    found = Certificate(
        program=CASE.program,
        graphs=(GRAPH,),
        repairs=((),),
        rows=ROWS,
        tuned=((0, ROWS[0].configs),),
        scalars={},
        seed=0,
        verdicts={"one": [(EQUAL, SEEN), (TEXT, SEEN), (MEMORY, PROVED)]},
        laws=[("law swap", PROVED)],
        executed=("fp32 ordinary",),
        cases=(Named("one"),),
    )
    return replace(found, **changes)


def said(claims: Certificate, stored=STORED, same=True, text=None, proofs=PROOFS, read=READ):
    return lacking(claims, plans(ROWS) if text is None else text, proofs, read, stored, same)


def test_a_whole_certificate_lacks_nothing():
    assert said(whole()) == []


def test_rows_are_compared_both_ways():
    (listed,) = said(whole(rows=ROWS[:1]))
    assert listed.startswith("the file's row Plan('one', 0, (Launch({'n': 32}")
    (printed,) = said(whole(), text=plans(ROWS[:1]))
    assert printed.startswith("a file with the row Plan('one', 0, (Launch({'n': 32}")
    assert len(said(whole(), text="x = 1\n")) == len(ROWS)


def test_a_further_case_needs_claims_configs_and_sizes_of_its_own():
    rows = (*ROWS, replace(ROWS[0], name="two", configs=(Config((("n", 16),)),)))
    found = said(whole(rows=rows), text=plans(rows))
    assert found[:2] == ["an execution with the Configs of case two", "the sizes of case two"]
    assert found[2:] == [f"the claim {c!r} of case two" for c in (EQUAL, TEXT, MEMORY)]


def test_another_word_is_wrong_and_another_bound_is_not():
    told = {"one": [(EQUAL, Sampled(99, -70.0)), (TEXT, Proved("z3")), (MEMORY, PROVED)]}
    (found,) = said(whole(verdicts=told))
    assert found.endswith(f"the claim {TEXT!r} of case one says Proved and should say Sampled")


def test_stored_proofs_are_counted_for_this_verifier_and_named_for_another():
    assert said(whole(), STORED[1:]) == ["1 stored proof of law swap"]
    assert said(whole(), STORED[1:], same=False) == []
    assert said(whole(), STORED[2:], same=False) == ["2 stored proofs of law swap"]


def test_without_a_solver_no_proofs_are_needed():
    bare = whole(laws=[], verdicts={"one": [(EQUAL, SEEN), (TEXT, SEEN)]})
    assert len(said(bare, ())) == 4  # memory, a law, and the questions of both
    assert said(replace(bare, not_executed=(NO_SOLVER,)), ()) == []
    assert NO_PROOFS.wanting == []


def test_something_was_executed():
    assert said(whole(executed=())) == ["executions"]
