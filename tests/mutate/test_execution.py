"""The loss of digits is found where a text is executed, and nowhere else."""

from __future__ import annotations

from superopt.mutate.execution import executed
from superopt.mutate.judge import EXECUTION
from superopt.mutate.judge import outcome
from superopt.mutate.outcome import SURVIVED
from superopt.mutate.source import source_mutants
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
