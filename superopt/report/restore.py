"""A run as it was: from run.json back to the values that the stages made.

``record.write`` of what this reads gives the same file again. Repairs themselves are there for
candidates that hold; the others have readable lines only.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from superopt.case import case_from
from superopt.errors import SuperoptError
from superopt.errors import UserError
from superopt.repair.stored import repair_from
from superopt.report.directory import FILE
from superopt.run import Candidate
from superopt.run import CaseRun
from superopt.run import Counts
from superopt.run import Run
from superopt.run import Stage
from superopt.source import Facts
from superopt.tune.record import Figures
from superopt.tune.space import Point
from superopt.tune.timing import Timing
from superopt.tune.timing import timing_from
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.parse import parse_as
from superopt.ugraph.stored import config_from
from superopt.ugraph.stored import frozen
from superopt.ugraph.text import digest
from superopt.verify.readings import is_open
from superopt.verify.run.checks import Figure
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict
from superopt.verify.verdict import accepted

_VERDICTS: dict[str, Callable[..., Verdict]] = {
    v.__name__: v for v in (Proved, Sampled, Refuted, Unknown)
}


def run_from(record: Mapping[str, Any], directory: Path) -> Run:
    """The run that ``record``, the run.json of ``directory``, tells of.

    Raises:
        UserError: it is damaged, or its counts do not add up.
    """
    try:
        _check_head(record)
        found = _run(record, directory)
        for case in found.cases:
            _check(case)
    except UserError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, SuperoptError) as error:
        where = directory / FILE
        raise UserError(f"{where}: damaged: {type(error).__name__}: {error}") from error
    return found


def _check_head(record: Mapping[str, Any]) -> None:
    """Raises a ``ValueError`` if what is read of the record itself, beside the run, is of another
    kind."""
    head = {"spec": {}} | dict(record)  # of a run that was made without one
    for name, kind in (("seed", int), ("files", list), ("spec", dict)):
        if not isinstance(value := head[name], kind):
            raise ValueError(f"{name}: {value!r} is no {kind.__name__}")
    for file in record["files"]:
        _text(file)


def _check(result: CaseRun) -> None:
    """Raises a ``ValueError`` if what a case says of itself does not fit together."""
    label = f"case {result.case.name!r}"
    if not result.counts.adds_up or len(result.candidates) != result.counts.built:
        raise ValueError(f"{label}: the counts of its candidates do not add up")
    if result.winner is not None and not result.winner.holds:
        name, stage = result.winner.digest[:12], result.winner.stage.value
        raise ValueError(f"{label}: its winner, {name}, is {stage}")
    for candidate in result.candidates:
        name = f"{label}: candidate {candidate.digest[:12]}"
        axes = [a for block in candidate.graph.kernels for a, _ in block.places]
        if missing := [a for a in axes if a not in result.case.sizes]:
            raise ValueError(f"{name} has an axis {missing[0]!r}, the case has not")
        if digest(candidate.graph) != candidate.digest:
            raise ValueError(f"{name}: its graph is not the one that was judged")
        if candidate.holds and not all(accepted(c[1]) or is_open(c) for c in candidate.evidence):
            raise ValueError(f"{name} is {candidate.stage.value}, but a verdict says no")
        if candidate.stage is Stage.TIMED and candidate.timed is None:
            raise ValueError(f"{name} is timed, but has no time")


def _run(record: Mapping[str, Any], directory: Path) -> Run:
    seconds = record["timing"]["seconds"]
    timing = timing_from(record, str(directory / FILE))
    cases = [_case(c, record["timing"]) for c in record["cases"]]
    return Run(
        name=_text(record["name"]),
        target=_text(record["target"]),
        seed=record["seed"],
        budget=_text(record["budget"]),
        cases=tuple(_with_times(c, timing.of(c.case.name)) for c in cases),
        directory=directory,
        kernel=directory / record["kernel"] if record["kernel"] else None,
        interrupted=record["interrupted"],
        seconds=tuple((name, float(value)) for name, value in seconds.items()),
        timing=timing,
        substitutes=tuple(_text(s) for s in record.get("substitutes", ())),
    )


def _case(record: Mapping[str, Any], timing: Mapping[str, Any]) -> CaseRun:
    candidates = tuple(_candidate(c) for c in record["candidates"])
    winner = None
    if record["winner"] is not None:
        winner = {c.digest: c for c in candidates}[record["winner"]["digest"]]
    name = record["name"]
    return CaseRun(
        case_from({"scalars": {}, "integers": {}, **record}),
        _counts(record["counts"]),
        candidates,
        winner,
        tuple((stage, float(value)) for stage, value in timing["cases"][name].items()),
        timing.get("untimed", {}).get(name, ""),
    )


def _with_times(result: CaseRun, timing: Timing) -> CaseRun:
    """``result`` with the measured times of its timed candidates."""
    last = {(m.digest, m.configs): m for m in timing.last}
    found = []
    for candidate in result.candidates:
        one = last.get((candidate.digest, candidate.configs))
        if candidate.stage is Stage.TIMED and one and one.us and one.low and one.high:
            found.append(
                replace(
                    candidate,
                    timed=Figures(one.us, one.low, one.high, one.rounds),
                    device_error=one.error,
                    won=candidate is result.winner,
                )
            )
        else:
            found.append(candidate)
    winner = next((c for c in found if result.winner and c.digest == result.winner.digest), None)
    return replace(result, candidates=tuple(found), winner=winner)


def _counts(record: Mapping[str, Any]) -> Counts:
    return Counts(
        record["seen"],
        record["built"],
        record["duplicates"],
        tuple(record["rejected"].items()),
        tuple(record["pruned"].items()),
        record["complete"],
    )


def _candidate(record: Mapping[str, Any]) -> Candidate:
    return Candidate(
        digest=_text(record["digest"]),
        graph=parse_as(KernelGraph, record["graph"]),
        configs=tuple(config_from(c) for c in record["configs"]),
        model_us=float(record["model_us"]),
        share=float(record["share_of_roofline"]),
        stage=Stage(record["stage"]),
        why=_text(record["reason"]),
        derivation=_texts(record["derivation"]),
        repairs=_texts(record["repairs"]),
        evidence=tuple(
            (_text(claim), _verdict(word, rest)) for claim, word, rest in record["verdicts"]
        ),
        facts=tuple(Facts(**f) for f in record["compiled"]),
        figures=tuple(_figure(f) for f in record["floats"]),
        skipped=_texts(record["not_executed"]),
        records=tuple(repair_from(r) for r in record.get("repair_records", ())),
        space=tuple(
            Point(tuple(parse_as(Config, text) for text in texts), float(us))
            for us, *texts in record.get("space", ())
        ),
        text=_text(record.get("text", "")),
    )


def _verdict(word: str, fields: Mapping[str, Any]) -> Verdict:
    values = {k: frozen(v) for k, v in fields.items()}
    if "log2_bound" in values:
        values["log2_bound"] = float(values["log2_bound"])
    return _VERDICTS[word](**values)


def _figure(record: Mapping[str, Any]) -> Figure:
    floats = {n: float(record[n]) for n in ("rel", "worst", "rel_limit", "worst_limit")}
    sizes = tuple((axis, size) for axis, size in record["sizes"])
    return Figure(**{**record, **floats, "sizes": sizes})


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _texts(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(map(_text, values))
