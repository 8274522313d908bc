"""The process of one case. It loads its modules, then reads from standard input which job it has:
one line, a JSON list of the files of the job and of the answer.

It writes its answer when it ends, and before that who is at work to a file beside it (``.now``),
so that its parent knows which contender a crash or a hang belongs to.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from superopt.case import case_from
from superopt.device import TARGETS
from superopt.loading import load as load_specs
from superopt.tune.bench import Clock
from superopt.tune.bench import reason
from superopt.tune.bench_job import OURS
from superopt.tune.bench_job import BenchJob
from superopt.tune.bench_job import row_record
from superopt.tune.contest import Contest
from superopt.tune.contest import Result
from superopt.tune.contest import hold
from superopt.tune.orphan import end_with_parent
from superopt.tune.peers import GENERIC
from superopt.tune.peers import Peer
from superopt.tune.peers import generic
from superopt.tune.peers import load_peers
from superopt.tune.series import Series
from superopt.ugraph.levels import Program
from superopt.ugraph.parse import parse_as
from superopt.verify.run.run_kernel import load


def main() -> None:
    """Reads the job, holds the contest on the GPU, writes the answer."""
    end_with_parent()
    import torch._dynamo
    import triton  # noqa: F401 (slow to load, like the one above)

    from superopt.tune.clock import CudaClock

    if not (line := sys.stdin.readline()):
        return  # the parent has no further job
    # A compiled peer that is compiled too often would be run uncompiled without a word.
    torch._dynamo.config.fail_on_recompile_limit_hit = True
    asked, answer = map(Path, json.loads(line))
    job = BenchJob.of(json.loads(asked.read_text()))
    now = answer.with_name(answer.name + ".now")
    try:
        found = run(job, "cuda", CudaClock(), lambda name: _replace(now, name))
    except Exception as error:  # the device, or the kernel's own call: the parent decides
        _replace(answer, json.dumps({"broken": reason(error)}))
        raise
    _replace(answer, json.dumps(found))


def run(
    job: BenchJob, device: str, clock: Clock, started: Callable[[str], None] = lambda name: None
) -> dict[str, Any]:
    """The answer to ``job``: of the case, and one row for each contender and mode."""
    if job.spec:
        (spec,) = load_specs(job.spec)
        program, reference = spec.program, spec.reference
    else:
        program, reference = parse_as(Program, job.program), None
    case = case_from(job.case)
    declared = load_peers(Path(job.peers), job.function) if job.peers else {}
    order = [p.name for p in program.params]
    peers: list[Peer] = []
    for name in job.against:
        if name in job.skip:
            continue
        if name not in GENERIC:
            peers.append(declared[name])
        elif reference is not None:
            peers.append(generic(name, reference, order))
    torch.backends.cuda.matmul.allow_tf32 = case.tf32  # the same leave for the peers
    started(OURS)
    contest = Contest(program, case, device, TARGETS[job.target])
    result = hold(contest, load(job.kernel), peers, job.modes, job.rounds, clock, started)
    return answer_record(job, result)


def answer_record(job: BenchJob, result: Result) -> dict[str, Any]:
    """The result of a case as JSON."""
    ours = {r.mode: r.series for r in result.rows if r.name == OURS}
    rows = [row_record(r.mode, r.series, ours[r.mode], r.wrong, r.checked) for r in result.rows]
    for name, why in job.skip.items():
        rows += [row_record(m, Series(name, (), why), None, "", True) for m in ours]
    roof = result.roofline
    for row in rows:
        if "us" in row:
            row |= {"rate": roof.rate(row["us"]), "unit": roof.unit, "share": roof.share(row["us"])}
    check = result.check
    error, limit = check.error or (float("inf"), 0.0)
    return {
        "check": {"problem": check.problem, "error": _finite(error), "limit": limit},
        "roofline": {"us": roof.us, "bound": roof.bound, **asdict(roof.work)},
        "sets": result.sets,
        "rows": rows,
    }


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None


def _replace(file: Path, text: str) -> None:
    """Writes a file such that a reader sees the old text or the new one."""
    part = file.with_name(file.name + ".part")
    part.write_text(text)
    part.replace(file)


if __name__ == "__main__":
    main()
