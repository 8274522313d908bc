"""Judges mutants of every subject.

Appends an outcome a line to FILE and leaves out what is there, so that a run may be ended and
taken up again. With COUNT 0 it judges again those that survived, and looks for reasons; with -1 it
executes them, and mutants of launchers that have a reason, too. The last line about a mutant
counts. ``python -m tests.mutate.summary FILE`` prints the page.
"""

from __future__ import annotations

import argparse
import json
import signal
from dataclasses import asdict
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from superopt.mutate.equivalent import explained
from superopt.mutate.execution import executed
from superopt.mutate.judge import EQUIVALENT
from superopt.mutate.judge import EXECUTION
from superopt.mutate.judge import Outcome
from superopt.mutate.judge import outcome
from superopt.mutate.outcome import SURVIVED
from superopt.mutate.outcome import Subject
from superopt.mutate.source import SourceMutant
from superopt.mutate.source import balanced
from superopt.mutate.source import source_mutants
from superopt.verify.run.execute import Runner
from tests.mutate.subjects import SUBJECTS
from tests.mutate.subjects import subject

SECONDS = 120  # of processor time for one mutant, which may be a loop without end
LATE = "time"
OPEN = "open"  # it survived, and no reason was looked for yet

Rows = dict[str, dict[str, Any]]


def main() -> None:
    """Judges the mutants of the subjects named, or of all."""
    parser = argparse.ArgumentParser("python -m tests.mutate.offline", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("count", type=int, help="mutants of each subject; 0, -1: see above")
    parser.add_argument("subjects", nargs="*", metavar="CASE:GRAPH")
    given = parser.parse_args()
    file, count = given.file, given.count
    named = [tuple(a.split(":")) for a in given.subjects]
    chosen = [(n, int(g)) for n, g in named] or list(SUBJECTS)
    known = rows(file)
    signal.signal(signal.SIGPROF, _late)
    with file.open("a") as out, Runner() as runner:
        for name, graph in chosen:
            one = subject(name, graph)
            for mutant in _wanted(one, count, known):
                row = {"subject": one.name, "digest": digest(mutant.text)}
                found = (
                    _executed(one, mutant, runner) if count < 0 else _judged(one, mutant, not count)
                )
                if found is None:
                    continue
                out.write(json.dumps(row | asdict(found)) + "\n")
                out.flush()


def rows(file: Path) -> Rows:
    """The last line about every mutant, by the digest of its text."""
    lines = file.read_text().splitlines() if file.exists() else []
    return {row["digest"]: row for row in map(json.loads, lines)}


def digest(text: str) -> str:
    """What identifies a mutant."""
    return sha256(text.encode()).hexdigest()[:16]


def _wanted(one: Subject, count: int, known: Rows) -> list[SourceMutant]:
    mutants = source_mutants(one.text, one.function, one.index)
    if count <= 0:
        by = {d: row["by"] for d, row in known.items()}
        left, host = ((SURVIVED, LATE, OPEN), ()) if count == 0 else ((SURVIVED,), (EQUIVALENT,))
        return [
            m
            for m in mutants
            if by.get(digest(m.text)) in (left if m.site.compiled else (*left, *host))
        ]
    found = [m for m in balanced(mutants, count, 0) if digest(m.text) not in known]
    Random(0).shuffle(found)
    return found


def _judged(one: Subject, mutant: SourceMutant, reasons: bool) -> Outcome:
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        # What survived has passed the other readings before.
        found = one.in_field(mutant.text) if reasons else None
        if found is not None and found.by != SURVIVED:
            return Outcome(mutant.kind, found.by, found.said, mutant.diff(one.text.text))
        if reasons and (why := explained(one, mutant)):
            return Outcome(mutant.kind, EQUIVALENT, why, mutant.diff(one.text.text))
        found = outcome(one, mutant, reasons=False)
        return replace(found, by=OPEN) if found.by == SURVIVED and not reasons else found
    except TimeoutError:
        return Outcome(mutant.kind, LATE, "", mutant.diff(one.text.text))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _executed(one: Subject, mutant: SourceMutant, runner: Runner) -> Outcome | None:
    """None: nothing is wrong, and what is known of it stays."""
    said = executed(one, [one.graph], mutant.text, runner)
    return Outcome(mutant.kind, EXECUTION, said, mutant.diff(one.text.text)) if said else None


def _late(_: int, __: FrameType | None) -> None:
    raise TimeoutError


if __name__ == "__main__":
    main()
