"""The straight line from a spec to a verified kernel file: the only module that knows the order.

spec -> reference check -> canonical names -> forms -> candidates -> proofs -> text -> compiler
-> execution -> one file with every case's winner, checked once more as it is shipped.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from superopt.assemble import assemble
from superopt.budget import Budget
from superopt.budget import Clock
from superopt.case import Case
from superopt.device import Device
from superopt.examine import Examiner
from superopt.examine import in_words
from superopt.interrupts import Held
from superopt.reference import check_reference
from superopt.rewrite.forms import forms
from superopt.rewrite.lowering import lowered
from superopt.run import CANDIDATES
from superopt.run import Candidate
from superopt.run import CaseRun
from superopt.run import Counts
from superopt.run import Run
from superopt.run import Stage
from superopt.run import best
from superopt.search.configs import HOPELESS
from superopt.search.outcome import Built
from superopt.search.space import SLACK
from superopt.search.space import Search
from superopt.search.structure import structures
from superopt.spec import Spec
from superopt.tune.outcome import Tuned
from superopt.tune.session import Session
from superopt.tune.timing import NOT_TIMED
from superopt.tuned import job_of
from superopt.tuned import space_of
from superopt.tuned import timing_of
from superopt.tuned import with_times
from superopt.ugraph.names import Names
from superopt.ugraph.names import canonical
from superopt.verify.run.compile_ahead import Compiler
from superopt.verify.run.execute import Runner
from superopt.verify.run.stem import Stem

FORMS = 12  # distinct forms that are searched
FINALISTS = 3  # candidates that are verified to the end, per case
FINALISTS_TIMED = 5  # where they are timed, so that the model need not be right
CANDIDATES_EACH = 8  # of a budget, for each finalist
EXAMINED = 12  # structures that are tried for that
VARIANTS = 2  # candidates of one structure that are tried, until one is verified
KEPT = "interrupted: keeping what is verified; once more to give that up"


class Listener(Protocol):
    """What a search tells while it runs (``report.live.Progress``)."""

    def case(self, function: str, case: str) -> None:
        """A new case begins."""

    def stage(self, text: str) -> None:
        """What is being done now."""

    def counts(self, counts: Counts) -> None:
        """What became of the candidates so far."""

    def verified(self, model_us: float, share: float) -> None:
        """One more candidate passed every check."""

    def refused(self, why: str) -> None:
        """A check said no to one more candidate, or could not say yes."""

    def timing(self, done: int, trials: int, best_us: float) -> None:
        """So many of at most ``trials`` Configs were tried; the fastest takes ``best_us``."""

    def done(self, result: CaseRun) -> None:
        """A case ends."""


def search_function(
    spec: Spec,
    cases: tuple[Case, ...],
    device: Device,
    budget: Budget,
    seed: int,
    directory: Path,
    listener: Listener,
    jobs: int = 2,
    session: Session | None = None,
    finalists: int | None = None,
    stem: Stem | None = None,
) -> Run:
    """Search one spec function, write its kernel file into ``directory``, return all that is known.

    ``session``: where and how verified candidates are timed; None if they are not. ``finalists``:
    how many are verified for each case; None: ``FINALISTS``, or ``FINALISTS_TIMED``. ``stem``: what
    processes are forked from.

    An interrupt (``KeyboardInterrupt``) ends the search; what was verified until then is kept,
    and the kernel file is then made without Configs for other architectures, or with those that
    it has if it is being made. A second one while that goes on is raised.

    Raises:
        SpecError: the reference disagrees with the algebra.
    """
    clock = Clock(budget, listener.stage)
    interrupted = False
    program, names = canonical(spec.program)
    scratch = directory / CANDIDATES
    scratch.mkdir(exist_ok=True)
    with Runner(stem=stem) as runner, Compiler(jobs, stem=stem) as compiler:
        examiner = Examiner(program, names, device, seed, scratch, runner, compiler)
        wanted = finalists or (FINALISTS if session is None else FINALISTS_TIMED)
        timed = session is not None
        searches = [
            _CaseSearch(case, examiner, device, listener, clock, wanted, timed) for case in cases
        ]
        try:
            runner.start()
            compiler.start()
            listener.case(spec.name, cases[0].name)
            with clock.of("reference", "checking the reference"):
                check_reference(spec, seed)
            for number, one in enumerate(searches):
                listener.case(spec.name, one.case.name)
                _run(one, len(searches) - number, session, scratch)
            with clock.of("assemble", "writing and checking the kernel file"), Held(KEPT) as held:
                kernel, results = _assembled(spec, searches, examiner, directory, clock, held)
            interrupted = held.came
        except KeyboardInterrupt:
            interrupted = True
            with clock.of("assemble", KEPT):
                results = [one.result() for one in searches]
                kernel, results = assemble(spec, results, examiner, directory, (), clock)
    tuned = [one.tuned for one in searches if one.tuned is not None]
    return Run(
        spec.name,
        device.name,
        seed,
        budget.text,
        tuple(results),
        directory,
        kernel,
        interrupted,
        (*clock.seconds.items(), ("total", clock.elapsed)),
        NOT_TIMED if session is None else timing_of(session.machine, tuned, NOT_TIMED),
    )


def _run(one: _CaseSearch, cases: int, session: Session | None, scratch: Path) -> None:
    """Searches, and times in ``session``, the first of so many cases that are left."""
    one.clock.share(cases)
    one.run()
    if session is not None:
        with one.clock.of("time"):
            one.time(session, cases, scratch)
    one.listener.done(one.result())
    if session is not None and session.interrupted:
        raise KeyboardInterrupt


def _assembled(
    spec: Spec,
    searches: list[_CaseSearch],
    examiner: Examiner,
    directory: Path,
    clock: Clock,
    held: Held,
) -> tuple[Path | None, list[CaseRun]]:
    """The kernel file and the results. A case whose verified candidates all fail in the file
    goes on with its next ones."""
    while True:
        results = [s.result() for s in searches]
        kernel, results = assemble(spec, results, examiner, directory, watch=clock, held=held)
        if held.came:
            return kernel, results
        lost = [s for s, r in zip(searches, results, strict=True) if s.lost(r)]
        found = [s.more() for s in lost]
        if not any(found):
            return kernel, results


class _CaseSearch:
    """The search of one case. ``result`` is right at any time, so an interrupt loses nothing."""

    def __init__(
        self,
        case: Case,
        examiner: Examiner,
        device: Device,
        listener: Listener,
        clock: Clock,
        finalists: int = FINALISTS,
        timed: bool = False,
    ) -> None:
        self.case, self.examiner, self.device = case, examiner, device
        self.finalists, self.timed = finalists, timed
        self.tuned: Tuned | None = None
        self.untimed = ""
        self.listener, self.clock = listener, clock
        self.sizes = {a: case.sizes[u] for a, u in examiner.names.axes.items()}  # canonical names
        self.counts = Counts(complete=False)
        self.built: list[Built] = []
        self.examined: dict[int, Candidate] = {}
        self.started: float | None = None
        self.first_verified: float | None = None

    def run(self) -> None:
        """Searches and examines."""
        self.started = time.monotonic()
        self._explore()
        self._examine()

    def _explore(self) -> None:
        with self.clock.of("rewrite", "rewriting"):
            found = [lowered(f) for f in forms(self.examiner.program, FORMS, sizes=self.sizes)]
        with self.clock.of("search", "building candidates"):
            space = Search(
                found,
                self.sizes,
                self.case.storage,
                self.device,
                self.clock.budget.candidates,
                self.case.tf32,
                repaired=self.examiner.repaired,
            )
            for outcome in space:
                if isinstance(outcome, Built):
                    self.built.append(outcome)
                self.counts = counted(space, self.examiner.names)
                self.listener.counts(self.counts)
                if self.clock.half_over:
                    break

    def _examine(self) -> None:
        """Verifies in the order of the model."""
        self.built.sort(key=lambda b: b.estimate.us)
        for index in self._order():
            if index in self.examined:
                continue
            if self.clock.over and self.examined:
                return
            built = self.built[index]
            which = f"candidate {index + 1} of {len(self.built)}"
            with self.clock.of("prove", f"proving {which}"):
                candidate = self.examiner.prove(built)
            self.examined[index] = candidate
            if candidate.stage is Stage.PROVED:
                with self.clock.of("execute", f"executing {which}"):
                    candidate = self.examiner.execute(built, candidate, self.case)
                self.examined[index] = candidate
            if candidate.stage is Stage.VERIFIED:
                space = space_of(candidate.graph, self.case, self.device)
                self.examined[index] = replace(candidate, space=space)
                self.first_verified = self.first_verified or time.monotonic()
                self.listener.verified(candidate.model_us, candidate.share)
            elif candidate.stage is Stage.REFUSED:
                self.listener.refused(candidate.why)

    def time(self, session: Session, cases: int, directory: Path) -> None:
        """Times what was verified; this is the first of ``cases`` that are left."""
        result = self.result()
        if result.winner is None:
            return
        self.listener.stage("tuning on the device")
        program = self.examiner.names.back(self.examiner.program)
        job = job_of(program, result, self.device)
        self.tuned = session.tune(job, cases, self.examiner.compiler, directory, self.listener)
        done = with_times(result, self.tuned, session.machine)
        self.untimed = done.untimed
        for index, candidate in enumerate(done.candidates):
            if index in self.examined:
                self.examined[index] = candidate

    def lost(self, result: CaseRun) -> bool:
        """Takes note of the candidates that ``result`` refuses; whether that cost the winner."""
        before = dict(self.examined)
        for index, candidate in enumerate(result.candidates):
            if index in self.examined and candidate.stage is Stage.REFUSED:
                self.examined[index] = candidate
        return result.winner is None and before != self.examined

    def more(self) -> bool:
        """Examines further candidates; whether one was verified."""
        self._examine()
        return any(c.holds for c in self.examined.values())

    def _order(self) -> Iterator[int]:
        """Which candidates to examine: the fastest ones of different structure until enough are
        verified. A small budget asks for fewer of them, and one that the search would drop
        next to a verified one is not worth the time. Where none holds, what is closest to the
        text of the spec comes last: a law may be true and yet unseen by the proof of a graph.
        Where candidates are timed, the best one with the fewest kernels is among them."""
        wanted = min(self.finalists, max(1, self.clock.budget.candidates // CANDIDATES_EACH))
        groups = structures(self.built, self.sizes)
        for group in groups[:EXAMINED]:
            verified = [c for c in self.examined.values() if c.holds]
            enough = SLACK * min((c.model_us for c in verified), default=float("inf"))
            if len(verified) >= wanted or self.built[group[0]].estimate.us > enough:
                break
            yield from self._until_one_holds(group)
        if self.timed:
            yield from self._until_one_holds(self._fewest(groups))
        if not any(c.holds for c in self.examined.values()):
            left = [i for i in range(len(self.built)) if i not in self.examined]
            yield from self._until_one_holds(
                sorted(left, key=lambda i: len(self.built[i].derivation))
            )

    def _until_one_holds(self, indices: Sequence[int]) -> Iterator[int]:
        for index in indices[:VARIANTS]:
            yield index
            if self.examined[index].holds:
                return

    def _fewest(self, groups: Sequence[Sequence[int]]) -> Sequence[int]:
        """The best candidates with the fewest kernels, unless they are hopeless: what one kernel
        costs that does the work of several is what the model knows least of."""
        count = min((len(b.graph.kernels) for b in self.built), default=0)
        found = (g for g in groups if len(self.built[g[0]].graph.kernels) == count)
        limit = HOPELESS * min((b.estimate.us for b in self.built), default=0.0)
        return next((g for g in found if self.built[g[0]].estimate.us <= limit), ())

    def result(self) -> CaseRun:
        """What is known now."""
        built = self.built[: self.counts.built]  # an interrupt may come between the two
        candidates = tuple(
            self.examined.get(i) or self.examiner.ranked(b) for i, b in enumerate(built)
        )
        seconds: list[tuple[str, float]] = []
        if self.started is not None:
            seconds.append(("total", round(time.monotonic() - self.started, 3)))
            if self.first_verified is not None:
                first = round(self.first_verified - self.started, 3)
                seconds.append(("first verified", first))
        winner = best(candidates)
        return CaseRun(self.case, self.counts, candidates, winner, tuple(seconds), self.untimed)


def counted(space: Search, names: Names) -> Counts:
    """The search's counts as they are reported, in the user's names; what is still in the queue
    counts as not seen."""
    now = space.counts
    rejected: dict[str, int] = {}
    for (stage, why), number in now.rejected.items():
        said = in_words(f"{stage}: {why}", names)
        rejected[said] = rejected.get(said, 0) + number
    return Counts(
        now.seen - now.open,
        now.built,
        now.duplicates,
        tuple(sorted(rejected.items())),
        tuple(sorted(now.pruned.items())),
        now.open == 0,
    )
