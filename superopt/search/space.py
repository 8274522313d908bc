"""The search: forms, cuts, mappings; best first by lower bound; a lazy stream of outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from typing import Protocol

from superopt.device import Device
from superopt.search.bounds import Case
from superopt.search.cuts import Cut
from superopt.search.cuts import axes_in_order
from superopt.search.cuts import cuts
from superopt.search.kernel import Choice
from superopt.search.kernel import Kernels
from superopt.search.kernel import Made
from superopt.search.kernel import Refused
from superopt.search.kernel import Repaired
from superopt.search.model import total
from superopt.search.order import Queue
from superopt.search.outcome import Built
from superopt.search.outcome import Counts
from superopt.search.outcome import Outcome
from superopt.search.outcome import Pruned
from superopt.search.outcome import Rejected
from superopt.search.shares import shares
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store

SLACK = 1.25  # a partial candidate is dropped when its bound is this much above the best time


class Form(Protocol):
    """A form of the spec (``rewrite.forms``): an equal program, and how it was derived."""

    @property
    def program(self) -> Program:
        """What it computes."""

    @property
    def steps(self) -> Sequence[Any]:
        """How it was derived from the spec."""


@dataclass(frozen=True)
class _Whole:
    """A cut that was not opened yet."""

    form: int
    cut: Cut


@dataclass(frozen=True)
class _Mapped:
    """One mapping of a cut that has one kernel."""

    form: int
    stores: tuple[Store, ...]
    index: int


class Search:
    """Searches equal ``forms`` of one spec for kernel graphs, best first and anytime.

    It is an iterator over outcomes; ``counts`` is right between any two of them. ``sizes``: of
    every axis. ``repaired``: repairs of earlier searches of the same spec, which grows.

    It stops when nothing is left that could beat the best candidate by the model (more than
    ``SLACK`` allows), or after ``budget`` candidates (built or rejected ones). The order
    depends on the arguments alone.
    """

    def __init__(
        self,
        forms: Sequence[Form],
        sizes: Mapping[str, int],
        dtype: str,
        device: Device,
        budget: int = 64,
        tf32: bool = False,
        slack: float = SLACK,
        repaired: Repaired | None = None,
    ) -> None:
        self.forms = forms
        self.budget, self.slack = budget, slack
        self.counts = Counts()
        self.best = float("inf")
        first = forms[0].program
        axes = axes_in_order(first)
        least = dict.fromkeys(axes, 1.0)
        for form in forms:
            for axis, share in shares(form.program, sizes, axes).items():
                least[axis] = min(least[axis], share)
        self.kernels = Kernels(Case(sizes, dtype, device, tf32, least), axes, repaired)
        self._queue: Queue[_Whole | _Mapped] = Queue()
        self._graphs: dict[KernelGraph, None] = {}
        self._run = self._outcomes()

    def __iter__(self) -> Iterator[Outcome]:
        return self

    def __next__(self) -> Outcome:
        return next(self._run)

    def _outcomes(self) -> Iterator[Outcome]:
        self._fill()
        left = self.budget
        while self._queue and left > 0:
            if self._queue.least > self.best * self.slack:
                yield from self._prune()
                return
            entry = self._queue.pop()
            self.counts.open -= 1
            match entry:
                case _Whole(cut=Cut(kernels=(stores,))) if self.kernels.choices(stores):
                    self._open(entry.form, stores)
                    continue
                case _Whole(cut=cut):
                    outcome = self._cut(entry.form, cut)
                case _Mapped():
                    outcome = self._mapping(entry)
            if outcome is not None:
                left -= not isinstance(outcome, Pruned)
                yield outcome

    def _fill(self) -> None:
        """Puts every distinct cut of every form into the queue."""
        known: dict[Cut, None] = {}
        for number, form in enumerate(self.forms):
            for cut in cuts(form.program):
                self.counts.seen += 1
                if cut in known:
                    self.counts.duplicates += 1
                    continue
                known[cut] = None
                bound = sum(self.kernels.bound(k) for k in cut.kernels)
                self.counts.open += 1
                self._queue.push(bound, len(cut.kernels), _Whole(number, cut))

    def _open(self, form: int, stores: tuple[Store, ...]) -> None:
        """Replaces a cut of one kernel by that kernel's mappings."""
        self.counts.seen -= 1
        for index, choice in enumerate(self.kernels.choices(stores)):
            self.counts.seen += 1
            self.counts.open += 1
            self._queue.push(choice.bound, len(choice.passes), _Mapped(form, stores, index))

    def _prune(self) -> Iterator[Outcome]:
        least, left = self._queue.least, self._queue.clear()
        self.counts.open = 0
        stages = ["cut" if isinstance(e, _Whole) else "mapping" for e in left]
        self.counts.pruned.update(stages)
        for stage in dict.fromkeys(stages):
            yield Pruned(stage, stages.count(stage), least)

    def _mapping(self, entry: _Mapped) -> Outcome | None:
        choice = self.kernels.choices(entry.stores)[entry.index]
        match self._make(entry.stores, entry.index):
            case Refused() as refused:
                return self._reject(refused.stage, refused.why, described(choice))
            case Made() as made:
                return self._built(entry.form, [made])

    def _make(self, stores: tuple[Store, ...], index: int) -> Made | Refused:
        self.counts.kernels += not self.kernels.known(stores, index)
        return self.kernels.make(stores, index)

    def _cut(self, form: int, cut: Cut) -> Outcome | None:
        """A cut of several kernels, each at its best mapping (their times add up)."""
        made: list[Made] = []
        for number, stores in enumerate(cut.kernels):
            found = self._fastest(stores)
            if isinstance(found, Refused):
                text = f"kernel {number} of {len(cut.kernels)}: {names(stores)}"
                return self._reject(found.stage, found.why, text)
            made.append(found)
            rest = sum(self.kernels.bound(k) for k in cut.kernels[number + 1 :])
            if (least := sum(m.us for m in made) + rest) > self.best * self.slack:
                self.counts.pruned["cut"] += 1
                return Pruned("cut", 1, least)
        return self._built(form, made)

    def _fastest(self, stores: tuple[Store, ...]) -> Made | Refused:
        """The kernel's best mapping by the model; the first refusal if none can go on."""
        best: Made | None = None
        refusal: Refused | None = None
        for index, choice in enumerate(self.kernels.choices(stores)):
            if best is not None and choice.bound >= best.us:
                break
            match self._make(stores, index):
                case Made() as made:
                    best = made if best is None or made.us < best.us else best
                case Refused() as refused:
                    refusal = refusal or refused
        return best or refusal or Refused("mapping", self.kernels.why_none(stores))

    def _reject(self, stage: str, why: str, text: str) -> Rejected:
        self.counts.rejected[stage, why] += 1
        return Rejected(stage, why, text)

    def _built(self, form: int, made: Sequence[Made]) -> Built | None:
        program = self.forms[form].program
        graph = KernelGraph(
            program.name,
            program.params,
            tuple(s.name for s in program.outputs),
            tuple(m.block for m in made),
            program.fixed,
        )
        if graph in self._graphs:
            self.counts.duplicates += 1
            return None
        self._graphs[graph] = None
        first = [m.options[0] for m in made]
        estimate = total(
            graph,
            [t for o in first for t in o.times],
            [c for o in first for c in o.costs],
            self.kernels.case.operand,
            self.kernels.case.device,
        )
        self.best = min(self.best, estimate.us)
        self.counts.built += 1
        return Built(
            graph,
            tuple(tuple(o.configs for o in m.options) for m in made),
            estimate,
            tuple(r for m in made for r in m.repairs),
            self.forms[form].steps,
            form,
        )


def described(choice: Choice) -> str:
    """A mapping in a line: places, and the folds per walk."""
    places = " ".join(f"{a}:{_word(p)}" for a, p in choice.placement.places)
    walks = " ".join(f"walk({axis}, {len(folds)} folds)" for axis, folds in choice.passes)
    return f"{places} {walks}{' back and forth' if choice.turned else ''}".strip()


def _word(place: Place) -> str:
    match place:
        case Grid(tiled=False):
            return "Grid1"
        case Loop(tiled=False):
            return "Loop1"
        case Pack(into=into):
            return f"Pack({into})"
        case _:
            return type(place).__name__


def names(stores: Sequence[Store]) -> str:
    """The tensors that a kernel writes."""
    return " ".join(s.name for s in stores)
