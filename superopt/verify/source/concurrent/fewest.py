"""With how few slots a launcher lets roles be taken, and the reading with so few.

A plan of a caller may ask for fewer slots than those of the file do. With too few a role waits for
ever, so the launcher has a number for each kind of roles, below which it takes the plain function.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.verify.source.concurrent.read import Planned
from superopt.verify.source.concurrent.read import Reading
from superopt.verify.source.concurrent.read import counted
from superopt.verify.source.concurrent.read import planned
from superopt.verify.source.concurrent.read import read_concurrent
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import KernelText
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict

WHY = "_without_roles"  # the function of a launcher that decides it
Kind = tuple[int, str]
"""How many consumers, and the kind of the roles."""


def read_planned(
    text: KernelText,
    program: Program,
    graph: KernelGraph,
    plan: Planned,
    index: int = 0,
    seed: int = 0,
) -> Reading:
    """Reads the roles that ``plan`` asks for with its slots, and with as few as there may be."""
    configs, kinds = plan
    reading = read_concurrent(text, program, graph, configs, index, seed, kinds=kinds)
    if not isinstance(reading.verdict, Sampled):
        return reading
    try:
        few = with_fewest(text, index, plan)
    except OutsideVocabularyError as error:
        return replace(reading, verdict=Unknown(str(error)))
    if few == configs:
        return reading
    other = read_concurrent(text, program, graph, few, index, seed, kinds=kinds)
    verdict = _both(reading.verdict, other.verdict, counted(few, kinds))
    return Reading(verdict, other.engines, reading.explored | other.explored)


def with_fewest(text: KernelText, index: int, plan: Planned) -> tuple[Config, ...]:
    """The Configs of ``plan``, each with the fewest slots that the launcher lets through.

    Raises:
        OutsideVocabularyError: what it lets through is written otherwise than it is known, or no
            plan of the file asks for it.
    """
    configs, kinds = plan
    fewest = fewest_slots(text, index)
    asked = {
        (launch, config.consumers, kind)
        for some, their in planned(text, index)
        for launch, (config, kind) in enumerate(zip(some, their, strict=True))
    }
    for launch, slots in fewest.items():
        for consumers, kind in slots:
            if (launch, consumers, kind) not in asked:
                raise OutsideVocabularyError(
                    f"launcher: no plan of the file asks for {consumers} {kind or 'consumers'} "
                    f"in launch {launch}, which it lets through"
                )
    found = []
    for launch, (config, kind) in enumerate(zip(configs, kinds, strict=True)):
        least = fewest.get(launch, {}).get((config.consumers, kind), config.stages)
        found.append(replace(config, stages=least) if config.consumers else config)
    return tuple(found)


def fewest_slots(text: KernelText, index: int) -> dict[int, Mapping[Kind, int]]:
    """By launch of graph ``index``: the fewest slots that roles are taken with, by their kind.

    Raises:
        OutsideVocabularyError: they are written otherwise than it is known.
    """
    runner = text.functions.get(f"_run_g{index}")
    if runner is None:
        raise OutsideVocabularyError(f"launcher: graph {index} has no runner")
    found: dict[int, Mapping[Kind, int]] = {}
    launch = None
    for statement in runner.body:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id="launch")],
                value=ast.Subscript(slice=ast.Constant(value=int(number))),
            ):
                launch = number
            case ast.Assign(value=ast.Call(func=ast.Name(id=called), args=[_, _, _, slots, _])) if (
                called == WHY and launch is not None and launch not in found
            ):
                found[launch] = _read(slots)
    if sum(isinstance(n, ast.Name) and n.id == WHY for n in ast.walk(runner)) != len(found):
        raise OutsideVocabularyError(f"launcher: {WHY} is called in a way that is not known")
    return found


def _read(slots: ast.expr) -> Mapping[Kind, int]:
    """``{(2, "ring"): 3}``."""
    found: dict[Kind, int] = {}
    match slots:
        case ast.Dict(keys=keys, values=values):
            for pair in zip(keys, values, strict=True):
                match pair:
                    case (
                        ast.Tuple(
                            elts=[ast.Constant(value=int(count)), ast.Constant(value=str(kind))]
                        ),
                        ast.Constant(value=int(least)),
                    ) if (count, kind) not in found and least > 0:
                        found[count, kind] = least
                    case _:
                        raise OutsideVocabularyError(f"launcher: {ast.unparse(slots)}")
            return found
        case _:
            raise OutsideVocabularyError(f"launcher: {ast.unparse(slots)}")


def _both(one: Sampled, other: Verdict, said: str) -> Verdict:
    """What two readings say together; ``said``: of the other one."""
    match other:
        case Sampled():
            facts = tuple(dict.fromkeys((*one.facts, *other.facts)))
            bound = max(one.log2_bound, other.log2_bound)
            return Sampled(one.points + other.points, bound, facts)
        case Refuted():
            return replace(other, what=f"with {said}: {other.what}")
        case Unknown(why=why):
            return Unknown(f"with {said}: {why}")
        case _:
            return other
