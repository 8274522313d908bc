from __future__ import annotations

from superopt.verify.judge import EQUALITY
from superopt.verify.judge import GraphVerdict
from superopt.verify.judge import judge
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from tests import samples


def test_a_right_graph_has_all_its_evidence():
    found = judge(samples.attention(True), samples.online_attention(True))
    assert found.accepted
    names = [name for name, _ in found.verdicts]
    assert names == [EQUALITY, "loop limits of n"]
    assert isinstance(found.verdicts[0][1], Sampled)
    assert isinstance(found.verdicts[1][1], Proved)


def test_a_wrong_graph_is_judged_no_further():
    found = judge(samples.attention(), samples.online_attention(True))
    assert not found.accepted
    ((name, verdict),) = found.verdicts
    assert name == EQUALITY
    assert isinstance(verdict, Refuted)


def test_one_claim_without_evidence_is_enough():
    limits = (("loop limits of n", Unknown("solver")),)
    found = judge(
        samples.attention(True), samples.online_attention(True), judge_limits=lambda block: limits
    )
    assert not found.accepted
    assert found.wanting == limits


def test_a_sample_above_the_limit_is_no_evidence():
    weak = GraphVerdict((("claim", Sampled(1, -20.0)),))
    assert not weak.accepted
    assert GraphVerdict(weak.verdicts, log2_limit=-10.0).accepted


def test_a_repair_needs_its_walk():
    block = samples.online_attention().kernels[0]
    carry = block.walks[0].carries[1]
    from superopt.repair.record import Repair

    repair = Repair("n", carry, (block.walks[0].carries[0],), (carry,), ((None,),), (), carry.state)
    asked = []

    def obligations(one, where, seed):
        asked.append((one, where))
        return [("separation", Proved("z3"))]

    here = judge(
        samples.attention(), samples.online_attention(), (repair,), judge_repairs=obligations
    )
    assert here.accepted
    assert asked == [(repair, block)]
    assert ("repair 0, separation", Proved("z3")) in here.verdicts
    there = judge(
        samples.row_softmax(), samples.two_pass_softmax(), (repair,), judge_repairs=obligations
    )
    assert not there.accepted
