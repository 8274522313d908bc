"""The reading of functions with roles, inside a worker: seconds each, and there are many."""

from __future__ import annotations

from pathlib import Path

from superopt.verify.readings import Claim
from superopt.verify.readings import judge_roles
from superopt.verify.run.trial import ReadRequest
from superopt.verify.source.load import read_text


def read(request: ReadRequest) -> Claim:
    """What the reading in every order says of the functions with roles."""
    program = request.program
    text = read_text(Path(request.file).read_text(), program.name)
    return judge_roles(text, program, request.graph, request.configs, seed=request.seed)
