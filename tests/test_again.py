from __future__ import annotations

from dataclasses import replace

from superopt.again import NO_REPAIR
from superopt.again import laws_of
from superopt.again import prove_again
from superopt.again import unexplained
from superopt.assemble import _failed
from superopt.certificate import Certificate
from superopt.verify.readings import FileReading
from superopt.verify.run.checks import Figure
from superopt.verify.run.checks import FloatReport
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from tests import samples

GRAPH = samples.two_pass_softmax()
STEPS = ("factor_out_of_sum: a  ->  b", "exponentials in base two: exp(x)  ->  exp2(x)")
CLAIMS = Certificate(samples.row_softmax(), (GRAPH,), ((),), (), (), {}, 0, derivations=(STEPS,))
FIGURE = Figure("ordinary", "fp32", 0, (), "out", 0, 0, 1, 1, True)
READ = FileReading(((("text equals spec", Sampled(3, -80.0)),),))


def test_a_step_names_its_law_and_lowering_names_all_of_its_laws():
    found = laws_of([*STEPS, STEPS[0]])
    assert found[:2] == ["factor_out_of_sum", "exponential_in_base_two"]
    assert "constants_are_inverse" in found
    assert len(found) == len(set(found))
    assert laws_of([]) == []


def test_graphs_and_laws_are_proved_again_with_their_questions():
    proofs = prove_again(CLAIMS)
    assert isinstance(dict(proofs.graphs[0])["graph equals spec"], Sampled)
    assert all(isinstance(verdict, Proved) for _, verdict in proofs.laws)
    assert {q.claim for q in proofs.questions} >= {"law factor_out_of_sum"}
    # The sample's walk is repaired, and the certificate here says of no repair.
    moved = unexplained(GRAPH, ())
    assert moved
    assert proofs.wanting == [(0, (f"moves of {c}", Unknown(NO_REPAIR))) for c in moved]


def test_a_law_that_is_not_proved_is_wanting_for_every_graph():
    proofs = replace(prove_again(CLAIMS), graphs=(), laws=(("law x", Unknown("why")),))
    assert proofs.wanting == [(None, ("law x", Unknown("why")))]
    assert _failed(READ, proofs, FloatReport((FIGURE,))) == (None, "law x: unknown: why")


def test_the_first_no_about_a_file_names_its_graph():
    proofs = replace(prove_again(CLAIMS), graphs=())
    good, bad = FloatReport((FIGURE,)), FloatReport((replace(FIGURE, ok=False, message="off"),))
    assert _failed(READ, proofs, good) is None
    assert _failed(READ, proofs, FloatReport(())) == (None, "nothing could be executed")
    at, why = _failed(READ, proofs, bad)
    assert (at, why.endswith("off")) == (0, True)
    memory = "f_g1_k0: loads of x in bounds"
    read = FileReading((*READ.claims, ((memory, Refuted((), "line 3")),)))
    at, why = _failed(read, proofs, bad)
    assert (at, why.startswith(memory)) == (1, True)
    unknown = FileReading((*READ.claims, ((memory, Unknown("line 3")),)))
    assert _failed(unknown, proofs, good) is None
    assert unknown.open == (f"open, {memory}: unknown: line 3",)
    weak = FileReading(((("text equals spec", Sampled(1, -20.0)),),))
    assert _failed(weak, proofs, good)[0] == 0
