"""One candidate all the way down: proved, printed, compiled, executed; the first no ends it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from pathlib import Path

from superopt.case import Case
from superopt.device import Device
from superopt.emit.ahead import launch_specs
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.errors import NotEmittable
from superopt.repair.record import Repair
from superopt.repair.record import words
from superopt.run import Candidate
from superopt.run import Stage
from superopt.search.outcome import Built
from superopt.source import Facts
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.names import Names
from superopt.ugraph.text import digest
from superopt.verify.checks import FloatReport
from superopt.verify.checks import check_floats
from superopt.verify.compile_ahead import Compiler
from superopt.verify.execute import Runner
from superopt.verify.graphs import verify_graph
from superopt.verify.obligations import judge_repair
from superopt.verify.ranges_proof import prove_limits
from superopt.verify.trial import NotCompiled
from superopt.verify.verdict import Verdict
from superopt.verify.verdict import accepted

SPILL_BYTES_MOST = 64  # a few bytes of spills cost nothing; more say that the tiles are too large

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
    _proofs: dict[str, Evidence] = field(default_factory=dict)
    _floats: dict[tuple[str, bool], FloatReport] = field(default_factory=dict)

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
                self._words(f"{s.law}: {s.before}  ->  {s.after}") for s in built.derivation
            ),
            repairs=tuple(self._words(repair_text(r)) for r in built.repairs),
        )

    def prove(self, built: Built) -> Candidate:
        """``built`` with the evidence that its graph computes the spec."""
        candidate = self.ranked(built)
        if candidate.digest not in self._proofs:
            self._proofs[candidate.digest] = tuple(self._evidence(built))
        evidence = self._proofs[candidate.digest]
        wanting = [claim for claim, verdict in evidence if not accepted(verdict)]
        if wanting:
            why = f"{wanting[0]}: {dict(evidence)[wanting[0]]}"
            return replace(candidate, stage=Stage.REFUSED, why=why, evidence=evidence)
        return replace(candidate, stage=Stage.PROVED, evidence=evidence)

    def _evidence(self, built: Built) -> list[tuple[str, Verdict]]:
        found: list[tuple[str, Verdict]] = []
        for number, one in enumerate(built.repairs):
            block = next(b for b in built.graph.kernels if _holds(b.walks, one))
            for claim, verdict in judge_repair(one, block, self.seed):
                found.append((f"repair {number}, {claim}", verdict))
        for block in built.graph.kernels:
            for limit, verdict in prove_limits(block):
                found.append((self._words(f"loop limits of {limit.axis}"), verdict))
        graph = verify_graph(self.program, built.graph, self.seed)
        return [("graph equals spec", graph), *found]

    def execute(self, built: Built, proved: Candidate, case: Case) -> Candidate:
        """A proved candidate, printed into a file of its own, compiled and executed."""
        program = self.names.back(self.program)
        choices = [proved.configs, *(self._user(c) for c in built.alternatives)]
        file = self.directory / f"{program.name}_{proved.digest[:12]}.py"
        try:
            row = row_of(case, 0, proved.configs, self.device.arch)
            file.write_text(emit(program, [proved.graph], [row], Header()))
            configs, facts, why = self._compiled(file, proved.graph, choices, case)
        except NotEmittable as error:
            return replace(proved, stage=Stage.REFUSED, why=f"emit: {error}")
        if why:
            return replace(proved, stage=Stage.REFUSED, why=f"compile: {why}", facts=facts)
        key = (proved.digest, case.tf32)
        if key not in self._floats:
            self._floats[key] = check_floats(
                file,
                program.name,
                program,
                [proved.graph],
                seed=self.seed,
                runner=self.runner,
                scalars=case.scalars,
                tf32=case.tf32,
                stop_early=True,
            )
        floats = self._floats[key]
        done = replace(proved, configs=configs, facts=facts, figures=floats.figures)
        if not floats.ok:
            why = str(floats.failures[0]) if floats.failures else "nothing could be executed"
            return replace(done, stage=Stage.REFUSED, why=f"floats: {why}")
        return replace(done, stage=Stage.VERIFIED)

    def _compiled(
        self, file: Path, graph: KernelGraph, choices: Sequence[tuple[Config, ...]], case: Case
    ) -> tuple[tuple[Config, ...], tuple[Facts, ...], str]:
        """The first choice that compiles within the device's limits, or why the first did not."""
        refusal = ""
        for configs in choices:
            facts, why = compiled(self.compiler, file, graph, configs, case, self.device)
            if not why:
                return configs, facts, ""
            refusal = refusal or why
        return choices[0], (), refusal

    def _user(self, configs: Sequence[Config]) -> tuple[Config, ...]:
        return tuple(self.names.back(c) for c in configs)

    def _words(self, text: str) -> str:
        """``text`` with canonical names replaced by the user's."""
        known = {**self.names.axes, **self.names.tensors}
        return re.sub(r"\b[at]\d+\b", lambda m: known.get(m[0], m[0]), text)


def compiled(
    compiler: Compiler,
    file: Path,
    graph: KernelGraph,
    configs: tuple[Config, ...],
    case: Case,
    device: Device,
    index: int = 0,
) -> tuple[tuple[Facts, ...], str]:
    """What the compiler says of graph number ``index`` of ``file``, and why it is no good.

    The second is empty if every launch compiled, within the shared memory of ``device`` and
    without more than a few bytes of spills.
    """
    dtype = case.dtype or "bf16"
    specs = launch_specs(graph, configs, case.sizes, dtype, case.tf32, index)
    results = compiler.compile(file, specs, device.arch)
    facts = tuple(r for r in results if isinstance(r, Facts))
    for result in results:
        match result:
            case NotCompiled(function=function, why=why):
                return facts, f"{function}: {why}"
            case Facts(function=function, shared_bytes=shared) if shared > device.shared_block:
                return facts, f"{function}: {shared} bytes of shared memory, over the limit"
            case Facts(function=function, spill_bytes=spills) if spills > SPILL_BYTES_MOST:
                return facts, f"{function}: {spills} bytes of registers spill"
    return facts, ""


def row_of(case: Case, graph: int, configs: tuple[Config, ...], arch: str) -> Row:
    """The dispatch row of a case."""
    sizes = tuple(case.sizes.items())
    return Row(case.name, graph, configs, sizes, case.dtype or "bf16", case.tf32, arch)


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


def _holds(walks: Sequence[object], one: Repair) -> bool:
    """Whether a kernel's walks hold the components of a repair."""
    from superopt.ugraph.levels import Walk

    return any(
        isinstance(w, Walk) and w.axis == one.axis and set(one.components) <= set(w.carries)
        for w in walks
    )
