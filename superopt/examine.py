"""One candidate all the way down: proved, printed, compiled, executed; the first no ends it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from pathlib import Path

from superopt.case import Case
from superopt.device import Device
from superopt.emit.module import body_digest
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.errors import NotEmittable
from superopt.fitting import Fitted
from superopt.fitting import Known
from superopt.fitting import fit
from superopt.repair.record import Repair
from superopt.repair.record import words
from superopt.run import Candidate
from superopt.run import Stage
from superopt.search.configs import Ladder
from superopt.search.kernel import Repaired
from superopt.search.outcome import Built
from superopt.tune.printed import has_roles
from superopt.tune.printed import text_of
from superopt.ugraph.described import described
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.names import Names
from superopt.ugraph.split import launches
from superopt.ugraph.text import digest
from superopt.verify.readings import judge_roles
from superopt.verify.readings import judge_text
from superopt.verify.run.checks import FloatReport
from superopt.verify.run.checks import check_floats
from superopt.verify.run.compile_ahead import Compiler
from superopt.verify.run.execute import Runner
from superopt.verify.run.process import WorkerError
from superopt.verify.run.trial import ReadRequest
from superopt.verify.source.load import read_text
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict
from superopt.verify.verdict import accepted
from superopt.verify.verdict import spoken

Evidence = tuple[tuple[str, Verdict], ...]


@dataclass
class Examiner:
    """Examines the candidates of one spec function; evidence is shared by graph.

    ``program`` is the spec in canonical names, ``names`` the way back to the user's.
    ``directory`` is where candidates' files go.
    """

    program: Program
    names: Names
    device: Device
    seed: int
    directory: Path
    runner: Runner
    compiler: Compiler
    compiled: Known = field(default_factory=dict)
    repaired: Repaired = field(default_factory=dict)
    _proofs: dict[str, Evidence] = field(default_factory=dict)
    _floats: dict[object, FloatReport] = field(default_factory=dict)
    _readings: dict[str, Evidence] = field(default_factory=dict)

    def ranked(self, built: Built) -> Candidate:
        """``built`` as it is reported when nothing more is done with it."""
        graph = self.names.back(built.graph)
        return Candidate(
            digest=digest(graph),
            graph=graph,
            configs=self._user(built.configs),
            model_us=built.estimate.us,
            share=built.estimate.share_of_roofline,
            stage=Stage.RANKED,
            derivation=tuple(
                in_words(f"{s.law}: {s.before}  ->  {s.after}", self.names)
                for s in built.derivation
            ),
            repairs=tuple(in_words(repair_text(r), self.names) for r in built.repairs),
            records=built.repairs,
        )

    def prove(self, built: Built) -> Candidate:
        """``built`` with the evidence that its graph computes the spec."""
        candidate = self.ranked(built)
        if candidate.digest not in self._proofs:
            self._proofs[candidate.digest] = self._evidence(built)
        evidence = self._proofs[candidate.digest]
        wanting = [claim for claim, verdict in evidence if not accepted(verdict)]
        if wanting:
            why = f"{wanting[0]}: {spoken(dict(evidence)[wanting[0]])}"
            return replace(candidate, stage=Stage.REFUSED, why=why, evidence=evidence)
        return replace(candidate, stage=Stage.PROVED, evidence=evidence)

    def _evidence(self, built: Built) -> Evidence:
        from superopt.verify.judge import judge  # z3, which a machine that only times may lack

        found = judge(self.program, built.graph, built.repairs, self.seed)
        return claims_in_words(found.verdicts, self.names)

    def execute(self, built: Built, proved: Candidate, case: Case) -> Candidate:
        """A proved candidate, printed into a file of its own, read, compiled and executed.

        The compiler and the interpreter work at the same time, in processes of their own, as does
        the reading of roles, while the text is read here.
        """
        program = self.names.back(self.program)
        ladders = [tuple(self._user(c) for c in ladder) for ladder in built.ladders]
        described = any(c.descriptors for rungs in ladders for rung in rungs for c in rung)
        file = self.directory / f"{program.name}_{proved.digest[:12]}.py"
        try:
            rows = [row_of(case, 0, one, self.device.arch) for one in asked(ladders)]
            file.write_text(emit(program, [proved.graph], rows, Header(), described))
            text = text_of(program, proved.graph, case)
            first = tuple(c for rungs in ladders for c in rungs[0])
            with ThreadPoolExecutor(3) as threads:
                reading = threads.submit(self._read, program, proved.graph, text)
                if has_roles(first):  # the compiler takes the first rung, as a rule
                    ahead = threads.submit(self._read_roles, program, proved.graph, case, first)
                fitting = threads.submit(
                    fit,
                    self.compiler,
                    file,
                    proved.graph,
                    ladders,
                    case,
                    self.device,
                    known=self.compiled,
                )
                floats = self._executed(file, proved, case, described)
                fitted = fitting.result()
                read = reading.result()
                if has_roles(first):
                    ahead.result()
                fitted, told = self._with_roles(program, proved, case, ladders, file, fitted)
                read = (*read, *told)
        except NotEmittable as error:
            return replace(proved, stage=Stage.REFUSED, why=f"emit: {error}")
        done = replace(
            proved,
            text=body_digest(text),
            evidence=(*proved.evidence, *read),
            configs=fitted.configs,
            facts=fitted.facts,
            figures=tuple(replace(f, message=self.said(f.message)) for f in floats.figures),
            skipped=(*floats.skipped, *(f"with roles: {self.said(w)}" for w in fitted.passed)),
        )
        if fitted.why:
            return replace(done, stage=Stage.REFUSED, why=f"compile: {self.said(fitted.why)}")
        if wanting := [(claim, v) for claim, v in read if not accepted(v)]:
            claim, verdict = wanting[0]
            return replace(done, stage=Stage.REFUSED, why=f"{claim}: {spoken(verdict)}")
        if not floats.ok:
            why = str(floats.failures[0]) if floats.failures else "nothing could be executed"
            return replace(done, stage=Stage.REFUSED, why=f"floats: {self.said(why)}")
        return replace(done, stage=Stage.VERIFIED)

    def _read(self, program: Program, graph: KernelGraph, text: str) -> Evidence:
        """The claims about the text that is timed; once for all cases with the same text."""
        key = body_digest(text)
        if key not in self._readings:
            twins = any(described(block) for block in launches(graph))
            read = read_text(text, program.name)
            self._readings[key] = judge_text(read, program, graph, 0, twins, self.seed)
        return self._readings[key]

    def _with_roles(
        self,
        program: Program,
        proved: Candidate,
        case: Case,
        ladders: Sequence[Ladder],
        file: Path,
        fitted: Fitted,
    ) -> tuple[Fitted, Evidence]:
        """``fitted`` if its roles are read and hold (with that claim), or has none; else the
        Configs without roles."""
        configs = fitted.configs
        if not has_roles(configs):
            return fitted, ()
        claim, verdict = self._read_roles(program, proved.graph, case, configs)
        if accepted(verdict):
            return fitted, ((claim, verdict),)
        plain = [tuple(rung for rung in ladder if not has_roles(rung)) for ladder in ladders]
        again = fit(
            self.compiler, file, proved.graph, plain, case, self.device, known=self.compiled
        )
        return replace(again, passed=(f"{claim}: {spoken(verdict)}",)), ()

    def _read_roles(
        self, program: Program, graph: KernelGraph, case: Case, configs: Sequence[Config]
    ) -> tuple[str, Verdict]:
        """The claim about the roles that ``configs`` ask for; once for all cases with the same
        text."""
        text = text_of(program, graph, case, tuple(configs))
        key = body_digest(text)
        if key not in self._readings:
            file = self.directory / f"{program.name}_{key[:12]}_roles.py"
            file.write_text(text)
            try:
                request = ReadRequest(
                    str(file.resolve()), program, graph, tuple(configs), self.seed
                )
                self._readings[key] = (self.compiler.claim(request),)
            except WorkerError:  # what that process could not do may be done here
                self._readings[key] = (
                    judge_roles(
                        read_text(text, program.name), program, graph, configs, 0, self.seed
                    ),
                )
            finally:
                file.unlink()
        ((claim, verdict),) = self._readings[key]
        return claim, verdict

    def _executed(self, file: Path, proved: Candidate, case: Case, described: bool) -> FloatReport:
        """The float checks of a candidate, once for all cases that ask the same of it.

        ``described``: the file has functions with tensor descriptors.
        """
        key = (proved.digest, case.tf32, tuple(case.scalars.items()), described)
        if key not in self._floats:
            program = self.names.back(self.program)
            self._floats[key] = check_floats(
                file,
                program.name,
                program,
                [proved.graph],
                seed=self.seed,
                runner=self.runner,
                scalars=case.scalars,
                tf32=case.tf32,
                described=(0,) if described else (),
                stop_early=True,
            )
        return self._floats[key]

    def _user(self, configs: Sequence[Config]) -> tuple[Config, ...]:
        return tuple(self.names.back(c) for c in configs)

    def said(self, text: str) -> str:
        """A message of a tool as it is reported: without the paths of this machine."""
        return text.replace(f"{self.directory.resolve()}{os.sep}", "")


def claims_in_words(claims: Evidence, names: Names) -> Evidence:
    """``claims`` with the user's names in place of the canonical ones."""
    return tuple((in_words(claim, names), _spoken(v, names)) for claim, v in claims)


def _spoken(verdict: Verdict, names: Names) -> Verdict:
    match verdict:
        case Proved(by=by, facts=facts):
            return Proved(by, tuple(in_words(f, names) for f in facts))
        case Sampled(points=points, log2_bound=bound, facts=facts):
            return Sampled(points, bound, tuple(in_words(f, names) for f in facts))
        case Refuted(at=at, what=what):
            return Refuted(tuple((in_words(n, names), v) for n, v in at), in_words(what, names))
        case Unknown(why=why):
            return Unknown(in_words(why, names))


def in_words(text: str, names: Names) -> str:
    """``text`` with canonical names replaced by the user's."""
    known = {**names.axes, **names.tensors}
    return re.sub(r"(?<![A-Za-z0-9])[at]\d+\b", lambda m: known.get(m[0], m[0]), text)


def asked(ladders: Sequence[Ladder]) -> list[tuple[Config, ...]]:
    """The Configs of all launches, rung by rung: those of the first one, and all with roles."""
    found = []
    for number in range(max(map(len, ladders))):
        rungs = [ladder[min(number, len(ladder) - 1)] for ladder in ladders]
        found.append(tuple(c for rung in rungs for c in rung))
    return [c for n, c in enumerate(dict.fromkeys(found)) if n == 0 or has_roles(c)]


def row_of(case: Case, graph: int, configs: tuple[Config, ...], arch: str) -> Row:
    """The dispatch row of a case."""
    sizes = tuple(case.sizes.items())
    return Row(case.name, graph, configs, sizes, case.storage, case.tf32, arch)


def repair_text(repair: Repair) -> str:
    """A repair in one line."""
    producers = ", ".join(p.name for p in repair.producers)
    act, fold = repair.action.symbol, repair.fold.symbol
    moves = "; ".join(
        f"{c.name} <- {f' {fold} '.join(f'{m.source} {act} {words(m.factor)}' for m in c.moves)}"
        for c in repair.components
        if c.moves
    )
    return (
        f"carry {repair.carry.name} ({fold} over {repair.axis}) reads {producers} "
        f"too early: rank {repair.rank}, {moves or 'nothing moves; the producers act at the end'}"
    )
