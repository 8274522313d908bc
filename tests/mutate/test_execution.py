"""The loss of digits is found where a text is executed, and nowhere else."""

from __future__ import annotations

from superopt.mutate.execution import executed
from superopt.mutate.judge import EXECUTION
from superopt.mutate.judge import outcome
from superopt.mutate.outcome import SURVIVED
from superopt.mutate.source import source_mutants
from superopt.verify.run.checks import Figure
from superopt.verify.run.checks import FloatReport
from superopt.verify.run.execute import Runner
from tests.mutate.subjects import subject


def test_a_partial_state_in_fp16_is_found_by_execution():
    one = subject("decode", 0)
    (mutant,) = [
        m
        for m in source_mutants(one.text, one.function, 0)
        if m.kind == "cast" and m.before == "torch.float32"
    ]
    assert outcome(one, mutant).by == SURVIVED
    with Runner() as runner:
        found = outcome(one, mutant, floats=lambda text: executed(one, [one.graph], text, runner))
    assert found.by == EXECUTION
    assert "fp32" in found.said


def test_a_call_at_which_the_kernel_itself_is_wrong_says_nothing(monkeypatch):
    one = subject("distances", 0)

    def figure(label, text):
        return Figure(label, "fp16", 0, (("m", 3),), "out", 1.0, 1.0, 0.1, 0.1, False, text)

    def check(file, *_, stop_early, **__):
        wrong = [figure("outlier", "anyway")]
        if file.read_text() == "mutant":
            wrong.append(figure("ordinary", "by the change"))
        return FloatReport(tuple(wrong[:1] if stop_early else wrong))

    monkeypatch.setattr("superopt.mutate.execution.check_floats", check)
    with Runner() as runner:
        assert "by the change" in executed(one, [one.graph], "mutant", runner)
        assert executed(one, [one.graph], "the same", runner) == ""
