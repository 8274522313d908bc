"""The files of one tuning job: one for each structure, and one more for each choice of roles.

The first was read before the job came. Those with roles are printed when they are first asked for,
and read, in every order of their roles, before one of them runs: beside the compilers, since a
reading takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from concurrent.futures import Future
from pathlib import Path

from superopt.errors import NotEmittable
from superopt.tune.printed import Printed
from superopt.tune.printed import Roles
from superopt.tune.printed import has_roles
from superopt.tune.printed import printed
from superopt.tune.printed import roles_of
from superopt.tune.request import Launches
from superopt.tune.space import Job
from superopt.verify.run.trial import ReadRequest


class Files:
    """``plain``: by number of the structure, those that could be printed; ``why``: not the rest.
    ``read``: says why roles must not run, or nothing."""

    def __init__(
        self, job: Job, directory: Path, seed: int, read: Callable[[ReadRequest], str]
    ) -> None:
        self.job, self.directory, self.seed, self.read = job, directory, seed, read
        self.plain: dict[int, Printed] = {}
        self.why = ""
        self._roles: dict[tuple[int, Roles], Printed | NotEmittable] = {}
        self._readings: dict[tuple[int, Roles], Future[str]] = {}
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

    def begin_reading(self, threads: Executor, number: int, launches: Launches) -> None:
        """Has the roles of a Config read in one of ``threads``, if nobody has."""
        key = number, roles_of(launches)
        if not has_roles(launches) or key in self._readings:
            return
        if isinstance(one := self._with_roles(number, launches), Printed):
            graph, program = one.structure.graph, self.job.program
            request = ReadRequest(str(one.file), program, graph, launches, self.seed)
            self._readings[key] = threads.submit(self.read, request)

    def unread(self, number: int, launches: Launches) -> str:
        """Why roles must not run on a device, once they are read; empty if they may, or there are
        none."""
        if not has_roles(launches):
            return ""
        return self._readings[number, roles_of(launches)].result()

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
