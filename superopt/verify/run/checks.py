"""Float checks of a printed kernel: which calls are made, and how near each output must be.

Every graph of the file is run on all input families at small sizes in each dtype; on the ordinary
family at edge sizes, on strided tensors, and with its tuned Configs. Outputs and workspaces
start as NaN, memory around tensors is watched, and one call is repeated and compared bit for bit.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.verify.run.calls import Call
from superopt.verify.run.calls import Configs
from superopt.verify.run.calls import Plan
from superopt.verify.run.execute import Runner
from superopt.verify.run.tolerance import compare
from superopt.verify.run.tolerance import expected_of
from superopt.verify.run.trial import RunResult

INTERPRETED_DTYPES = ("fp32", "fp16")  # tl.dot on bf16 is wrong in Triton's interpreter


@dataclass(frozen=True)
class Figure:
    """One output of one call: measures, their limits, and what is wrong (if anything)."""

    label: str
    dtype: str
    graph: int
    sizes: tuple[tuple[str, int], ...]
    output: str
    rel: float
    worst: float
    rel_limit: float
    worst_limit: float
    ok: bool
    message: str = ""

    @property
    def used(self) -> float:
        """The share of the tolerance that is used up."""
        return (
            max(self.rel / self.rel_limit, self.worst / self.worst_limit) if self.rel_limit else 0.0
        )

    def __str__(self) -> str:
        sizes = " ".join(f"{a}={n}" for a, n in self.sizes)
        text = f"{self.dtype} {self.label} ({sizes}): output {self.output!r}: "
        return text + (self.message or f"rel {self.rel:.1e}, worst {self.worst:.1e}: within limits")


@dataclass(frozen=True)
class FloatReport:
    """All figures of a printed kernel. ``skipped``: what was not run, and why."""

    figures: tuple[Figure, ...]
    skipped: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether something was run and all of it is within the limits."""
        return bool(self.figures) and all(f.ok for f in self.figures)

    @property
    def failures(self) -> tuple[Figure, ...]:
        """The figures that are not within their limits."""
        return tuple(f for f in self.figures if not f.ok)

    def worst(self, dtype: str) -> Figure | None:
        """The figure of ``dtype`` that used up most of its tolerance."""
        found = [f for f in self.figures if f.dtype == dtype]
        return max(found, key=lambda f: f.used, default=None)


def check_floats(
    kernel_file: Path,
    function: str,
    program: Program,
    graphs: Sequence[KernelGraph],
    *,
    seed: int = 0,
    runner: Runner | None = None,
    dtypes: Sequence[str] = INTERPRETED_DTYPES,
    tuned: Sequence[tuple[int, Configs]] = (),
    scalars: Mapping[str, float] | None = None,
    tf32: bool = False,
    described: Collection[int] = (),
    stop_early: bool = False,
) -> FloatReport:
    """Runs ``function`` of ``kernel_file`` and compares it with the float64 meaning of ``program``.

    ``graphs`` are those of the file, in its order, with the file's names. ``tuned``: (index of a
    graph, its Configs) to be run, too. ``described``: the graphs whose
    functions with tensor descriptors are in the file. ``stop_early``: no more calls after the
    first failure.
    """
    plan = Plan(program, graphs, seed, dtypes, scalars, described)
    own = runner or Runner()
    figures: list[Figure] = []
    try:
        for call in plan.calls(tuned):
            result = own.run(kernel_file, function, call.trial)
            figures += judged(program, call, result, tf32)
            if stop_early and not all(f.ok for f in figures):
                break
    finally:
        if runner is None:
            own.close()
    return FloatReport(tuple(figures), tuple(plan.skipped))


def judged(program: Program, call: Call, result: RunResult, tf32: bool = False) -> list[Figure]:
    """The figures of one call, one an output; a call that did not end in order has one."""
    trial = call.trial
    sizes = dict(trial.sizes)
    if not result.ran:
        names = ", ".join(r.name for r in trial.results)
        inf = float("inf")
        return [
            Figure(
                trial.label,
                call.dtype,
                trial.graph,
                trial.sizes,
                names,
                inf,
                inf,
                0,
                0,
                False,
                result.message,
            )
        ]
    figures = []
    for name, expected in expected_of(program, call.family, sizes, call.dtype, tf32).items():
        c = compare(result.outputs[name], expected)
        figures.append(
            Figure(
                trial.label,
                call.dtype,
                trial.graph,
                trial.sizes,
                name,
                c.rel,
                c.worst,
                c.limit.rel,
                c.limit.worst,
                c.ok,
                c.message,
            )
        )
    return figures
