"""The tuning of one case: compile several at a time, check and time one, keep the fastest.

Rounds of trials are shared between the structures (``halving.shares``), and each structure's study
says which of its points are tried (``study``). What compiles and passes its float check on the
device is timed briefly; the better third longer; the last few interleaved. All is timed in turns
with the first good kernel, so that times can be compared which hours and a tenth of the chip's
clock lie between. Whatever is learned is in the store before the next kernel runs.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Protocol

from superopt.device import Device
from superopt.errors import NotEmittable
from superopt.source import Facts
from superopt.source import LaunchSpec
from superopt.tune import halving
from superopt.tune.device_bench import NotPrepared
from superopt.tune.files import Files
from superopt.tune.outcome import FINAL_RUNG
from superopt.tune.outcome import LONGER_RUNG
from superopt.tune.outcome import Measured
from superopt.tune.outcome import Tuned
from superopt.tune.outcome import Won
from superopt.tune.past import Past
from superopt.tune.printed import has_roles
from superopt.tune.record import FAILED
from superopt.tune.record import TIMED
from superopt.tune.record import Outcome
from superopt.tune.request import Effort
from superopt.tune.request import Entry
from superopt.tune.request import Launches
from superopt.tune.request import Pace
from superopt.tune.request import Reply
from superopt.tune.request import Setting
from superopt.tune.space import Job
from superopt.tune.space import Point
from superopt.tune.study import Study
from superopt.tune.study import available
from superopt.verify.run.trial import NotCompiled
from superopt.verify.run.trial import ReadRequest

LEAST_BATCH = 8  # points that are asked for at once
FIRST_WITH_ROLES = 6  # points with roles, the model's best, that are tried before all others
HOPEFUL = 1.25  # times the model's best point: those behind it wait for their turn

Place = tuple[int, Point]
"""Number of a structure, and one of its points."""

Said = tuple[Facts | NotCompiled, ...]
"""What the compiler says of the launches of a point."""


class Compiles(Protocol):
    """What compiles launches in processes of its own (``verify.run.compile_ahead.Compiler``)."""

    jobs: int

    def compile(
        self, kernel_file: Path, specs: Sequence[LaunchSpec], target: str
    ) -> tuple[Facts | NotCompiled, ...]:
        """The facts of each launch, or why there are none."""

    def read(self, request: ReadRequest) -> str:
        """Why roles must not run on a device; empty if they may."""


class Benches(Protocol):
    """What runs kernels on the device (``device_bench.DeviceBench``)."""

    def measure(self, setting: Setting, entry: Entry, effort: Effort, pace: Pace | None) -> Reply:
        """Checks and times one, in turns with ``pace``."""

    def compare(
        self, setting: Setting, entries: Sequence[Entry], rounds: int, pace: Pace | None
    ) -> dict[str, Reply]:
        """Checks and times several, in turns with each other and with ``pace``."""


class Watches(Protocol):
    """What is told while tuning goes on."""

    def timing(self, done: int, trials: int, best_us: float) -> None:
        """So many of at most ``trials`` Configs are done; the best takes ``best_us``."""


@dataclass(frozen=True)
class Means:
    """What tuning works with. ``directory``: for the files that are run. ``on``: torch's name of
    the device."""

    bench: Benches
    compiler: Compiles
    device: Device
    directory: Path
    seed: int = 0
    on: str = "cuda"


class Tuning:
    """The tuning of ``job`` with at most ``trials`` Configs, those in the store counted.

    ``result`` is right at any time, so an interrupt loses nothing that was finished.
    """

    def __init__(self, job: Job, means: Means, past: Past, trials: int, watcher: Watches) -> None:
        self.job, self.means, self.past, self.trials = job, means, past, trials
        self.watcher = watcher
        self.setting = Setting(job.program, job.case, means.seed, means.on)
        self.why = ""
        self._began = time.monotonic()
        self._files = Files(job, means.directory, means.seed, means.compiler.read)
        self._studies: list[Study] = [Study(s, means.seed) for s in job.structures]
        self._measured: dict[Place, Measured] = {}
        self._finals: dict[Place, Measured] = {}
        self._pace: Pace | None = None

    def run(self) -> Tuned:
        """Tunes to the end."""
        self.why = self._files.why
        self._remember()
        try:
            self._take_pace()
            self._explore()
            self._again()
            self._final()
        except NotPrepared as error:
            self.why = str(error)
        return self.result()

    def result(self) -> Tuned:
        """What is known now."""
        measured = tuple(self._measured.values())
        winner = self._winner()
        why = "" if winner else self.why or _why_none(measured)
        return Tuned(self.job.case.name, measured, winner, why, available())

    def _remember(self) -> None:
        """Takes what the store knows: this very case's times, and good Configs of others."""
        for number, one in self._files.plain.items():
            study = self._studies[number]
            known, starts = self.past.of(self.job, one, partial(self._files.of, number))
            for point in one.structure.points:
                if (outcome := known.get(point.launches)) is not None:
                    self._tell(number, point, outcome, known=True)
            for launches in (*starts, *_with_roles(one.structure.points)[:FIRST_WITH_ROLES]):
                study.enqueue(launches)

    def _take_pace(self) -> None:
        """What the store knows was measured beside a kernel that took its time then. The fastest
        one that still runs sets the pace again."""
        known = self._times()
        for place in sorted(known, key=lambda key: known[key]):
            entry = self._entry(*place)
            if self.means.bench.measure(self.setting, entry, halving.QUICK, None).figures:
                self._pace = Pace(entry, known[place])
                return

    def _explore(self) -> None:
        """The first rung: trials until they are spent, or nothing promising is left.

        Compilers work ahead of the device: more is asked for when half of it is measured.
        """
        pending: deque[tuple[Place, Future[Said]]] = deque()
        batch = max(LEAST_BATCH, self.means.compiler.jobs)
        with ThreadPoolExecutor(max(1, self.means.compiler.jobs)) as threads:
            try:
                while True:
                    if len(pending) <= batch // 2:
                        for place in self._asked(batch - len(pending), len(pending)):
                            pending.append((place, self._compiling(threads, place)))
                    if not pending:
                        return
                    (number, point), future = pending.popleft()
                    self._try(number, point, future)
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                raise

    def _asked(self, number: int, pending: int) -> list[Place]:
        """At most ``number`` further trials, shared between the structures, these taking turns."""
        number = min(number, self.trials - len(self._measured) - pending)
        if number <= 0:
            return []
        left = [s.left if i in self._files.plain else 0 for i, s in enumerate(self._studies)]
        leader = min(s.best for s in self._studies)
        # Where nothing has come back yet nothing speaks against a structure.
        best = [s.best if s.told else leader for s in self._studies]
        parts = halving.shares(best, left, number)
        asked = [self._studies[i].ask(part) for i, part in enumerate(parts)]
        turns = zip_longest(*([(i, p) for p in found] for i, found in enumerate(asked)))
        return [place for turn in turns for place in turn if place is not None]

    def _compiling(self, threads: ThreadPoolExecutor, place: Place) -> Future[Said]:
        number, point = place
        one = self._files.of(number, point.launches)
        if one is None:
            failed: Future[Said] = Future()
            failed.set_exception(NotEmittable(self._files.why_not(number, point.launches)))
            return failed
        self._files.begin_reading(threads, number, point.launches)
        return threads.submit(
            lambda: self.means.compiler.compile(
                one.file, one.launches(point.launches), self.means.device.arch
            )
        )

    def _try(self, number: int, point: Point, future: Future[Said]) -> None:
        """One trial, from what the compiler says to a time."""
        try:
            said = future.result()
        except NotEmittable as error:
            self._keep(number, point, Outcome(FAILED, "compile", str(error), None, None))
            return
        facts = tuple(f for f in said if isinstance(f, Facts))
        if why := self._refused(said):
            self._keep(number, point, Outcome(FAILED, "compile", why, None, None, facts))
            return
        if why := self._files.unread(number, point.launches):
            self._keep(number, point, Outcome(FAILED, "read", why, None, None, facts))
            return
        entry = self._entry(number, point)
        reply = self.means.bench.measure(self.setting, entry, halving.QUICK, self._pace)
        self._keep(number, point, outcome_of(reply, facts))
        if self._pace is None and reply.figures is not None:
            self._pace = Pace(entry, reply.figures.us)

    def _refused(self, said: Sequence[Facts | NotCompiled]) -> str:
        """Why a kernel cannot be launched, or nothing."""
        for one in said:
            match one:
                case NotCompiled(function=function, why=why):
                    return f"{function}: {why}"
                case Facts(function=function, shared_bytes=shared) if (
                    shared > self.means.device.shared_block
                ):
                    return f"{function}: {shared} bytes of shared memory, over the limit"
        return ""

    def _again(self) -> None:
        """The second rung."""
        chosen = halving.survivors(
            self._times(), halving.KEPT, halving.LONGER_MOST, halving.FINALISTS
        )
        for number, point in chosen:
            before = self._measured[number, point]
            entry = self._entry(number, point)
            reply = self.means.bench.measure(self.setting, entry, halving.LONGER, self._pace)
            self._keep(number, point, outcome_of(reply, before.outcome.facts), LONGER_RUNG)

    def _final(self) -> None:
        """The last rung: in turns, checked once more."""
        longer = {
            place: us
            for place, us in self._times().items()
            if self._measured[place].rung == LONGER_RUNG
        }
        chosen = halving.survivors(longer, 1.0, halving.FINALISTS)
        if not chosen:
            return
        entries = {place: self._entry(*place) for place in chosen}
        replies = self.means.bench.compare(
            self.setting, list(entries.values()), halving.FINAL_ROUNDS, self._pace
        )
        for place, entry in entries.items():
            outcome = outcome_of(replies[entry.name], self._measured[place].outcome.facts)
            self._keep(*place, outcome, FINAL_RUNG)
            self._finals[place] = self._measured[place]

    def _winner(self) -> Won | None:
        """The fastest of the finalists; before there are any, of all that have a time and were
        checked in this very run."""
        finals = {p: m for p, m in self._finals.items() if m.outcome.figures is not None}
        found = finals or {
            p: m for p, m in self._measured.items() if m.outcome.figures is not None and not m.known
        }
        figures = {p: m.outcome.figures for p, m in found.items() if m.outcome.figures}
        if not figures:
            return None
        best = halving.fastest(figures, {p: p[1].model_us for p in figures})
        digest = self.job.structures[best[0]].digest
        return Won(digest, best[1], figures[best], found[best].outcome.error, bool(finals))

    def _times(self) -> dict[Place, float]:
        return {
            place: m.outcome.figures.us
            for place, m in self._measured.items()
            if m.outcome.figures is not None
        }

    def _entry(self, number: int, point: Point) -> Entry:
        file = self._files.of(number, point.launches)
        assert file is not None
        return file.entry(point.launches)

    def _keep(self, number: int, point: Point, outcome: Outcome, rung: str = "") -> None:
        """Stores what came of a point, and takes note of it."""
        if (file := self._files.of(number, point.launches)) is not None:
            self.past.keep(self.job, file, point.launches, outcome)
        self._tell(number, point, outcome, rung=rung)

    def _tell(
        self, number: int, point: Point, outcome: Outcome, rung: str = "", known: bool = False
    ) -> None:
        figures = outcome.figures
        self._studies[number].tell(point, figures.us if figures else None)
        place = (number, point)
        if before := self._measured.get(place):
            self._measured[place] = replace(
                before, outcome=outcome, rung=rung or before.rung, known=False
            )
        else:
            digest = self.job.structures[number].digest
            seconds = round(time.monotonic() - self._began, 3)
            self._measured[place] = Measured(
                digest, point, outcome, len(self._measured), seconds, known=known
            )
        best = min((s.best for s in self._studies), default=float("inf"))
        self.watcher.timing(len(self._measured), self.trials, best)


def outcome_of(reply: Reply, facts: tuple[Facts, ...]) -> Outcome:
    """What the device said, as it is stored."""
    if reply.figures is not None:
        return Outcome(TIMED, "", "", reply.figures, reply.error, facts)
    return Outcome(FAILED, reply.stage or "run", reply.why, None, reply.error, facts)


def _with_roles(points: Sequence[Point]) -> list[Launches]:
    """The launches with roles that are about as good as any, by the model; first the best of each
    choice of tiles and of what consumers do with them, for about these the model errs most."""
    best = min((p.model_us for p in points), default=0.0)
    near = [p.launches for p in points if has_roles(p.launches) and p.model_us <= HOPEFUL * best]
    firsts: dict[object, Launches] = {}
    for launches in near:
        firsts.setdefault(tuple((c.tiles, c.consumers, c.pingpong) for c in launches), launches)
    chosen = list(firsts.values())
    return [*chosen, *(launches for launches in near if launches not in chosen)]


def _why_none(measured: Sequence[Measured]) -> str:
    if not measured:
        return "nothing was tried"
    last = measured[-1].outcome
    return f"none of {len(measured)} Configs has a time; the last one, {last.stage}: {last.why}"
