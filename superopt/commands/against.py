"""The winners of a search beside their peers: what ``--against`` adds to its results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path
from typing import Any

from superopt.case import case_record
from superopt.run import CaseRun
from superopt.run import Run
from superopt.spec import Spec
from superopt.tune.bench import GRAPH
from superopt.tune.bench_apart import in_process
from superopt.tune.bench_job import OURS
from superopt.tune.bench_job import BenchJob
from superopt.tune.peers import chosen
from superopt.tune.peers import load_peers
from superopt.tune.timing import PeerTime

ROUNDS = 24
SECONDS = 300.0  # for one case


@dataclass(frozen=True)
class Rivals:
    """Peers that winners are compared with: names (``against``), and the file that declares some
    of them (``file``)."""

    against: tuple[str, ...]
    file: Path | None = None


def check_rivals(rivals: Rivals, spec: Spec) -> None:
    """Whether there are such peers of ``spec``, before anything is searched.

    Raises:
        UserError: the file cannot be read, or a peer is unknown.
    """
    declared = load_peers(rivals.file, spec.name) if rivals.file else {}
    chosen(rivals.against, declared, spec.reference is not None)


def with_peers(run: Run, spec: Spec, rivals: Rivals) -> Run:
    """``run`` with the times of the peers of every case that has a timed winner."""
    found: list[PeerTime] = []
    for result in run.cases:
        if run.kernel is not None and result.winner is not None and result.winner.timed:
            found += _peers(run, result, spec, rivals)
    return replace(run, timing=replace(run.timing, peers=tuple(found)))


def best_peer(run: Run, case: str) -> PeerTime | None:
    """The fastest peer of a case; None if none has a time."""
    timed = [p for p in run.timing.peers if p.case == case and p.us is not None and not p.yardstick]
    return min(timed, key=lambda p: p.us or 0.0, default=None)


def _peers(run: Run, result: CaseRun, spec: Spec, rivals: Rivals) -> list[PeerTime]:
    assert run.kernel is not None
    case = result.case
    declared = load_peers(rivals.file, spec.name) if rivals.file else {}
    job = BenchJob(
        kernel=str(run.kernel.resolve()),
        function=spec.name,
        spec=f"{Path(spec.file).resolve()}:{spec.name}",
        program="",
        case=case_record(case),
        against=chosen(rivals.against, declared, spec.reference is not None),
        peers=str(rivals.file.resolve()) if rivals.file else "",
        modes=(GRAPH,),
        rounds=ROUNDS,
        target=run.target,
        skip={},
    )
    answer = in_process(job, SECONDS)
    rows = [r for r in answer.get("rows", ()) if r["name"] != OURS]
    if not rows:
        why = answer.get("problem") or "no figures"
        rows = [{"name": name, "mode": GRAPH, "failed": why} for name in job.against]
    return [_peer(case.name, row) for row in rows]


def _peer(case: str, row: Mapping[str, Any]) -> PeerTime:
    """A row of the contest; a peer that is wrong has no time either."""
    why = row.get("failed") or (f"wrong: {row['wrong']}" if row.get("wrong") else "")
    names = ("us", "low", "high", "ratio", "ratio_low", "ratio_high")
    found = {n: None if why else row.get(n) for n in names}
    if any(v is None for v in found.values()):
        found = dict.fromkeys(names)
        why = why or "no time of the kernel in the same rounds"
    return PeerTime(
        case=case,
        mode=row["mode"],
        name=row["name"],
        why=why,
        yardstick=not row.get("checked", True),
        **found,
    )
