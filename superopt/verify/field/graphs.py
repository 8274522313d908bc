"""Whether a kernel graph computes its spec: both evaluated at random points of fields."""

from __future__ import annotations

import math
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from superopt.errors import IllTyped
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import Array
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input
from superopt.ugraph.node import Scalar
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.verify.field.array import FieldArray
from superopt.verify.field.array import exact_of
from superopt.verify.field.array import truth_of
from superopt.verify.field.bound import NEVER
from superopt.verify.field.bound import NoBound
from superopt.verify.field.bound import RoundBound
from superopt.verify.field.bound import round_bound
from superopt.verify.field.compare import Difference
from superopt.verify.field.compare import compared
from superopt.verify.field.distances import shrunk
from superopt.verify.field.domain import FieldDomain
from superopt.verify.field.extrema import CHOICE
from superopt.verify.field.extrema import EITHER
from superopt.verify.field.extremes import extreme_integers
from superopt.verify.field.functions import LOG
from superopt.verify.field.meaning import Meaning
from superopt.verify.field.meaning import outputs_of
from superopt.verify.field.primes import MOST_LEVELS
from superopt.verify.field.refute import counterexample
from superopt.verify.field.squares import with_roots
from superopt.verify.field.ties import FACT
from superopt.verify.field.ties import tied_trials
from superopt.verify.field.trials import Trial
from superopt.verify.field.trials import past
from superopt.verify.field.trials import trials
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict

MOST_ROUNDS = 64  # in one evaluation
MOST_BATCHES = 128
MOST_POINTS = MOST_ROUNDS * MOST_BATCHES
FIRST_BATCHES = 8  # in which every element must be decided once, or else none will be
TIED_SEED = 990  # beyond those of the other comparisons
INTEGER_DRAWS = 3  # per trial, if the operator has integer or boolean parameters


def verify_graph(
    program: Program, graph: KernelGraph, seed: int, log2_limit: float = -60.0
) -> Verdict:
    """Whether ``graph`` has the outputs of ``program``, sampled at several small sizes.

    ``Refuted`` if they differ and the difference depends on nothing that was drawn, or was
    found again in float64. ``Unknown`` if they differ otherwise, or if no bound can be computed.
    """
    if (shape := _signature(program, graph)) is not None:
        return shape
    draws = 1 if all(p.kind is Kind.REAL for p in program.params) else INTEGER_DRAWS
    points, worst, facts = 0, -math.inf, dict[str, None]()
    sizes: list[str] = []
    for number, trial in enumerate(trials(program, graph)):
        for draw in range(draws):
            run = Comparison(program, graph, trial, seed * 1000 + number * 10 + draw, log2_limit)
            verdict = run.verdict()
            if not isinstance(verdict, Sampled):
                return verdict
            points += verdict.points
            worst = max(worst, verdict.log2_bound)
            facts.update(dict.fromkeys(verdict.facts))
        sizes.append(" ".join(f"{a}={n}" for a, n in trial.sizes))
    facts["at sizes " + "; ".join(sizes)] = None
    found = Sampled(points, worst, tuple(facts))
    for further in (_near, _tied):
        other = further(program, graph, seed, log2_limit)
        if isinstance(other, Sampled):
            found = _joined(found, other)
        elif other is not None:
            return other
    return found


def _joined(a: Sampled, b: Sampled) -> Sampled:
    """Both claims together, and of the second the last fact."""
    return Sampled(a.points + b.points, max(a.log2_bound, b.log2_bound), (*a.facts, *b.facts[-1:]))


def _tied(program: Program, graph: KernelGraph, seed: int, limit: float) -> Verdict | None:
    """The comparison in which compared data may be equal; None if there are none, or too many."""
    found = tied_comparison(program, graph, graph, seed, limit)
    verdict = None if found is None else found.verdict()
    return _with_fact(verdict, FACT) if isinstance(verdict, Sampled) else verdict


def _with_fact(verdict: Sampled, fact: str) -> Sampled:
    return replace(verdict, facts=(*verdict.facts, fact))


def tied_comparison(
    program: Program, what: KernelGraph | Meaning, graph: KernelGraph, seed: int, limit: float
) -> Comparison | None:
    """The largest comparison with ties that can be decided; ``graph`` says how axes are cut."""
    for trial in tied_trials(program, graph):
        found = Comparison(program, what, trial, seed * 1000 + TIED_SEED, limit, ties=True)
        if found.decidable:
            return found
    return None


def _near(program: Program, graph: KernelGraph, seed: int, limit: float) -> Verdict | None:
    """The comparison with the distances in masks made small; None if they are."""
    spec, kernels, small = shrunk(program, graph)
    if not small:
        return None
    trial = past(program, graph, max(small.values()))
    verdict = Comparison(spec, kernels, trial, seed, limit).verdict()
    said = ", ".join(f"{b} for {a}" for a, b in small.items() if a != b)
    fact = f"distances in masks also read as {said}"
    match verdict:
        case Sampled():
            return _with_fact(verdict, fact)
        case Refuted(what=what):
            return Unknown(f"{fact}: {what}")  # at other numbers, which prove nothing for these
    return verdict


def _signature(program: Program, graph: KernelGraph) -> Refuted | None:
    """Whether the graph's outputs are named, ordered and stored as the spec's are."""
    wanted = {s.name: (s.order, s.dtype) for s in program.outputs}
    if tuple(wanted) != graph.outputs:
        return Refuted((), f"outputs are {graph.outputs} and should be {tuple(wanted)}")
    stored = {s.name for block in graph.kernels for s in block.all_stores}
    if missing := [name for name in wanted if name not in stored]:
        return Refuted((), f"output {missing[0]!r} is never stored")
    for block in graph.kernels:
        for store in block.all_stores:
            got = (store.order, store.dtype)
            if store.name in wanted and got != wanted[store.name]:
                return Refuted((), f"{store.name} is {got} and should be {wanted[store.name]}")
    return None


@dataclass
class Comparison:
    """The comparison of a graph (or a text) with its spec at one choice of sizes and integers.

    ``extreme``: integers are the ends of their range and of the axes, not small ones. ``ties``:
    compared data may be equal.
    """

    program: Program
    graph: KernelGraph | Meaning
    trial: Trial
    seed: int
    limit: float
    drawn_logs: bool = False
    equivariant: frozenset[Fn] = frozenset()
    extreme: bool = False
    ties: bool = False

    @property
    def decidable(self) -> bool:
        """Whether so few points decide that they can be drawn."""
        variants = (self, replace(self, drawn_logs=True), replace(self, equivariant=EITHER))
        try:
            return any(self._points(one._bound()) <= MOST_POINTS for one in variants)
        except IllTyped:
            return False

    def verdict(self) -> Verdict:
        """Sampled below the limit, or the reason why not."""
        try:
            bound = self._bound()
            if not self.drawn_logs and not self._within_reach(bound):
                # With fewer laws of the logarithm it may be.
                drawn = replace(self, drawn_logs=True)
                if self._within_reach(drawn._bound()):
                    return drawn.verdict()
            if not self.equivariant and self._points(bound) > MOST_POINTS:
                # With more laws of maxima there are fewer absolute values to decide.
                moving = replace(self, equivariant=EITHER)
                if self._points(moving._bound()) <= MOST_POINTS:
                    return moving.verdict()
        except IllTyped as wrong:
            return Unknown(f"the graph has no meaning: {wrong}")
        if isinstance(bound, NoBound):
            # It may still be refuted.
            found, _ = self._batch(2, 8, 0)
            return found or Unknown(self._why(bound))
        if bound.levels > MOST_LEVELS:
            return Unknown(f"{bound.levels - 1} nested exponentials are too many")
        return self._sampled(bound)

    def _why(self, bound: NoBound) -> str:
        """Why there is none; with logarithms drawn there may be one for which no points suffice."""
        drawn = replace(self, drawn_logs=True)._bound()
        if isinstance(drawn, NoBound):
            return bound.why
        return f"too few random points decide: {drawn.why_few()}"

    def _within_reach(self, bound: RoundBound | NoBound) -> bool:
        return isinstance(bound, RoundBound) and bound.rounds(self.limit) <= MOST_POINTS

    def _points(self, bound: RoundBound | NoBound) -> int:
        """About how many points it takes: of k independent roots, all are known in one of 2^k."""
        if isinstance(bound, NoBound):
            return MOST_POINTS + 1
        return bound.rounds(self.limit) << min(bound.roots, 32)

    def _bound(self) -> RoundBound | NoBound:
        return round_bound(
            self.program,
            self.graph,
            self.trial,
            self.integers(),
            self.drawn_logs,
            self.equivariant,
            self.ties,
        )

    def _sampled(self, bound: RoundBound) -> Verdict:
        need = bound.rounds(self.limit)
        batch = min(MOST_ROUNDS, need << min(bound.roots, 6))
        seen: dict[str, npt.NDArray[np.int64]] = {}
        for number in range(MOST_BATCHES if self._within_reach(bound) else FIRST_BATCHES):
            found, counts = self._batch(bound.levels, batch, number)
            if found is not None:
                return found
            for name, count in counts.items():
                seen[name] = seen.get(name, 0) + count
            least = min((int(c.min()) for c in seen.values() if c.size), default=need)
            if least >= need:
                return Sampled((number + 1) * batch, bound.after(least), bound.facts)
            if not least and number + 1 >= FIRST_BATCHES:
                break
        if not least and bound.levels == 1:
            # A logarithm times a constant needs a level for that, even if no exponential is left.
            return self._sampled(replace(bound, levels=2))
        most = f"{need}" if need < NEVER else "more than can be drawn"
        return Unknown(
            f"too few random points decide ({least}, and {most} would have to): {bound.why_few()}"
        )

    def _batch(
        self, levels: int, rounds: int, number: int
    ) -> tuple[Verdict | None, dict[str, npt.NDArray[np.int64]]]:
        """One evaluation of both graphs: a verdict if they differ, else decided rounds."""
        seed = self.seed * 100 + number
        logs, maxima = self.drawn_logs, self.equivariant
        domain = FieldDomain(
            seed, levels, rounds, drawn_logs=logs, equivariant=maxima, ties=self.ties
        )
        arrays = {p.name: self._drawn(domain, p, number) for p in self.program.params}

        def redraw(param: Input, attempt: int) -> FieldArray:
            return self._drawn(domain, param, number + MOST_BATCHES * attempt)

        arrays = with_roots(self.program, domain, arrays, self.trial.size, redraw)
        spec = evaluate_program(self.program, domain, arrays, self.trial.size)
        got = outputs_of(self.graph, domain, arrays, self.trial)
        counts: dict[str, npt.NDArray[np.int64]] = {}
        for name, value in spec.items():
            if name not in got or got[name].shape != value.shape:
                return Refuted((), f"output {name!r} is missing or has another shape"), {}
            difference, counts[name] = compared(domain.functions, value, got[name])
            if difference is not None:
                return self._differs(name, difference), counts
        return None, counts

    def _drawn(self, domain: FieldDomain, param: Input | Scalar, number: int) -> FieldArray:
        order = param.order if isinstance(param, Input) else ()
        shape = tuple(self.trial.size[a] for a in order)
        # Integers are part of the claim, so they are the same in all batches.
        seed = self.seed * 100 + number if param.kind is Kind.REAL else self.seed
        if self.extreme and param.kind is Kind.INT:
            return extreme_integers(param, shape, self.trial.size, seed)
        return domain.draw(param, shape, seed)

    def integers(self) -> Mapping[str, Array]:
        """The integer and boolean parameters of this run."""
        domain = FieldDomain(self.seed, 1, 1)
        found: dict[str, Array] = {}
        for param in self.program.params:
            if param.kind is not Kind.REAL:
                value = self._drawn(domain, param, 0)
                exact = param.kind is Kind.INT
                found[param.name] = exact_of(value)[0] if exact else truth_of(value)[0][0]
        return found

    def _readings(self, doubts: frozenset[str]) -> Iterator[Comparison]:
        """With more laws of extrema they may agree; of one that is moved by another extremum, or
        by a logarithm, these are only seen where that is drawn."""
        if self.equivariant:
            return
        if CHOICE in doubts:
            for moving in (EITHER, frozenset({Fn.MAX}), frozenset({Fn.MIN})):
                yield replace(self, equivariant=moving)
        if LOG in doubts and not self.drawn_logs:
            yield replace(self, drawn_logs=True)

    def _differs(self, name: str, difference: Difference) -> Verdict:
        found = counterexample(
            self.program, self.graph, self.trial, self.integers(), self.seed, self.ties
        )
        if found is not None:
            return found
        for other in self._readings(difference.doubts):
            verdict = other.verdict()
            if isinstance(verdict, Sampled):
                return verdict
        where = f"{name}{list(difference.position)}"
        if difference.doubts:
            why = ", ".join(sorted(difference.doubts))
            return Unknown(f"{where} differs, which may be due to {why}")
        at = tuple((f"size {axis}", str(size)) for axis, size in self.trial.sizes)
        at = (*at, ("seed of the field", str(self.seed)))
        return Refuted(at, f"{where} is {difference.graph} and should be {difference.spec}")
