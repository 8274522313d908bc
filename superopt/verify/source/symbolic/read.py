"""The symbolic reading of a kernel file: which claims about its memory hold for all sizes.

A claim is made of each function with the numbers of each plan that the file dispatches to. It holds
if it does for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import KernelText
from superopt.verify.source.load import read_text
from superopt.verify.source.symbolic.apart import stored_once
from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.bounds import in_bounds
from superopt.verify.source.symbolic.bounds import no_overflow
from superopt.verify.source.symbolic.concrete import MOST_LAUNCHED
from superopt.verify.source.symbolic.concrete import Fault
from superopt.verify.source.symbolic.concrete import faults
from superopt.verify.source.symbolic.concrete import large_sizes
from superopt.verify.source.symbolic.concrete import small_sizes
from superopt.verify.source.symbolic.evaluate import NotConcrete
from superopt.verify.source.symbolic.formula import FALSE
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import both
from superopt.verify.source.symbolic.formula import either
from superopt.verify.source.symbolic.kernel import Kernel
from superopt.verify.source.symbolic.launcher import HostReader
from superopt.verify.source.symbolic.launcher import PlanText
from superopt.verify.source.symbolic.launcher import largest
from superopt.verify.source.symbolic.launcher import plans
from superopt.verify.source.symbolic.names import check_names
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.positive import positives
from superopt.verify.source.symbolic.runner import Launch
from superopt.verify.source.symbolic.runner import Runner
from superopt.verify.source.symbolic.solve import Prover
from superopt.verify.source.symbolic.solve import Query
from superopt.verify.source.symbolic.tle import reader
from superopt.verify.source.symbolic.value import Access
from superopt.verify.source.symbolic.value import Descriptor
from superopt.verify.source.symbolic.value import Tensor
from superopt.verify.source.symbolic.written import all_stored
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict

Claim = tuple[str, Verdict]
BY = "z3/integers, the text read with symbolic sizes"
ASSUMED: tuple[str, ...] = (
    "tiles, parts and groups are those of the file's plans",
    "sizes, strides and overlaps are as the launcher checks them",
    "a launch has at most 2**31 - 1 programs and a tile at most 2**20 elements",
)
# PTX ISA, tensor copies: what lies past an end of the tensor is read as 0 and not written.
CUT = "the hardware cuts boxes at the ends of the tensors that descriptors describe"
# Slots and phases are counted on from tile to tile; how often that is, no launcher checks.
FILLED = "a program that takes several tiles fills a ring fewer than 2**31 times"
WIDTH = "numbers fit their width"
MEMORY = "memory"  # all of a function's claims, where its text is not known


@dataclass(frozen=True)
class Reading:
    """``claims``: each with its verdict. ``queries``: what was put to z3 on the way."""

    claims: tuple[Claim, ...]
    queries: tuple[Query, ...]


def read_symbolic(source: Path | str, function: str, refute: bool = True) -> Reading:
    """Reads a kernel file whose public function is ``function``.

    ``refute``: also looks for sizes at which what is not proved fails; else that is unknown.

    Raises:
        SyntaxError: the file is no Python.
    """
    text = read_text(source, function)
    found = _Claims()
    try:
        check_names(text)
        rows = plans(text)
    except OutsideVocabularyError as error:
        return Reading(((f"{function}: {MEMORY}", Unknown(str(error))),), ())
    numbers: dict[tuple[object, ...], PlanText] = {}
    for row in rows:
        numbers.setdefault((row.graph, row.launches), row)
    prover = Prover()
    refuted: dict[str, Fault] = {}
    for plan in numbers.values():
        axes = _Plan(text, function, plan, prover, found).read()
        if refute and axes and any(claim not in refuted for claim in found.open()):
            _refute(text, function, plan, axes, found.open(), refuted)
    return Reading(found.claims(refuted), tuple(prover.queries.values()))


def _refute(
    text: KernelText,
    function: str,
    plan: PlanText,
    axes: tuple[str, ...],
    wanting: Sequence[str],
    refuted: dict[str, Fault],
) -> None:
    """Looks for sizes at which claims fail, by execution."""
    open_ = [w for w in wanting if w not in refuted]
    trials = list(small_sizes(axes, plan)) if any(not _is_width(w) for w in open_) else []
    if any(map(_is_width, open_)):
        trials += large_sizes(axes, largest(text) or 2**31)
    integers = any(f"torch.{d}" in text.text for d in ("int8", "int16", "int32", "int64"))
    for sizes, data in product(trials, (0, 2**31 - 1, -(2**31)) if integers else (0,)):
        try:
            found = faults(text, function, plan, sizes, data)
        except (OutsideVocabularyError, NotConcrete):
            continue
        for fault in found:
            of_all = f"{fault.claim.rpartition(': ')[0]}: {MEMORY}"  # of a text that is not known
            for claim in (fault.claim, of_all):
                if claim in wanting:
                    refuted.setdefault(claim, fault)
        if all(w in refuted for w in wanting):
            return


def _is_width(claim: str) -> bool:
    return claim.endswith(WIDTH)


class _Claims:
    """Claims by name, with what is wanting of each. ``facts``: what the next ones rest on.
    ``plans``: those that were read: graphs, each with the numbers that its launches depend on."""

    def __init__(self) -> None:
        self.wanting: dict[str, dict[str, None]] = {}
        self.facts = ASSUMED
        self.on: dict[str, tuple[str, ...]] = {}
        self.plans: set[tuple[int, frozenset[tuple[tuple[int, str], int]]]] = set()

    def add(self, claim: str, wanting: Iterable[str]) -> None:
        self.wanting.setdefault(claim, {}).update(dict.fromkeys(wanting))
        self.on[claim] = self.facts

    def claims(self, refuted: Mapping[str, Fault]) -> tuple[Claim, ...]:
        return tuple((c, self._verdict(c, list(w), refuted)) for c, w in self.wanting.items())

    def open(self) -> list[str]:
        """The claims that are not proved."""
        return [claim for claim, wanting in self.wanting.items() if wanting]

    def _verdict(self, claim: str, wanting: list[str], refuted: Mapping[str, Fault]) -> Verdict:
        if wanting and claim in refuted:
            return Refuted(refuted[claim].at, refuted[claim].what)
        return Unknown("; ".join(wanting)) if wanting else Proved(BY, self.on[claim])


class _Plan:
    """The claims about one plan's launches."""

    def __init__(
        self, text: KernelText, function: str, plan: PlanText, prover: Prover, found: _Claims
    ) -> None:
        self.text, self.function, self.plan = text, function, plan
        self.prover, self.found = prover, found
        self.host = self.atoms = Atoms(prover)  # what the launcher says; what a launch adds
        self.stored: dict[str, list[str]] = {}  # by tensor: what is wanting of its being stored

    def read(self) -> tuple[str, ...]:
        """Makes the claims; returns the axes of the operator."""
        name = f"{self.function}, graph {self.plan.graph}: launches"
        try:
            host = HostReader(self.text, self.atoms, None).read(self.function)
            runner = Runner(self.text, host, self.plan.launches).read(self.plan.graph)
        except OutsideVocabularyError as error:
            self.found.add(name, [str(error)])
            return ()
        used = self.plan.graph, frozenset(runner.used.items())
        if used in self.found.plans:  # its launches are those of an earlier plan
            return tuple(host.sizes)
        self.found.plans.add(used)
        for launch in runner.launches:
            boxes = any(isinstance(v, Descriptor) for v in launch.arguments.values())
            dealt = launch.dealt is not None
            self.found.facts = (*ASSUMED, *[CUT] * boxes, *[FILLED] * dealt)
            self._launch(launch)
        self.found.facts = ASSUMED
        outputs = [t for t in host.tensors.values() if t.kind == "output"]
        missing = [t.name for t in outputs if t.name not in self.stored]
        self.found.add(name, [f"no kernel stores {m}" for m in missing])
        return tuple(host.sizes)

    def _launch(self, launch: Launch) -> None:
        # Names begin anew with every launch, so that equal functions put equal questions.
        atoms = self.atoms = self.host.copied()
        self._programs(launch)
        path = (
            *launch.path,
            *positives(launch.programs, launch.path, atoms, self.prover),
        )
        if launch.dealt is not None:
            path += positives(launch.dealt, path, atoms, self.prover)
        atoms.given = path
        pid = atoms.free("pid", upper=(launch.programs,))
        assert pid.atom is not None
        atoms.assume(pid.atom, at_least(number(MOST_LAUNCHED), launch.programs))
        before = len(atoms.unsure)
        try:
            kernel = reader(self.text, launch.function)(
                self.text,
                self.text.kernels[launch.function],
                launch.arguments,
                atoms,
                pid,
                path,
                programs=launch.programs,
            ).read()
        except OutsideVocabularyError as error:
            self.found.add(f"{launch.function}: {MEMORY}", [str(error)])
            return
        unsure = [f"{p} is divided by {y}" for p, y in atoms.unsure[before:]]
        self._claim(f"{launch.function}: divisors are positive", unsure)
        if launch.early != FALSE:
            self._waits(launch, kernel)
        assert kernel.share.atom is not None
        self._accesses(launch, kernel.accesses, kernel.share.atom)
        claim = self._begin(f"{launch.function}: {WIDTH}")
        self.found.add(claim, no_overflow(kernel.uses, path, atoms, self.prover))

    def _programs(self, launch: Launch) -> None:
        """A launch is made if and only if it has programs."""
        claim = self._begin(f"{launch.function}: launched where there are programs")
        some = at_least(launch.programs, number(1))
        wanting = []
        if not self.prover.proves((some,), launch.asked, self.atoms):
            wanting.append("it may be left out")
        if not self.prover.proves((launch.asked,), some, self.atoms):
            wanting.append("it may have no programs")
        self.found.add(claim, wanting)

    def _waits(self, launch: Launch, kernel: Kernel) -> None:
        """A launch that may begin early waits before it touches memory."""
        claim = self._begin(
            f"{launch.function}: memory is touched after the launch before has ended"
        )
        wanting = []
        for number_, access in enumerate(kernel.accesses):
            waited = either(both(path) for before, path in kernel.waits if before <= number_)
            if not self.prover.proves((*access.path, launch.early), waited, self.atoms):
                wanting.append(f"line {access.line}: no wait before it")
        self.found.add(claim, wanting)

    def _accesses(self, launch: Launch, accesses: list[Access], pid: str) -> None:
        groups: dict[tuple[bool, Tensor], list[Access]] = {}
        for access in accesses:
            groups.setdefault((access.stores, access.tensor), []).append(access)
        for (stores, tensor), some in groups.items():
            claim = self._begin(f"{launch.function}: {some[0].word} of {tensor.name} in bounds")
            beyond = in_bounds(some, self.atoms, self.prover)
            self.found.add(claim, beyond)
            if stores:
                self._stores(launch, tensor, some, pid, beyond)
            elif tensor.kind == "workspace":
                claim = f"{launch.function}: {tensor.name} is read after it is stored"
                self._claim(claim, self.stored.get(tensor.name, ["no earlier kernel stores it"]))

    def _stores(
        self, launch: Launch, tensor: Tensor, stores: list[Access], pid: str, beyond: list[str]
    ) -> None:
        """``beyond``: what may be out of bounds, and so may have the address of any element."""
        claim = self._begin(f"{launch.function}: no element of {tensor.name} is stored twice")
        self.found.add(claim, [*beyond, *stored_once(stores, pid, self.atoms, self.prover)])
        claim = self._begin(f"{launch.function}: every element of {tensor.name} is stored")
        wanting = all_stored(stores, pid, self.atoms, self.prover)
        self.found.add(claim, wanting)
        self.stored.setdefault(tensor.name, []).extend(wanting)

    def _claim(self, claim: str, wanting: Iterable[str]) -> None:
        self.found.add(claim, wanting)

    def _begin(self, claim: str) -> str:
        """The claim that is asked about from here on."""
        self.prover.claim = claim
        return claim
