"""Whether a printed text computes its spec: the text itself at random points of fields."""

from __future__ import annotations

import math
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import Array
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input
from superopt.ugraph.scalar import Kind
from superopt.verify.field.distances import shrunk
from superopt.verify.field.graphs import INTEGER_DRAWS
from superopt.verify.field.graphs import Comparison
from superopt.verify.field.graphs import tied_comparison
from superopt.verify.field.ties import FACT
from superopt.verify.field.trials import RANKS
from superopt.verify.field.trials import Trial
from superopt.verify.field.trials import past
from superopt.verify.field.trials import walked_axes
from superopt.verify.source.arithmetic import wrong_number
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import KernelText
from superopt.verify.source.load import misprinted
from superopt.verify.source.load import numbers
from superopt.verify.source.load import read_text
from superopt.verify.source.load import with_fixed
from superopt.verify.source.load import with_numbers
from superopt.verify.source.meaning import ROW
from superopt.verify.source.meaning import TextMeaning
from superopt.verify.source.reach import unreached
from superopt.verify.source.tiles import DTYPES
from superopt.verify.source.trials import ranks_of
from superopt.verify.source.trials import text_trials
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict

CLAIM = "text equals spec"
FULL_LISTS = ("remainder", "parts")  # trials in which lists are read with few ranks
OLD = 2  # of every four trials are on an older device
POLICIES = ("fp16", "fp32", "bf16")  # of the storage, one a trial in turn


def read_field(
    source: KernelText | Path | str,
    program: Program,
    graph: KernelGraph,
    index: int = 0,
    seed: int = 0,
    log2_limit: float = -60.0,
    function: str | None = None,
    descriptors: bool = False,
    minimise: bool = True,
) -> Verdict:
    """Whether the text of graph ``index`` of a kernel file has the outputs of ``program``.

    ``program`` and ``graph`` are in the file's names; the graph says only which axes are cut
    into tiles, not what is computed. ``function``: the launcher (default: the program's name).
    ``descriptors``: reads the functions that take tensor descriptors. ``minimise``: looks for
    smaller sizes at which a refuted text is refuted, too.

    ``Sampled`` if both agree at every trial; casts to storage dtypes are the identity here.
    ``Refuted`` with sizes and program where the text reads or writes what it must not, leaves an
    element unwritten, or differs. ``Unknown`` names what has no meaning here.
    """
    text = source if isinstance(source, KernelText) else read_text(source)
    if (wrong := misprinted(text)) is not None:
        return Refuted((), wrong)
    if (other := wrong_number(text)) is not None:
        return other
    draws = 1 if all(p.kind is Kind.REAL for p in program.params) else INTEGER_DRAWS
    first = TextMeaning(text, program, function or program.name, index, descriptors=descriptors)
    found: list[Sampled] = []
    facts = {"casts to storage dtypes are the identity": None}
    sizes: list[str] = []
    for number, (trial, meaning) in enumerate(_readings(first, graph)):
        for draw in range(draws):
            start = seed * 1000 + number * 10 + draw
            comparison = _drawn(program, meaning, trial, start, log2_limit, 0 < draw == draws - 1)
            if comparison.extreme:
                facts["whole numbers from memory also at the ends of their range"] = None
            verdict = read_at(comparison)
            if not isinstance(verdict, Sampled):
                return minimised(comparison, verdict) if minimise else verdict
            found.append(verdict)
        sizes.append(" ".join(f"{a}={n}" for a, n in trial.sizes))
    facts["at sizes " + "; ".join(sizes)] = None
    for others in (_near, _fewer, _tied):
        verdicts, said = others(first, graph, seed, log2_limit)
        for verdict in verdicts:
            if not isinstance(verdict, Sampled):
                return verdict
            found.append(verdict)
        facts |= dict.fromkeys(said)
    if (beyond := unreached(text, program, graph, index, first.function)) is not None:
        return Unknown(beyond)
    return _together(found, list(facts))


def _together(found: Sequence[Sampled], facts: Sequence[str]) -> Sampled:
    """All of several claims, each with its own bound."""
    all_facts = dict.fromkeys(fact for v in found for fact in v.facts)
    all_facts.update(dict.fromkeys(facts))
    worst = max((v.log2_bound for v in found), default=-math.inf)
    return Sampled(sum(v.points for v in found), worst, tuple(all_facts))


def _drawn(
    program: Program, meaning: TextMeaning, trial: Trial, seed: int, limit: float, extreme: bool
) -> Comparison:
    """A comparison; its integers are extreme only if the spec's outputs then fit their dtypes."""
    found = Comparison(program, meaning, trial, seed, limit, extreme=extreme)
    whole = [s for s in program.outputs if s.dtype in DTYPES and DTYPES[s.dtype].kind is Kind.INT]
    if not extreme or not whole:
        return found
    arrays: dict[str, Array] = dict(found.integers())
    for param in program.params:
        if param.kind is Kind.REAL:
            order = param.order if isinstance(param, Input) else ()
            arrays[param.name] = np.zeros(tuple(trial.size[a] for a in order))
    spec = evaluate_program(program, FloatDomain(), arrays, trial.size, [s.name for s in whole])
    for store in whole:
        value = np.asarray(spec[store.name], np.float64)
        end = 2.0 ** (DTYPES[store.dtype or ""].bits - 1)
        if (np.isfinite(value) & ((value < -end) | (value >= end))).any():
            return replace(found, extreme=False)
    return found


def _near(
    meaning: TextMeaning, graph: KernelGraph, seed: int, limit: float
) -> tuple[list[Verdict], list[str]]:
    """Comparisons with the distances in masks made small, and how; none if they are."""
    spec, _, small = shrunk(meaning.program, graph, numbers(meaning.text))
    if not small:
        return [], []
    fact = "distances in masks also read as "
    fact += ", ".join(f"{b} for {a}" for a, b in small.items() if a != b)
    reading = replace(meaning, text=with_numbers(meaning.text, small))
    first = past(spec, graph, max(small.values()))
    longer = tuple((a, n + (a in walked_axes(graph))) for a, n in first.sizes)
    found: list[Verdict] = []
    for trial in (first, replace(first, sizes=longer)):  # limits of walks are cut to tiles
        verdict = read_at(Comparison(spec, reading, trial, seed, limit))
        if isinstance(verdict, Refuted):  # at other numbers, which prove nothing for these
            verdict = Unknown(f"{fact}: {verdict.what}")
        found.append(verdict)
    return found, [fact]


def _fewer(
    meaning: TextMeaning, graph: KernelGraph, seed: int, limit: float
) -> tuple[list[Verdict], list[str]]:
    """Comparisons with lists so short that some candidate is left out, and how; none if they are.

    Candidates have to be few, for every order of them to come up.
    """
    spec = meaning.program
    ranks = {a: n for a, n in ranks_of(spec).items() if n > RANKS}
    if not ranks:
        return [], []
    fact = "lists also read with " + ", ".join(
        f"{RANKS} ranks for {n} of {a}" for a, n in ranks.items()
    )
    short = replace(spec, fixed=tuple((a, RANKS if a in ranks else n) for a, n in spec.fixed))
    text = with_fixed(meaning.text, meaning.function, dict.fromkeys(ranks, RANKS))
    reading = replace(meaning, text=text, program=short)
    found: list[Verdict] = []
    for trial in text_trials(short, graph, row=ROW if meaning.descriptors else 1):
        if trial.label not in FULL_LISTS:
            continue
        verdict = read_at(Comparison(short, reading, trial, seed, limit))
        if isinstance(verdict, Refuted):  # of another spec
            verdict = Unknown(f"{fact}: {verdict.what}")
        found.append(verdict)
    return found, [fact]


def _tied(
    meaning: TextMeaning, graph: KernelGraph, seed: int, limit: float
) -> tuple[list[Verdict], list[str]]:
    """The comparison in which compared data may be equal; none if there are none, or too many."""
    try:
        found = tied_comparison(meaning.program, meaning, graph, seed, limit)
    except FaultError as fault:
        return [Refuted(fault.at, fault.what)], []
    except OutsideVocabularyError as outside:
        return [Unknown(f"the field reading has no meaning for {outside}")], []
    return ([], []) if found is None else ([read_at(found)], [FACT])


def _readings(first: TextMeaning, graph: KernelGraph) -> Iterator[tuple[Trial, TextMeaning]]:
    """Every trial; storage dtype, who brings the outputs, how launches follow and whether the
    device knows of dependent launches take turns."""
    row = ROW if first.descriptors else 1
    for number, trial in enumerate(text_trials(first.program, graph, row=row)):
        dtype = POLICIES[number % len(POLICIES)]
        even = number % 2 == 0
        capable = number % 4 < OLD or first.described(trial)
        yield trial, replace(first, dtype=dtype, given=even, dependent=even, capable=capable)


def read_at(comparison: Comparison) -> Verdict:
    """The verdict at one choice of sizes; how a reading ends early is one, too."""
    trial = comparison.trial
    try:
        return comparison.verdict()
    except FaultError as fault:
        return Refuted((*fault.at, *((f"size {a}", str(n)) for a, n in trial.sizes)), fault.what)
    except OutsideVocabularyError as outside:
        return Unknown(f"the field reading has no meaning for {outside}")


def minimised(comparison: Comparison, verdict: Verdict) -> Verdict:
    """A refutation at the smallest sizes that are found by making one after the other smaller."""
    if not isinstance(verdict, Refuted):
        return verdict
    trial = comparison.trial
    for axis, size in trial.sizes:
        for less in dict.fromkeys((1, size // 2, size - 1)):
            if not 0 < less < size:
                continue
            sizes = tuple((a, less if a == axis else n) for a, n in trial.sizes)
            smaller = replace(comparison, trial=replace(trial, sizes=sizes))
            if isinstance(found := read_at(smaller), Refuted):
                trial, verdict = smaller.trial, found
                break
    return verdict
