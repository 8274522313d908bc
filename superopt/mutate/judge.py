"""One mutant: who finds it, or why it is no other program."""

from __future__ import annotations

from dataclasses import dataclass

from superopt.mutate.equivalent import explained
from superopt.mutate.execution import Floats
from superopt.mutate.outcome import SURVIVED
from superopt.mutate.outcome import Found
from superopt.mutate.outcome import Subject
from superopt.mutate.source import SourceMutant
from superopt.mutate.unmodelled import unmodelled

EQUIVALENT, EXECUTION = "equivalent", "execution"
NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Outcome:
    """A row of the table: ``by`` which reading a mutant of ``kind`` was found, ``EXECUTION``,
    ``EQUIVALENT`` with the reason, ``NOT_JUDGED`` where it is of what no reading models, or
    ``SURVIVED``. ``diff``: the lines that changed."""

    kind: str
    by: str
    said: str
    diff: str


def outcome(
    subject: Subject, mutant: SourceMutant, reasons: bool = True, floats: Floats | None = None
) -> Outcome:
    """What becomes of a mutant. ``reasons``: whether one that survives is looked into; ``floats``
    executes what no reading finds and nothing explains: such as the loss of digits.

    Mutants of a launcher are executed first: the readings are of one device, and it knows more.
    """
    found = subject.judged(mutant.text)
    host = not mutant.site.compiled
    if floats is not None and host and found.by == SURVIVED and (wrong := floats(mutant.text)):
        found = Found(EXECUTION, wrong)
    if found.by == SURVIVED and (why := unmodelled(subject, mutant)):
        found = Found(NOT_JUDGED, why)
    if reasons and found.by == SURVIVED and (reason := explained(subject, mutant)):
        found = Found(EQUIVALENT, reason)
    if floats is not None and not host and found.by == SURVIVED and (wrong := floats(mutant.text)):
        found = Found(EXECUTION, wrong)
    return Outcome(mutant.kind, found.by, found.said, mutant.diff(subject.text.text))
