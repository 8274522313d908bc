"""run.json: everything a search found, reproducible byte for byte outside ``timing``.

Graphs are stored as their text, which ``ugraph.text.parse`` turns back into the same graph, so
facts about a winner are computed from the graph and never from prose. Paths are relative to
the directory of the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from superopt.case import case_record
from superopt.errors import UserError
from superopt.repair.stored import repair_record
from superopt.report.directory import FILE
from superopt.run import Candidate
from superopt.run import CaseRun
from superopt.run import Counts
from superopt.run import Run
from superopt.tune.space import Point
from superopt.tune.timing import timing_record
from superopt.ugraph.stored import config_record
from superopt.ugraph.text import show
from superopt.verify.verdict import Verdict

SCHEMA = 1


def read(file: Path) -> dict[str, Any]:
    """The contents of a run.json.

    Raises:
        UserError: missing, damaged, or of another schema.
    """
    try:
        found = json.loads(file.read_text())
    except FileNotFoundError as error:
        where = f"{file.parent}: holds no run of superopt (no {file.name})"
        raise UserError(f"{where}; name a run's directory, or the kernel file in it") from error
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{file}: is no JSON: {error}") from error
    if not isinstance(found, dict) or found.get("tool") != "superopt":
        raise UserError(f"{file}: is no run.json of superopt")
    if found.get("schema") != SCHEMA:
        raise UserError(f"{file}: schema {found.get('schema')}, this superopt reads {SCHEMA}")
    return found


def write(run: Run, head: dict[str, Any], files: Sequence[str] = ()) -> Path:
    """Writes ``run`` as run.json into its directory.

    ``head``: digests and versions to store. ``files``: every other file of the run.
    """
    file = run.directory / FILE
    record = {
        "schema": SCHEMA,
        "tool": "superopt",
        **head,
        "name": run.name,
        "target": run.target,
        "seed": run.seed,
        "budget": run.budget,
        "interrupted": run.interrupted,
        "verified": run.verified,
        "kernel": run.kernel.name if run.kernel else None,
        "files": list(files),
        "cases": [_case(c, run) for c in run.cases],
        "substitutes": list(run.substitutes),
        "timing": {
            "seconds": dict(run.seconds),
            "cases": {c.case.name: dict(c.seconds) for c in run.cases},
            "untimed": {c.case.name: c.untimed for c in run.cases if c.untimed},
            **timing_record(run.timing),
        },
    }
    file.write_text(json.dumps(_plain(record), indent=1, allow_nan=False) + "\n")
    return file


def _plain(value: Any) -> Any:
    """``value`` without what JSON does not have: an infinity or NaN becomes its name."""
    match value:
        case dict():
            return {k: _plain(v) for k, v in value.items()}
        case list() | tuple():
            return [_plain(v) for v in value]
        case float() if not math.isfinite(value):
            return str(value)
        case _:
            return value


def _case(result: CaseRun, run: Run) -> dict[str, Any]:
    return {
        **case_record(result.case),
        "counts": counts_record(result.counts),
        "winner": _winner(result.winner, run),
        "candidates": [_candidate(c) for c in result.candidates],
    }


def counts_record(counts: Counts) -> dict[str, Any]:
    """Counts as JSON: ``seen == built + duplicates + sum(rejected) + sum(pruned)``."""
    return {
        "seen": counts.seen,
        "built": counts.built,
        "duplicates": counts.duplicates,
        "rejected": dict(counts.rejected),
        "pruned": dict(counts.pruned),
        "complete": counts.complete,
    }


def _winner(winner: Candidate | None, run: Run) -> dict[str, Any] | None:
    if winner is None:
        return None
    return {
        "kernel": run.kernel.name if run.kernel else None,
        "digest": winner.digest,
        "configs": [config_record(c) for c in winner.configs],
        "model_us": round(winner.model_us, 3),
        "share_of_roofline": round(winner.share, 4),
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {
        "digest": candidate.digest,
        "stage": candidate.stage.value,
        "reason": candidate.why,
        "model_us": round(candidate.model_us, 3),
        "share_of_roofline": round(candidate.share, 4),
        "configs": [config_record(c) for c in candidate.configs],
        "derivation": list(candidate.derivation),
        "repairs": list(candidate.repairs),
        "verdicts": [[claim, *verdict_record(v)] for claim, v in candidate.evidence],
        "compiled": [asdict(f) for f in candidate.facts],
        "floats": [asdict(f) for f in candidate.figures],
        "not_executed": list(candidate.skipped),
        "graph": show(candidate.graph),
        "repair_records": [repair_record(r) for r in candidate.records] if candidate.holds else [],
        "text": candidate.text,
        "space": [[round(p.model_us, 3), *_texts(p)] for p in candidate.space],
    }


def verdict_record(verdict: Verdict) -> tuple[str, dict[str, Any]]:
    """A verdict as (word, fields)."""
    return type(verdict).__name__, asdict(verdict)


def _texts(point: Point) -> list[str]:
    """The Configs of a point, each as one line of text."""
    return [show(config).strip() for config in point.launches]
