"""The files of one tuning job: one for each structure, and one more for each choice of roles.

The first was read before the job came. Those with roles are printed when they are first asked for,
and read, in every order of their roles, before one of them runs.
"""

from __future__ import annotations

from pathlib import Path

from superopt.errors import NotEmittable
from superopt.tune.printed import Printed
from superopt.tune.printed import Roles
from superopt.tune.printed import has_roles
from superopt.tune.printed import printed
from superopt.tune.printed import roles_of
from superopt.tune.request import Launches
from superopt.tune.space import Job
from superopt.verify.readings import judge_roles
from superopt.verify.source.load import read_text
from superopt.verify.verdict import accepted
from superopt.verify.verdict import spoken


class Files:
    """``plain``: by number of the structure, those that could be printed; ``why``: not the rest."""

    def __init__(self, job: Job, directory: Path, seed: int) -> None:
        self.job, self.directory, self.seed = job, directory, seed
        self.plain: dict[int, Printed] = {}
        self.why = ""
        self._roles: dict[tuple[int, Roles], Printed | NotEmittable] = {}
        self._read: dict[tuple[int, Roles], str] = {}
        for number, structure in enumerate(job.structures):
            try:
                self.plain[number] = printed(job.program, structure, job.case, directory)
            except NotEmittable as error:
                self.why = f"emit: {error}"

    def of(self, number: int, launches: Launches) -> Printed | None:
        """What a Config of a structure is launched from; None if that cannot be printed."""
        if not has_roles(launches):
            return self.plain.get(number)
        found = self._with_roles(number, launches)
        return found if isinstance(found, Printed) else None

    def why_not(self, number: int, launches: Launches) -> str:
        """Why there is no such file."""
        return str(self._with_roles(number, launches))

    def unread(self, number: int, launches: Launches) -> str:
        """Why roles must not run on a device; empty if they may, or there are none."""
        if not has_roles(launches):
            return ""
        key = number, roles_of(launches)
        if key not in self._read:
            file = self._with_roles(number, launches)
            self._read[key] = self._judged(file, launches) if isinstance(file, Printed) else ""
        return self._read[key]

    def _judged(self, one: Printed, launches: Launches) -> str:
        program = self.job.program
        text = read_text(one.file.read_text(), program.name)
        claim, verdict = judge_roles(text, program, one.structure.graph, launches, seed=self.seed)
        return "" if accepted(verdict) else f"{claim}: {spoken(verdict)}"

    def _with_roles(self, number: int, launches: Launches) -> Printed | NotEmittable:
        key = number, roles_of(launches)
        if key not in self._roles:
            job, structure = self.job, self.job.structures[number]
            try:
                made = printed(job.program, structure, job.case, self.directory, launches)
            except NotEmittable as error:
                self._roles[key] = error
            else:
                self._roles[key] = made
        return self._roles[key]
