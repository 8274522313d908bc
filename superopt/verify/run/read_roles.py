"""The reading of roles that are about to run, inside a worker: seconds each, and there are many."""

from __future__ import annotations

from pathlib import Path

from superopt.verify.readings import judge_roles
from superopt.verify.run.trial import ReadRequest
from superopt.verify.source.load import read_text
from superopt.verify.verdict import accepted
from superopt.verify.verdict import spoken


def read(request: ReadRequest) -> str:
    """Why roles must not run on a device; empty if they may."""
    program = request.program
    text = read_text(Path(request.file).read_text(), program.name)
    claim, verdict = judge_roles(text, program, request.graph, request.configs, seed=request.seed)
    return "" if accepted(verdict) else f"{claim}: {spoken(verdict)}"
