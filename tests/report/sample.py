"""A small run with measured times, made by hand: two cases, three structures, one failure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from superopt.case import Case
from superopt.certificate import Certificate
from superopt.certificate import write_certificate
from superopt.emit.module import MARKER
from superopt.report.record import write
from superopt.run import Candidate
from superopt.run import CaseRun
from superopt.run import Counts
from superopt.run import Run
from superopt.run import Stage
from superopt.tune.timing import MeasuredTime
from superopt.tune.timing import PeerTime
from superopt.tune.timing import Timing
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.parse import parse_as
from superopt.ugraph.text import digest
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict
from tests.tune.records import MACHINE

PROGRAM = parse_as(
    Program,
    """program product
param x[m k]
param y[k n]
output out[m n] = add[k](mul(x[m k], y[k n]))
""",
)
GRAPH = """kernels product
param x[m k]
param y[k n]
output out
kernel 0
  place m Grid
  place k {walk}
  place n Grid
  order {order}
  walk k
    carry sum0 over m n by add of mul(x[m k], y[k n])
  store out[m n] = new(sum0[m n])
"""
GRAPHS = tuple(
    parse_as(KernelGraph, GRAPH.format(walk=walk, order=order))
    for walk, order in (("Loop", "n m"), ("Loop", "m n"), ("Split", "m n"))
)
HEAD = {"spec": {"file": "product.py"}, "versions": {"superopt": "0.1.0"}}
COUNTS = Counts(9, 3, 1, (("repair: no rank | found <b>", 3),), (("roofline", 2),))
SIZES = {"m": 4096, "k": 4096, "n": 4096}
KERNEL = "product.py"


def configs(tile: int) -> tuple[Config, ...]:
    return (Config((("m", tile), ("k", 64), ("n", 128)), 1, 8, 3),)


def candidate(number: int, stage: Stage, tile: int, model_us: float) -> Candidate:
    """``GRAPHS[number]``; the roofline allows 200 us."""
    return Candidate(
        digest(GRAPHS[number]),
        GRAPHS[number],
        configs(tile),
        model_us,
        200.0 / model_us,
        stage,
        why="",
        derivation=("commute a product",),
        evidence=(("graph equals spec", Sampled(3, -90.0)), ("ranges", Proved("z3"))),
    )


def case_run(name: str, timed: bool) -> CaseRun:
    stage = Stage.TIMED if timed else Stage.VERIFIED
    found = (
        candidate(0, stage, 128, 220.0),
        candidate(1, stage, 64, 240.0),
        candidate(2, Stage.RANKED, 32, 300.0),
    )
    case = Case(name, dtype="bf16", **SIZES)
    return CaseRun(case, COUNTS, found, found[0], (("total", 1.5),))


def measured(order: int, number: int, tile: int, us: float | None, model_us: float) -> MeasuredTime:
    return MeasuredTime(
        case="large",
        digest=digest(GRAPHS[number]),
        configs=configs(tile),
        status="failed" if us is None else "timed",
        stage="floats" if us is None else "",
        why="output 'out': rel 1 | 0" if us is None else "",
        us=us,
        low=None if us is None else us - 1,
        high=None if us is None else us + 2,
        rounds=0 if us is None else 7,
        error=(float("inf"), 4e-3) if us is None else (1e-3, 4e-3),
        model_us=model_us,
        order=order,
        seconds=1.5 * order,
    )


MEASURED = (
    measured(0, 0, 64, 290.0, 230.0),
    measured(1, 0, 32, None, 260.0),
    measured(2, 1, 64, 262.0, 240.0),
    measured(3, 0, 128, 251.0, 220.0),
    measured(4, 1, 128, 301.0, 262.0),
    measured(5, 0, 128, 250.0, 220.0),  # once more
)
PEERS = (
    PeerTime("large", "graph", "eager", 240.0, 239.0, 241.0, 0.96, 0.95, 0.97),
    PeerTime("large", "graph", "copy", 90.0, 89.0, 91.0, 0.36, 0.35, 0.37, yardstick=True),
    PeerTime("large", "graph", "compile", 300.0, 299.0, 302.0, 1.2, 1.19, 1.21),
    PeerTime("large", "graph", "broken", None, None, None, None, None, None, "raised | an error"),
)
TIMING = Timing(MACHINE, MEASURED, PEERS)


def sample(directory: Path, timed: bool = True) -> Run:
    """The run, without any file; its second case was not timed."""
    return Run(
        name="product",
        target="h200",
        seed=0,
        budget="9",
        cases=(case_run("large", timed), case_run("later", False)),
        directory=directory,
        kernel=directory / KERNEL,
        timing=TIMING if timed else Timing(),
    )


def judged(directory: Path) -> Run:
    """The run without times, with verdicts of every strength: its first winner has more of them
    than the other candidates, which share one."""
    run = sample(directory, timed=False)
    more: tuple[tuple[str, Verdict], ...] = (
        ("graph equals spec", Sampled(3, -90.0, ("at sizes m=2",))),
        ("ranges", Proved("z3", ("0 < size(k)",))),
        (f"{run.name}_g0_k0: loads of x in bounds", Proved("z3/integers", ("0 < size(k)",))),
        (f"{run.name}_g0_k0: stores apart", Unknown("z3 gave up")),
        ("text equals spec", Sampled(5, -70.0)),
    )
    winner = digest(GRAPHS[0])
    cases = []
    for case in run.cases:
        found = tuple(
            replace(c, evidence=more) if c.digest == winner else c for c in case.candidates
        )
        cases.append(replace(case, candidates=found, winner=found[0]))
    return replace(run, cases=tuple(cases))


def written(directory: Path, timed: bool = True) -> Path:
    """``directory`` with the files of the run."""
    directory.mkdir(parents=True, exist_ok=True)
    run = sample(directory, timed)
    assert run.kernel
    run.kernel.write_text(f"{MARKER}\n")
    claims = Certificate(PROGRAM, GRAPHS[:1], ((),), (), (), {}, 0, derivations=((),))
    write_certificate(run.kernel, claims)
    write(run, HEAD, sorted(p.name for p in directory.iterdir()))
    return directory
