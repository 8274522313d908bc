"""What the readings say of the text of the best structures of every shipped spec, and their time.

``python -m tests.verify.all_readings [NAME...] [--structures N] [--budget N] [--json FILE]``
searches every case of every spec function (or of those named, as ``FUNCTION`` or
``FUNCTION/CASE``), prints a file of each of the best structures with plans for all architectures,
and reads it as ``superopt search`` and ``superopt verify`` do. One line each: the CPU seconds of
each reading, and whether all is proved; below it each claim that is not.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import asdict
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time
from typing import TypeVar

from superopt.assemble import ARCHITECTURES
from superopt.case import Case
from superopt.device import target
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.errors import DoesNotFit
from superopt.examine import row_of
from superopt.loading import load
from superopt.pipeline import FORMS
from superopt.rewrite.forms import forms
from superopt.rewrite.lowering import lowered
from superopt.search.configs import ladders
from superopt.search.outcome import Built
from superopt.search.space import Search
from superopt.search.structure import structures
from superopt.spec import Spec
from superopt.ugraph.described import described
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.names import canonical
from superopt.ugraph.split import launches
from superopt.verify.readings import DESCRIBED
from superopt.verify.readings import ROLES
from superopt.verify.source.concurrent.fewest import read_planned
from superopt.verify.source.concurrent.read import counted
from superopt.verify.source.concurrent.read import planned
from superopt.verify.source.field import CLAIM
from superopt.verify.source.field import read_field
from superopt.verify.source.load import read_text
from superopt.verify.source.order import Seen
from superopt.verify.source.order import read_order
from superopt.verify.source.symbolic.read import read_symbolic
from superopt.verify.verdict import Verdict
from superopt.verify.verdict import accepted
from superopt.verify.verdict import spoken

SPECS = Path(__file__).parents[2] / "specs"
DEVICE = "h200"
WIDTH = 200  # of what is said of an open claim
T = TypeVar("T")
Printed = tuple[Program, KernelGraph, str]
"""What a file computes (equal to the spec, as a search takes it), its graph, its text."""


@dataclass(frozen=True)
class Line:
    """The readings of one structure: CPU seconds of each, and what has not its evidence."""

    name: str
    structure: int
    field: float
    twin: float
    order: float
    roles: float
    memory: float
    wanting: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """Of all readings."""
        return self.field + self.twin + self.order + self.roles + self.memory

    def __str__(self) -> str:
        said = "proved" if not self.wanting else "OPEN"
        times = (
            f"{self.field:6.2f}{self.twin:7.2f}{self.order:7.2f}{self.roles:7.2f}{self.memory:7.2f}"
        )
        return f"{f'{self.name} #{self.structure}':<48}{times}{self.seconds:8.2f}  {said}"


def lines(names: tuple[str, ...] = (), most: int = 2, budget: int = 400) -> Iterator[Line]:
    """The readings of the ``most`` best structures of every case; ``names``: of these alone."""
    for file in sorted(SPECS.glob("*.py")):
        for spec in load(str(file)):
            for case in spec.cases:
                name = f"{spec.name}/{case.name}"
                if names and name not in names and spec.name not in names:
                    continue
                for number, text in enumerate(texts(spec, case, most, budget)):
                    yield read(name, number, *text)


def texts(spec: Spec, case: Case, most: int, budget: int) -> Iterator[Printed]:
    """Files of the best structures of a case by the model, with plans for all architectures."""
    program, names = canonical(spec.program)
    meant = names.back(program)
    bound = spec.case(case.name)
    sizes = {a: bound.sizes[user] for a, user in names.axes.items()}
    made = [lowered(f) for f in forms(program, FORMS, sizes=sizes)]
    found = Search(made, sizes, bound.storage, target(DEVICE), budget, bound.tf32)
    built = sorted((o for o in found if isinstance(o, Built)), key=lambda b: b.estimate.us)
    for group in structures(built, sizes)[:most]:
        best = built[group[0]]
        graph = names.back(best.graph)
        configs = tuple(names.back(c) for c in best.configs)
        rows = [row_of(bound, 0, configs, target(DEVICE).arch), *_others(graph, bound)]
        yield meant, graph, emit(meant, [graph], rows, Header(), True)


def _others(graph: KernelGraph, case: Case) -> Iterator[Row]:
    """Rows for the other architectures."""
    for arch in ARCHITECTURES:
        device = target(arch)
        if arch == target(DEVICE).arch:
            continue
        try:
            found = ladders(graph, case.sizes, case.storage, device, case.tf32)
        except DoesNotFit:
            continue
        yield row_of(case, 0, tuple(c for ladder in found for c in ladder[0]), arch)


def read(name: str, number: int, program: Program, graph: KernelGraph, source: str) -> Line:
    """All readings of one file."""
    text = read_text(source, program.name)
    wanting: list[str] = []

    def judged(claim: str, verdict: Verdict | Seen) -> None:
        if not isinstance(verdict, Seen) and not accepted(verdict):
            wanting.append(f"{claim}: {spoken(verdict)}")

    verdict, field = timed(lambda: read_field(text, program, graph))
    judged(CLAIM, verdict)
    twin = 0.0
    if any(described(block) for block in launches(graph)):
        verdict, twin = timed(lambda: read_field(text, program, graph, descriptors=True))
        judged(DESCRIBED, verdict)
    seen, order = timed(lambda: read_order(text, program, graph))
    judged("order", seen)
    roles = 0.0
    for configs, kinds in planned(text, 0):
        reading, spent = timed(partial(read_planned, text, program, graph, (configs, kinds)))
        roles += spent
        judged(f"{ROLES}, with {counted(configs, kinds)}", reading.verdict)
    memory, spent = timed(lambda: read_symbolic(source, program.name))
    for claim, said in memory.claims:
        judged(claim, said)
    return Line(name, number, field, twin, order, roles, spent, tuple(wanting))


def timed(run: Callable[[], T]) -> tuple[T, float]:
    """What ``run`` returns, and the CPU seconds that it took."""
    start = process_time()
    found = run()
    return found, round(process_time() - start, 3)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--structures", type=int, default=2)
    parser.add_argument("--budget", type=int, default=400)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print(
        f"{'CPU seconds':<48}{'field':>6}{'twin':>7}{'order':>7}{'roles':>7}{'memory':>7}{'all':>8}"
    )
    found = []
    for line in lines(tuple(options.names), options.structures, options.budget):
        found.append(line)
        print(line, *(f"    {w[:WIDTH]}" for w in line.wanting), sep="\n", flush=True)
        if options.json:
            options.json.write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n")
    wanting = sum(bool(one.wanting) for one in found)
    print(f"{len(found)} files, {wanting} with an open claim")
    return 1 if wanting or not found else 0


if __name__ == "__main__":
    sys.exit(main())
