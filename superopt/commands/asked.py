"""What ``superopt search`` is asked for: read, and checked, before anything heavy is imported."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from superopt.budget import Budget
from superopt.case import Case
from superopt.device import check_target
from superopt.errors import UserError
from superopt.loading import load
from superopt.report.directory import check_directory
from superopt.report.directory import check_parent
from superopt.spec import Spec

DEFAULT_OUT = Path("runs")


@dataclass(frozen=True)
class Asked:
    """``chosen``: the functions, each with the cases that are searched; ``directories``: where the
    run of each goes."""

    chosen: list[tuple[Spec, tuple[Case, ...]]]
    directories: list[Path]
    budget: Budget


def asked_for(
    target_file: str, cases: tuple[str, ...], target: str, budget: str, out: Path | None
) -> Asked:
    """What the arguments of these names mean.

    Raises:
        UserError: one of them is wrong.
    """
    check_target(target)
    limits = parse_budget(budget)
    chosen = select(target_file, load(target_file), cases)
    return Asked(chosen, directories_of([s for s, _ in chosen], out), limits)


def parse_budget(text: str) -> Budget:
    """``400`` candidates, or ``5m``, ``30s``, ``1h`` of time.

    Raises:
        UserError: neither.
    """
    found = re.fullmatch(r"([0-9]{1,12})([smh]?)", text.strip())
    if not found or int(found[1]) == 0:
        raise UserError(f"--budget {text!r}: a number of candidates (400), or a time (30s, 5m, 1h)")
    number = int(found[1])
    if not found[2]:
        return Budget(candidates=number, text=text)
    return Budget(seconds=number * {"s": 1, "m": 60, "h": 3600}[found[2]], text=text)


def select(
    target_file: str, specs: Sequence[Spec], names: tuple[str, ...]
) -> list[tuple[Spec, tuple[Case, ...]]]:
    """The specs, each with its cases of one of ``names`` (all if there are none).

    Raises:
        UserError: no spec has a case of such a name, or two specs share a name.
    """
    for name in names:
        if not any(name == c.name for s in specs for c in s.cases):
            have = ", ".join(dict.fromkeys(c.name for s in specs for c in s.cases))
            raise UserError(f"{target_file}: no case named {name!r}; it has {have}")
    for spec in specs:
        last = max((s for s in specs if s.name == spec.name), key=lambda s: s.line)
        if last is not spec:
            raise UserError(f"two specs are named {spec.name!r}", last.where)
    chosen = [(s, tuple(c for c in s.cases if not names or c.name in names)) for s in specs]
    return [(s, c) for s, c in chosen if c]


def directories_of(specs: Sequence[Spec], out: Path | None) -> list[Path]:
    """Where each function's run goes: ``out`` itself if only one is searched, else below it.

    Raises:
        UserError: one of them cannot take a run.
    """
    if out is not None and len(specs) == 1:
        check_directory(out)
        return [out]
    if out is not None:
        check_parent(out)
    found = [(out or DEFAULT_OUT) / s.name for s in specs]
    for directory in found:
        check_directory(directory)
    return found
